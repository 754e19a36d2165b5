"""Where logical lines of Python end, in text that Python itself cannot tokenize because magics stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
      (?P<comment>\#[^\n]*)
    | (?P<fstring>\b(?:[fFtT][rR]?|[rR][fFtT])(?P<quote>\"\"\"|'''|"|'))
    | (?P<string>\"\"\"(?:\\.|[^\\])*?\"\"\" | '''(?:\\.|[^\\])*?''')
    | (?P<endless>\"\"\"|''')
    | (?P<short>"(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*')
    | (?P<unclosed>["'][^\n]*)
    | (?P<open>[(\[{]) | (?P<close>[)\]}])
    | (?P<joined>\\\n) | (?P<newline>\n)
    | (?P<operator>(?:\*\*|//|>>|<<|[-+*/%&|^@:=!<>])=)
    | (?P<assign>=)
    """,
    re.VERBOSE | re.DOTALL,
)
# A backslash keeps a quote from closing the string, but no brace from opening a field.
_FSTRING_PART = re.compile(r"\\[^{}]|\{\{|\}\}|[{}]|\"\"\"|'''|[\"'\n]", re.DOTALL)


@dataclass(frozen=True)
class LogicalLine:
    """One logical line: text[start:end], without its newline."""

    start: int
    end: int
    assign: int | None  # just behind the first `=` outside brackets


def logical_line(text: str, start: int) -> LogicalLine:
    """The logical line that starts at `start`; what a string or bracket leaves open runs to the end of the text."""
    depth, at, assign = 0, start, None
    while token := _TOKEN.search(text, at):
        at, kind = _token_end(text, token), token.lastgroup
        if kind in {"open", "close"}:
            depth = max(0, depth + (1 if kind == "open" else -1))
        elif kind == "assign" and depth == 0 and assign is None:
            assign = at
        elif kind == "newline" and depth == 0:
            return LogicalLine(start, token.start(), assign)
    return LogicalLine(start, len(text), assign)


def _token_end(text: str, token: re.Match[str]) -> int:
    if token.lastgroup == "endless":
        return len(text)
    if token.lastgroup == "fstring":
        try:
            return _fstring_end(text, token.end(), token["quote"])
        except RecursionError:  # nested as no hand writes it: the compiler will refuse the cell
            return len(text)
    return token.end()


def _fstring_end(text: str, at: int, quote: str) -> int:
    """Behind the closing quote: since Python 3.12 a field may hold the same quotes, brackets, newlines, comments."""
    while part := _FSTRING_PART.search(text, at):
        at = part.end()
        if part[0] == quote or (len(quote) == 1 and part[0].startswith(quote)):
            return part.start() + len(quote)
        if part[0] == "\n" and len(quote) == 1:
            return part.start()
        if part[0] == "{":
            at = _field_end(text, at)
    return len(text)


def _field_end(text: str, at: int) -> int:
    """Behind the `}` of a field; what follows its `:` is a format, in which quotes mean nothing."""
    depth = 0
    while at < len(text):
        if depth == 0 and text[at] == "}":
            return at + 1
        if depth == 0 and text[at] == ":":
            return _format_end(text, at + 1)
        token = _TOKEN.match(text, at)
        kind = token.lastgroup if token else None
        if token and kind == "fstring":
            at = _fstring_end(text, token.end(), token["quote"])
        else:
            at = _token_end(text, token) if token else at + 1
        depth += {"open": 1, "close": -1}.get(kind or "", 0)
    return at


def _format_end(text: str, at: int) -> int:
    while at < len(text) and text[at] not in "}\n":
        at = _field_end(text, at + 1) if text[at] == "{" else at + 1
    return at + (text[at : at + 1] == "}")


def comment_lines(text: str) -> Iterator[tuple[int, str]]:
    """Each comment that has a line to itself, with the index of that line; a # inside a string is none."""
    at = index = counted = 0
    while token := _TOKEN.search(text, at):
        at, start = _token_end(text, token), token.start()
        if token.lastgroup == "comment" and not text[text.rfind("\n", 0, start) + 1 : start].strip():
            index += text.count("\n", counted, start)
            counted = start
            yield index, token[0]
