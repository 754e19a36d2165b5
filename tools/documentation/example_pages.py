"""The examples as pages: the notebooks, of which the quickstart is run, and beside each its script."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from tools.documentation.markdown import block, page

HIDDEN = "---\norphan: true\nnosearch: true\n---\n\n"  # the menu has the notebook, which leads here
EXAMPLES = Path(__file__).parents[2] / "examples"


def names() -> list[str]:
    """The first is where one begins."""
    found = sorted(path.stem for path in EXAMPLES.glob("*.ipynb"))
    return sorted(found, key=lambda name: name != "quickstart")


def pages() -> Iterator[tuple[str, str]]:
    for name in names():
        script = (EXAMPLES / f"{name}_ddp.py").read_text(encoding="utf-8")
        about = f"What `nbddp export {name}.ipynb` writes of [the notebook]({name}.ipynb)."
        yield f"examples/{name}_ddp", HIDDEN + page(f"{name}\\_ddp.py", about, block(script, "python"))


def notebooks() -> Iterator[tuple[str, str]]:
    """With a last cell that leads to the script."""
    for name in names():
        notebook = json.loads((EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8"))
        text = f"[The script]({name}_ddp.md) that nbddp writes of this notebook."
        first, *rest = notebook["cells"]
        link = {"cell_type": "markdown", "id": "the-script", "metadata": {}, "source": text}
        yield f"examples/{name}.ipynb", json.dumps({**notebook, "cells": [first, link, *rest]}, indent=1)
