"""Comments of imports go along with them."""

from __future__ import annotations

import ast

import pytest

from nbddp.script.import_comments import Comments, comments_of, taken_apart
from nbddp.script.regions import regions
from tests.analysis.cells import BEFORE, TRAINING, plan


def of(cell: str) -> Comments:
    made = plan(*BEFORE, cell, TRAINING)
    (statement,) = [s for s in made.program.statements if s.cell.number == len(BEFORE) + 1]
    return comments_of(made.program, [statement], regions(made))[statement.index]


@pytest.mark.parametrize(
    ("cell", "above", "behind"),
    [
        ("# one\n# two\nimport os", ["# one", "# two"], []),
        ("import os  # why", [], ["# why"]),
        ("from os import (  # a\n    path,  # b\n)", [], ["# a", "# b"]),
        ("#| ddp: setup\nimport os", [], []),
        ("import os", [], []),
        ("import os\n# below", ["# below"], []),
    ],
)
def test_comments(cell, above, behind):
    assert of(cell) == Comments(above, behind)


@pytest.mark.parametrize("comments", [Comments(), Comments(["# a"], ["# b"]), Comments([], ["# é"])])
def test_put_together_and_taken_apart(comments):
    node, found = taken_apart(comments.around("import os"))
    assert ast.unparse(node) == "import os"
    assert found == comments
