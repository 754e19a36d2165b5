"""What of a training is watched, and where: the compiler's second value, beside the text of the script.

The script says nothing of it. When nbddp runs the very same file, it hangs these points into the file's syntax tree.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

Kind = Literal["step", "epochs", "turns", "numbers", "stop", "start", "trainer", "process", "result", "batches", "left"]
Named = tuple[tuple[str, str], ...]  # a name, and the expression for it

FORMAT = 1
BARS = ("tqdm", "track", "progress_bar")


@dataclass(frozen=True)
class Watch:
    """What is done at one statement. All of its texts are expressions that can be evaluated there."""

    kind: Kind
    values: Named = ()  # numbers to report: the losses of a step, what an epoch has come to
    state: Named = ()  # models, optimizers, schedulers: what a checkpoint needs, what comes back
    carried: tuple[str, ...] = ()  # what a loop over epochs carries from turn to turn besides the state; assignable
    things: Named = ()  # that stay what they are while values in them change
    batches: str = ""  # how many there are in an epoch
    batch: tuple[str, ...] = ()  # names of what a step has taken of its loader
    counter: str = ""  # of a `while` loop: the variable that counts its turns
    first: int = 0  # what that is in the first turn
    names: tuple[str, ...] = ()  # of variables that come back, as far as they are bound by then
    means: tuple[str, ...] = ()  # of those names, what each rank has for its own batches: a mean over the ranks is it
    sums: tuple[str, ...] = ()  # of the values: those that mean something only when they are divided
    so_far: Named = ()  # what a loop over batches adds up: an expression, and how those of all ranks make up one
    whole: str = ""  # of a loop over epochs: why a checkpoint cannot be written within one of them


@dataclass(frozen=True)
class WatchPoint:
    """A watch at its place in the script."""

    line: int  # from 1
    column: int  # in bytes of UTF-8, as syntax trees count
    source: str  # the line's text: how the statement is found again in a script that was changed by hand
    watch: Watch


def placed(lines: Sequence[str], marks: Iterable[tuple[int, int, Watch]]) -> tuple[WatchPoint, ...]:
    """The marks (line from 0, column in characters) as points of this script."""
    return tuple(
        WatchPoint(number + 1, len(lines[number][:column].encode()), lines[number].strip(), watch)
        for number, column, watch in marks
    )


def at_statements(text: str, points: Iterable[WatchPoint]) -> tuple[WatchPoint, ...]:
    """Those at whose place a statement begins: a rule may have written something else there."""
    begin = {(n.lineno, n.col_offset) for n in ast.walk(ast.parse(text)) if isinstance(n, ast.stmt)}
    return tuple(point for point in points if (point.line, point.column) in begin)


def drawn_from(node: ast.expr) -> tuple[ast.expr, ast.Call | None]:
    """What a loop goes through in `enumerate(loader)`, `tqdm(loader)`, one around the other; and what numbers it."""
    numbered = None
    while isinstance(node, ast.Call) and node.args:
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name == "enumerate" and numbered is None:
            numbered = node
        elif not name.startswith(BARS):
            break
        node = node.args[0]
    return node, numbered


def whole_epochs(points: Iterable[WatchPoint]) -> str:
    """Why a run of this can write no checkpoint within an epoch; nothing where it can."""
    kinds = {point.watch.kind for point in points}
    why = next((point.watch.whole for point in points if point.watch.whole), "")
    return "" if "batches" in kinds else why or "nbddp found no loop over epochs that it can continue in the middle"


def to_json(points: Iterable[WatchPoint]) -> str:
    return json.dumps({"format": FORMAT, "points": [asdict(point) for point in points]}, indent=1) + "\n"


def from_json(text: str) -> tuple[WatchPoint, ...]:
    """The same; none where the text is of another version."""
    content = json.loads(text)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        return ()
    return tuple(_points(content.get("points", [])))


def sums_of(points: Iterable[WatchPoint]) -> list[str]:
    return sorted({name for point in points for name in point.watch.sums})


def _points(items: Iterable[dict[str, Any]]) -> Iterator[WatchPoint]:
    for item in items:
        point = WatchPoint(**{**item, "watch": Watch(**item["watch"])})
        watch = point.watch
        yield replace(
            point,
            watch=replace(
                watch,
                values=_named(watch.values), state=_named(watch.state), things=_named(watch.things),
                carried=tuple(watch.carried), batch=tuple(watch.batch), names=tuple(watch.names),
                means=tuple(watch.means), sums=tuple(watch.sums), so_far=_named(watch.so_far),
            ),
        )  # fmt: skip


def _named(pairs: Iterable[Iterable[str]]) -> Named:
    return tuple((str(name), str(text)) for name, text in pairs)
