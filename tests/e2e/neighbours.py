"""What lies beside a notebook: modules that it imports, files that it reads; in `name/` for `name.py`."""

from __future__ import annotations

import shutil
from pathlib import Path


def lay_out(notebook: Path | None, folder: Path) -> bool:
    """Make the folder of a run; true where something of the notebook's lies in it."""
    source = notebook.with_suffix("") if notebook else None
    if source is None or not source.is_dir():
        folder.mkdir()
        return False
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return True
