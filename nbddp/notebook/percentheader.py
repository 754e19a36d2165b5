"""The head of a percent file: interpreter line, encoding line, and the YAML in comments that jupytext writes."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)")
_RULE = re.compile(r"---\s*")
_FORMAT = re.compile(r"^\s+format_name:\s*['\"]?([\w-]+)", re.MULTILINE)


@dataclass(frozen=True)
class Header:
    """What stands before the first cell."""

    end: int  # index of the first line behind it
    format_name: str | None = None  # of jupytext: "percent", "light", ...; None for a file of another tool
    raw_cell: str | None = None  # YAML that is not jupytext's own is a cell of the notebook


def read_header(lines: list[str]) -> Header:
    start = _skipped(lines)
    yaml = [_bare(line) for line in lines[start:]]
    if not yaml or not lines[start].startswith("#") or not _RULE.fullmatch(yaml[0]):
        return Header(start)
    for size, (line, bare) in enumerate(zip(lines[start:], yaml, strict=True)):
        if not line.startswith("#"):
            break
        if size and _RULE.fullmatch(bare):
            return _header(lines, start + size + 1, yaml[1:size])
    return Header(start)


def _header(lines: list[str], end: int, yaml: list[str]) -> Header:
    jupyter: list[str] = []
    other: list[str] = []
    inside = False
    for line in yaml:
        if re.fullmatch(r"jupyter\s*:\s*", line):
            inside = True
        elif line and not line[0].isspace():
            inside = False
        (jupyter if inside else other).append(line)
    if end < len(lines) and not _bare(lines[end]).strip():
        end += 1
    name = _FORMAT.search("\n".join(jupyter))
    return Header(end, name[1] if name else None, "\n".join(["---", *other, "---"]) if other else None)


def _skipped(lines: list[str]) -> int:
    """An encoding is stated in one of the first two lines, the interpreter in the first."""
    start = 1 if lines and lines[0].startswith("#!") else 0
    for index in range(start, min(2, len(lines))):
        if _ENCODING.match(lines[index]):
            return index + 1
    return start


def _bare(line: str) -> str:
    return re.sub(r"^# ?", "", line)
