"""Which stretches of a script no cell has written."""

from __future__ import annotations

from nbddp.export import export
from nbddp.notebook import notebook_from_json
from nbddp.script.sections import sections
from tests.server.notebooks import notebook

SCRIPT = """\
\"\"\"What it is.\"\"\"

import os

import torch

os.environ["A"] = "1"
import late

lr = 1

# ── needed early ───
def early():
    pass


# ── cell 2 ───
def train():
    # ── cell 3 ───
    x = 1

    return x


# ── needed ───
@decorated
def one():
    pass

def two():
    pass

if __name__ == "__main__":
    one()
"""


def test_header_imports_and_headings():
    lines = SCRIPT.split("\n")
    own = {text for text in lines if "os.environ" in text or text in {"lr = 1", "    x = 1"}}
    found = sections(SCRIPT, [(1, 1) if text in own else None for text in lines])
    assert [(one.kind, one.title, lines[one.first - 1], lines[one.last - 1]) for one in found] == [
        ("header", "", '"""What it is."""', '"""What it is."""'),
        ("imports", "", "import os", "import torch"),
        ("imports", "", "import late", "import late"),
        ("helpers", "needed early", "# ── needed early ───", "    pass"),
        ("helpers", "needed", "# ── needed ───", "    one()"),
    ]


def test_every_line_of_a_cell_is_outside_and_all_else_but_train_inside():
    script = export(notebook_from_json(notebook(), "x.ipynb"))
    lines = script.text.split("\n")
    inside = {line for one in sections(script.text, script.line_map) for line in range(one.first, one.last + 1)}
    assert not [at for at, place in enumerate(script.line_map, start=1) if place and at in inside]
    train = next(at for at, text in enumerate(lines, start=1) if text.startswith("def train("))
    assert train not in inside
    tops = [at for at, text in enumerate(lines, start=1) if text.startswith(("def ", "class ", "import ", "from "))]
    assert {train} == set(tops) - inside
