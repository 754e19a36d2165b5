"""Notebooks that cannot be exported: one clear diagnostic, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nbddp
from tests.e2e.expectation import header, refused


@pytest.mark.parametrize("notebook", refused(), ids=lambda path: path.stem)
def test_a_notebook_that_cannot_be_exported_is_refused_by_name(notebook: Path) -> None:
    with pytest.raises(nbddp.CannotExport) as caught:
        nbddp.export(notebook)
    errors = [diagnostic for diagnostic in caught.value.diagnostics if diagnostic.level == "error"]
    said = "\n".join(f"{d.rule}: {d.message} {d.help} {d.why}" for d in errors)
    assert re.search(header(notebook)["refused"], said, re.IGNORECASE), said
