"""Apply edits to a span of the notebook's code, in one pass; each line keeps the place it came from."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from nbddp.analysis.syntax import Program
from nbddp.edits import Edit
from nbddp.watch_points import Watch

_ORDER = {"close": 0, "line": 1, "open": 2, "mark": 3, "text": 4}
STEP = "    "  # of the text of an edit that moves a line in
Piece = tuple[str, int | None, Watch | None]  # text, its offset in the notebook's code, or a mark


class Conflict(Exception):
    """Two rules want the same text: a defect of the rules, never of the notebook."""

    def __init__(self, first: Edit, second: Edit) -> None:
        self.first, self.second = first, second
        super().__init__(f"the rules '{first.rule}' and '{second.rule}' change the same text")


@dataclass(frozen=True)
class Line:
    text: str
    origin: int | None = None  # line of Program.text (1-based) that it came from
    marks: tuple[tuple[int, Watch], ...] = ()  # column, and what is watched at the statement that begins there

    def moved_in(self, indent: str) -> Line:
        return Line(indent + self.text, self.origin, tuple((len(indent) + at, watch) for at, watch in self.marks))


def in_order(edits: Iterable[Edit]) -> list[Edit]:
    """By place; at one place closings inside out, lines that end inner blocks first, and openings outside in.

    Of two rules that put something around one node, the later stands outside.
    """
    numbered = list(dict.fromkeys(edits))
    rank = {id(e): i for i, e in enumerate(numbered)}

    def key(edit: Edit) -> tuple[int, int, int, int]:
        number = rank[id(edit)]
        depth = len(edit.text) - len(edit.text.lstrip(" ")) if edit.place == "close" else 0
        step_in = edit.place == "line" and not edit.text.strip()  # of the line itself, behind those before it
        inside = edit.place == "open" and "\n" not in edit.text  # of a block around the whole statement
        return (edit.start, _ORDER[edit.place], step_in + inside - depth, -number if edit.place == "open" else number)

    return sorted(numbered, key=key)


def apply(program: Program, start: int, end: int, edits: Sequence[Edit]) -> list[Line]:
    """The edited text of a span as lines."""
    pieces: list[Piece] = []
    at = start
    last: Edit | None = None
    every = [one for edit in edits for one in (edit, *edit.beside)]
    steps = Counter(e.start for e in dict.fromkeys(every) if e.place == "line" and not e.text.strip())
    opened: list[Edit] = []
    for placed in in_order(e for e in every if start <= e.start and e.end <= end):
        edit = _moved_in(program, placed, steps, opened)
        opened += [placed] if placed.until else []
        if edit.watch is not None:
            pieces += [(program.text[at : edit.start], at, None), ("", None, edit.watch)]
            at = max(at, edit.start)
            continue
        if edit.start < at and edit.end > edit.start:
            if last is not None and last.end >= edit.end and (edit.rule == last.rule or not last.text):
                continue  # done already, or of no use to what is taken out
            raise Conflict(last or edit, edit)
        if edit.start < at:  # an insertion inside of what another edit replaces
            raise Conflict(last or edit, edit)
        pieces += [(program.text[at : edit.start], at, None), (_behind(pieces[-1:], edit, at), None, None)]
        at = edit.end
        last = edit if edit.end > edit.start else last
    pieces.append((program.text[at:end], at, None))
    return _lines(program, pieces)


def _moved_in(program: Program, edit: Edit, steps: Mapping[int, int], opened: Sequence[Edit]) -> Edit:
    """As far in as the blocks that other edits put around: they move a line, or have begun on this one.

    Without a rule it parts the statements of a line.
    """
    at = program.line_starts[bisect.bisect_right(program.line_starts, edit.start) - 1]
    around = steps.get(at, 0) + sum(at <= e.start and edit.start < e.until for e in opened)
    if not around or "\n" not in edit.text or (edit.rule and edit.place not in ("open", "line")):
        return edit
    first, *others = edit.text.split("\n")
    indent = STEP * around
    first = indent + first if edit.place == "line" else first
    return replace(edit, text="\n".join([first, *(indent + line if line else "" for line in others)]))


def _behind(before: Sequence[Piece], edit: Edit, at: int) -> str:
    """`; b = 2` behind what another edit has put there: on a line of its own, where that ends its line by a comment."""
    last = before[0][0].rpartition("\n")[2] if before and at == edit.start else ""
    indent = last[: len(last) - len(last.lstrip())]
    return f"\n{indent}{edit.text[2:]}" if edit.text.startswith("; ") and "  # " in last else edit.text


def _lines(program: Program, pieces: list[Piece]) -> list[Line]:
    lines: list[Line] = []
    line = Line("")
    for piece, start, watch in pieces:
        if watch is not None:
            line = replace(line, marks=(*line.marks, (len(line.text), watch)))
        offset = start
        for i, part in enumerate(piece.split("\n")):
            if i:
                lines.append(line)
                line = Line("")
            if part.strip() and offset is not None and line.origin is None:
                line = replace(line, origin=bisect.bisect_right(program.line_starts, offset))
            line = replace(line, text=line.text + part)
            if offset is not None:
                offset += len(part) + 1
    return [*lines, line]
