"""Cell magics: the `%%` lines that open a cell, and whether what follows them is Python."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nbddp.notebook.marks import MODES
from nbddp.notebook.model import Escape
from nbddp.notebook.translations import RUN_BODY, RUN_STATEMENT, without_options

_CELL_MAGIC = re.compile(r"%%(\S+)[ \t]*(.*)")


@dataclass(frozen=True)
class Opening:
    """A cell behind its cell magics."""

    text: str  # each `%%` line now blank, or the statement that it holds
    escapes: tuple[Escape, ...] = ()
    mode: str | None = None
    magic_line: str = ""
    is_python: bool = True


def open_cell(text: str) -> Opening:
    """Take the cell magics off the cell's first lines.

    A magic that is not known to run its body as Python makes the whole cell no Python: what it defines is then missed
    with a word, where a wrong guess would run what never ran. Comments may stand before a cell magic; IPython wants
    none there, but a `#| ddp:` directive has to stand somewhere.
    """
    lines = text.split("\n")
    escapes: list[Escape] = []
    mode, magic_line, is_python = None, "", True
    for index, line in enumerate(lines):
        match = _CELL_MAGIC.fullmatch(line.rstrip())
        if match and not match[1].endswith("?") and is_python:
            escapes.append(_record(match, index + 1))
            lines[index] = _first_statement(match)
            if match[1] in MODES and mode is None:
                mode, magic_line = MODES[match[1]], match[2].strip()
            is_python = match[1] in RUN_BODY or match[1] in MODES
        elif line.strip() and not line.lstrip().startswith("#"):
            break
    return Opening("\n".join(lines), tuple(escapes), mode, magic_line, is_python)


def _record(match: re.Match[str], line: int) -> Escape:
    words = [word for word in match[2].split() if not word.startswith("-")]
    target = words[0] if match[1] == "capture" and words else None
    return Escape(line, "cell magic", match[1], match[0][2:], target)


def _first_statement(match: re.Match[str]) -> str:
    """`%%timeit x = f()` runs that statement before the body."""
    return without_options(match[1], match[2]) if match[1] in RUN_STATEMENT and match[1] != "time" else ""
