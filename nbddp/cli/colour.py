"""Colour for people who look at a terminal; plain text for everything else that reads the output."""

from __future__ import annotations

import os
from typing import TextIO

STYLES = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36", "bold": "1", "dim": "2"}


def coloured(stream: TextIO) -> bool:
    """As https://no-color.org asks; FORCE_COLOR is for those who page coloured output."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def paint(text: str, style: str, on: bool) -> str:
    """Styles may be joined by blanks: "bold red"."""
    if not on or not text:
        return text
    codes = ";".join(STYLES[name] for name in style.split())
    return f"\x1b[{codes}m{text}\x1b[0m"
