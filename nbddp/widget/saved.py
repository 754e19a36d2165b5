"""How much of a run a saved notebook keeps, and in what words: nothing of this machine's folders, and little in all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from nbddp.run.state.shown import shown_curves
from nbddp.run.state.state import RunState
from nbddp.widget.notices import Said, notices
from nbddp.widget.subject import Subject
from nbddp.widget.view import series

MOST = 15_000  # bytes of all forms together
LONGEST = 1000  # characters of a notice
PART = r"[^\s/\"':,;()<>]+"
ABSOLUTE = re.compile(rf"(?<![\w.~/:-])/(?:{PART}/)*({PART}/{PART})")


@dataclass(frozen=True)
class Measure:
    """How much of each thing."""

    points: int  # of a curve
    lines: int  # of a log, and of the table of epochs
    letters: int  # of such a line, and of what stands behind a notice
    notices: int

    @property
    def ranks(self) -> int:
        """Of which anything is kept: all of one machine, mostly."""
        return max(6, self.lines)


MEASURES = (
    Measure(120, 40, 2000, 50),
    Measure(60, 20, 400, 12),
    Measure(36, 8, 160, 6),
    Measure(24, 4, 80, 3),
    Measure(12, 2, 40, 2),
)


@dataclass(frozen=True)
class Kept:
    """What stays of a run."""

    state: RunState
    script: str
    notices: list[Said]
    series: Mapping[str, Mapping[str, Any]]
    logs: Mapping[int, Sequence[str]]
    measure: Measure

    @classmethod
    def of(cls, state: RunState, subject: Subject, logs: Mapping[int, Sequence[str]], measure: Measure) -> Kept:
        found = shortened(notices(state, subject), measure)
        drawn = thinned(series(shown_curves(state)), measure)
        return cls(state, place_of(subject.script), found, drawn, tails(logs, measure), measure)


def thinned(series: Mapping[str, Mapping[str, Any]], measure: Measure) -> dict[str, dict[str, Any]]:
    """Every so many-th point of each curve, and the last."""
    found = {}
    for key, one in series.items():
        stride = -(-len(one["points"]) // measure.points)
        found[key] = {**one, "points": [*one["points"][:-1:stride], one["points"][-1]]}
    return found


def tails(logs: Mapping[int, Sequence[str]], measure: Measure) -> dict[int, list[str]]:
    """Of a log its last lines, and of many logs as many lines in all."""
    ranks = sorted(logs)[: measure.ranks]
    many = max(1, measure.lines // max(1, len(ranks)))
    return {rank: [portable(line)[: measure.letters] for line in logs[rank][-many:]] for rank in ranks}


def shortened(found: Sequence[Said], measure: Measure) -> list[Said]:
    """The gravest; of a long text the end, where a traceback says what was wrong."""
    return [
        {**one, "text": _cut(one["text"], LONGEST), "more": _cut(one["more"], _letters(one, measure))}
        for one in map(_linked, found[: measure.notices])
    ]


def _linked(one: Said) -> Said:
    """A page that lies on this machine is none for those who get the notebook."""
    if one.get("page", "").startswith("file:"):
        one = one.copy()
        del one["page"]
    return one


def _letters(one: Said, measure: Measure) -> int:
    """What went wrong is worth more of them than what may."""
    return max(measure.letters, 600) if one["level"] == "error" else measure.letters


def _cut(text: str, letters: int) -> str:
    """The same object where nothing is cut: a sentence can be translated."""
    short = portable(text)[-letters:]
    return text if short == text else short


def seats(ranks: Sequence[Mapping[str, Any]], measure: Measure) -> list[dict[str, Any]]:
    """The first ranks; each with the beginning of what it printed last."""
    return [{**one, "line": portable(one["line"])[: measure.letters]} for one in ranks[: measure.ranks]]


def place_of(script: str) -> str:
    """As one may see it from the notebook: below its folder, or by its name alone."""
    parts = PurePath(script).parts
    return "/".join(parts[parts.index(".nbddp") :]) if ".nbddp" in parts else PurePath(script).name


def portable(text: str) -> str:
    """Paths below this folder as they are seen from here; of others what says which file it is."""
    for folder, stands in ((f"{Path.cwd()}/", ""), (f"{Path.home()}/", "~/")):
        text = text.replace(folder, stands) if len(folder) > 1 else text
    return ABSOLUTE.sub(r"…/\1", text)
