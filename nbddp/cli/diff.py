"""`nbddp export --diff`: the script in its own order, each line against the line of the cell that it came from.

Not a textual diff of two files: a cell's lines may move to the top of the script or one level deeper, and the line map
knows where each one went. So a line counts as unchanged when it says the same at another indent. What no cell has
written, imports and helpers, is one line each unless every line is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from nbddp.cli.colour import paint
from nbddp.script.sections import Section, sections

Place = tuple[int, int]  # number of the cell, line in it
LineMap = Sequence["Place | None"]

CONTEXT = 3  # unchanged lines shown on either side of a change
STYLES = {"@": "cyan", "-": "red", "+": "green", "…": "dim"}
NAMES = {"header": ": what it is and how to start it", "imports": " of imports", "helpers": ": %s"}
UNTITLED = "what several processes need"
EVERY_LINE = "… --diff=full shows every line"


@dataclass(frozen=True)
class Row:
    """`sign` is that of a unified diff; "@" heads the lines of a cell, "…" stands for unchanged ones left out."""

    sign: str
    text: str
    line: int = 0  # of the script, from 1; 0 for what the script does not have
    of_cell: bool = True  # it belongs under the heading of a cell

    def render(self, on: bool) -> str:
        text = f"@@ {self.text} @@" if self.sign == "@" else f"{self.sign}{self.text}".rstrip()
        return paint(text, STYLES[self.sign], on) if self.sign in STYLES else text


def rows(script: str, line_map: LineMap, cells: Mapping[int, str], *, full: bool = False) -> list[Row]:
    """`cells` maps the numbers of the notebook's code cells to their source."""
    added = () if full else sections(script, line_map)
    lines = script.removesuffix("\n").split("\n")
    line_map = _with_imports(lines, line_map, cells)
    comparison = _Comparison({number: source.split("\n") for number, source in cells.items()}, _texts(lines, line_map))
    found = list(comparison.rows(lines, line_map))
    if not added:
        return list(_folded(found))
    return [*_folded(list(_summed_up(list(_without_imports(found)), added))), Row(EVERY_LINE[0], EVERY_LINE[1:])]


def _without_imports(rows: Sequence[Row]) -> Iterator[Row]:
    """The cells' imports that the script has in another form or not at all are no more told than its own."""
    brackets = 0
    for row in rows:
        begins = row.text.lstrip().startswith(("import ", "from "))
        if row.sign == "-" and (begins or brackets):
            brackets += row.text.count("(") - row.text.count(")")
        else:
            yield row


def _summed_up(rows: Sequence[Row], added: Sequence[Section]) -> Iterator[Row]:
    """A row in place of each section; what the cells have and the section has not stays, under its heading."""
    at = {line: section for section in added for line in range(section.first, section.last + 1)}
    many = Counter(at[row.line] for row in rows if row.line in at and row.sign == "+")
    heading: Row | None = None
    after_sum = False
    for row in rows:
        if row.sign == "@":
            heading = row
        elif section := at.get(row.line):
            if count := many.pop(section, 0):
                yield Row("+", _summary(section, count))
                after_sum = True
        elif row.of_cell or row.text.strip() or not after_sum:
            if heading and row.of_cell:
                yield heading
                heading = None
            yield row
            after_sum = False


def _summary(section: Section, count: int) -> str:
    return f" {count} line{'s' * (count > 1)}{NAMES[section.kind].replace('%s', section.title or UNTITLED)}"


def _with_imports(lines: Sequence[str], line_map: LineMap, cells: Mapping[int, str]) -> LineMap:
    """The script's imports are one sorted block, made anew; those that a cell has just so are that cell's."""
    places = {
        text: (number, line)
        for number, source in cells.items()
        for line, text in enumerate(source.split("\n"), start=1)
        if text.startswith(("import ", "from "))
    }
    return [place or places.get(text) for text, place in zip(lines, line_map, strict=False)]


def _texts(lines: Sequence[str], line_map: LineMap) -> dict[Place, list[str]]:
    texts: dict[Place, list[str]] = {}
    for text, place in zip(lines, line_map, strict=False):
        if place is not None:
            texts.setdefault(place, []).append(text.strip())
    return texts


@dataclass
class _Comparison:
    """One walk down the script; it remembers which lines of the cells have been shown."""

    cells: Mapping[int, list[str]]
    texts: Mapping[Place, list[str]]  # what became of each line that the script has
    shown: set[Place] = field(default_factory=set)

    def rows(self, lines: Sequence[str], line_map: LineMap) -> Iterator[Row]:
        here = None
        last = {place[0]: index for index, place in enumerate(line_map) if place is not None}
        for index, (text, place) in enumerate(zip(lines, line_map, strict=False)):
            if place is None:
                yield Row("+" if text.strip() else " ", text, index + 1, of_cell=False)
                continue
            if place[0] != here:
                here = place[0]
                yield Row("@", f"cell {here}")
            yield from self._line(text, place, index + 1)
            if last[here] == index:
                yield from self._left_out(here, None, _shift(text, self._source(place)))
        for number in self.cells:
            if number not in last and self.cells[number] != [""]:
                yield Row("@", f"cell {number}, left out")
                yield from self._left_out(number, None, "")

    def _line(self, text: str, place: Place, number: int) -> Iterator[Row]:
        source = self._source(place)
        shift = _shift(text, source)
        yield from self._left_out(place[0], place[1], shift)
        if text.strip() == source.strip():
            yield Row(" ", text, number)
        else:
            if source.strip() not in self.texts[place] and place not in self.shown:
                yield Row("-", shift + source)
            yield Row("+", text, number)
        self.shown.add(place)

    def _left_out(self, number: int, before: int | None, shift: str) -> Iterator[Row]:
        """The cell's lines above `before` that the script does not have, once; blank ones are not missed."""
        for line, source in enumerate(self.cells.get(number, [])[: None if before is None else before - 1], start=1):
            if source.strip() and (number, line) not in self.texts and (number, line) not in self.shown:
                self.shown.add((number, line))
                yield Row("-", shift + source)

    def _source(self, place: Place) -> str:
        return self.cells[place[0]][place[1] - 1]


def _shift(text: str, source: str) -> str:
    """How much deeper the script has the line; what it lacks is shown at the same depth."""
    return " " * (_depth(text) - _depth(source))


def _depth(text: str) -> int:
    return len(text) - len(text.lstrip())


def _folded(rows: list[Row]) -> Iterator[Row]:
    """Unchanged lines far from any change become one row that counts them, where that is shorter."""
    near = {
        at for index, row in enumerate(rows) if row.sign in "+-" for at in range(index - CONTEXT, index + CONTEXT + 1)
    }
    for far, group in groupby(enumerate(rows), key=lambda item: item[1].sign == " " and item[0] not in near):
        stretch = [row for _, row in group]
        if far and len(stretch) > 2:
            yield Row("…", f" {len(stretch)} unchanged lines")
        else:
            yield from stretch
