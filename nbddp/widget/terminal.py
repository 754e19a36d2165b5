"""Log text as a terminal would show it: what a progress bar overwrote is gone, colours stay, no other sequence does."""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_LINES = 500
LONGEST = 2000  # characters of a line that are shown
MOST_READ = 20_000  # characters of a line that are looked at: a bar redrawn for an hour is one line of megabytes

TOKEN = re.compile(
    r"\x1b\[(?P<colour>[0-9;:]*)m|\x1b\[(?P<erase>[0-2]?)K"
    r"|(?P<other>\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_]?))|(?P<text>.)",
    re.DOTALL,
)
MOVES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
COLOURS = re.compile(r"\x1b\[[0-9;:]*m")

Cell = tuple[str, str]  # the colours in force, and one character


def last_lines(text: str, most: int = MOST_LINES) -> list[str]:
    """The last lines of a log; escape sequences for colours are the only ones left in them."""
    lines = text.rsplit("\n", most + 1)
    if lines and not lines[-1]:
        lines.pop()
    return [settle(line) for line in lines[-most:]]


def settle(line: str) -> str:
    """One line after all of its overwriting."""
    line = line.rstrip("\r")
    if not MOVES.search(line):
        return line if len(line) <= LONGEST else _cut(line, len(line))
    cells = _cells(line)
    text = "".join(_coloured(cells[:LONGEST]))
    return text if len(cells) <= LONGEST else _cut(text, len(cells), len(text))


def plain(line: str) -> str:
    """A settled line without its colours."""
    return COLOURS.sub("", line)


def _cut(text: str, length: int, keep: int = LONGEST) -> str:
    return f"{text[:keep]} … {length - LONGEST:,} more characters"


def _cells(line: str) -> list[Cell]:
    if len(line) > MOST_READ:
        start = line.find("\r", len(line) - MOST_READ)
        line = line[start:] if start >= 0 else line
    cells: list[Cell] = []
    place, colours = 0, ""
    for token in TOKEN.finditer(line):
        if token["colour"] is not None:
            colours = _colours(colours, token["colour"])
        elif token["erase"] is not None:
            cells = _erased(cells, place, token["erase"])
        elif token["text"] is not None:
            place = _write(cells, place, colours, token["text"])
    return cells


def _write(cells: list[Cell], place: int, colours: str, character: str) -> int:
    """Put one character down; where the cursor is afterwards."""
    if character == "\r":
        return 0
    if character == "\b":
        return max(0, place - 1)
    if MOVES.match(character):
        return place
    cells[place : place + 1] = [(colours, character)]
    return place + 1


def _erased(cells: list[Cell], place: int, how: str) -> list[Cell]:
    if how in {"", "0"}:
        return cells[:place]
    blank = [("", " ")] * min(place, len(cells))
    return blank + (cells[place:] if how == "1" else [])


def _colours(before: str, codes: str) -> str:
    """Colours add up until they are taken back, which `0` or nothing does."""
    parts = codes.split(";")
    while parts and parts[0].strip("0") == "":
        before, parts = "", parts[1:]
    return ";".join(part for part in (before, *parts) if part)


def _coloured(cells: list[Cell]) -> Iterator[str]:
    now = ""
    for colours, character in cells:
        if colours != now:
            yield f"\x1b[0m\x1b[{colours}m" if colours else "\x1b[0m"
            now = colours
        yield character
    if now:
        yield "\x1b[0m"
