"""Magics that a percent file holds as comments, so that it stays valid Python.

jupytext writes `# %matplotlib inline` and `# !pip`, VS Code also `#!%matplotlib inline`.
"""

from __future__ import annotations

import ast
import re

from nbddp.notebook.lexing import comment_lines
from nbddp.notebook.magicnames import KNOWN_MAGIC

_COMMENTED = re.compile(
    r"""(?:\#!(?=[%!]) | (?:\#[ ]|\#)+) (?:
        %{1,3}(?P<magic>[a-zA-Z]\w*)
      | [!?]\s?[A-Za-z.~$\\/{}]
      | [A-Za-z_]\w*\s*=\s*(?:%(?P<value>[a-zA-Z]\w*)|!\w)
    )""",
    re.VERBOSE,
)
_CELL_CALL = re.compile(r"\s*get_ipython\(\)\.run_cell_magic\(([^\n]*)\)\s*")


def uncomment_magics(text: str, jupytext: bool) -> str:
    """The cell as it stands in the notebook: one `# ` taken off each commented magic and the lines that continue it."""
    lines = text.split("\n")
    done = 0  # lines before this one are as they shall be
    for index, comment in comment_lines(text):
        match = _COMMENTED.match(comment)
        name = match and (match["magic"] or match["value"])
        # Only jupytext comments out every magic; in another tool's file `# %d items` is a remark.
        if match and index >= done and (jupytext or not name or re.fullmatch(KNOWN_MAGIC, name)):
            done = _uncomment_from(lines, index)
    return "\n".join(lines)


def uncomment(line: str) -> str:
    return re.sub(r"^# ?", "", line, count=1)


def cell_magic_restored(text: str) -> str:
    """nbconvert writes a cell under `%%time` as one call with the body in a string: that is the cell again."""
    call = _CELL_CALL.fullmatch(text)
    try:
        name, line, body = ast.literal_eval(f"({call[1]},)") if call else ("", "", None)
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        return text
    return f"%%{name} {line}".rstrip() + f"\n{body}" if isinstance(body, str) else text


def _uncomment_from(lines: list[str], index: int) -> int:
    """Uncomment a magic and what backslashes join to it; the index of the line behind."""
    continued = True
    while continued and index < len(lines):
        continued = lines[index].rstrip().endswith("\\")
        lines[index] = re.sub(r"^(\s*)#(?: |!(?=[%!])|)", r"\1", lines[index], count=1)
        index += 1
    return index
