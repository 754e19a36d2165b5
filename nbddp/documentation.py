"""Where the site says more: the address of a diagnostic's page, by its name."""

from __future__ import annotations

import os
from pathlib import Path

BASE = "https://nbddp.readthedocs.io/en/latest/"


def page_of(name: str) -> str:
    """Of a build that $NBDDP_DOCS names, a folder or an address, else of the site."""
    base = os.environ.get("NBDDP_DOCS") or BASE
    if "://" not in base:
        base = Path(base).expanduser().absolute().as_uri()
    return f"{base.rstrip('/')}/messages/{name}.html"
