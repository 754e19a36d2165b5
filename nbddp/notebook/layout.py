"""What IPython takes off a cell before it looks for magics: a byte order mark, a common indent, prompts."""

from __future__ import annotations

import re
import textwrap

_FIRST_INDENT = re.compile(r"^([ \t]*)[^\s#]", re.MULTILINE)  # of code: an indented comment indents nothing
_CLASSIC = re.compile(r"^(?:>>>|\.\.\.)(?: |$)", re.MULTILINE)
_NUMBERED = re.compile(r"^(?:In \[\d+\]: |[ \t]*\.{3,}: ?)", re.MULTILINE)


def unix_newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def flush_left(source: str) -> str:
    """The cell at the left margin, without prompts; as many lines, each cut only at its left."""
    text = _dedented(source.removeprefix("\ufeff"))
    start = text.lstrip()
    if start.startswith(">>>"):
        return _CLASSIC.sub("", text)
    return _NUMBERED.sub("", text) if _NUMBERED.match(start) else text


def _dedented(text: str) -> str:
    """By the indent that all lines share; else by the first line's, as IPython did up to version 8."""
    first = _FIRST_INDENT.search(text)
    if not first or not first[1]:
        return text
    text = textwrap.dedent(text)
    first = _FIRST_INDENT.search(text)
    return re.sub(f"^{first[1]}", "", text, flags=re.MULTILINE) if first and first[1] else text
