"""A run as a notebook holds it: it also knows where its result belongs."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from typing import Any

from nbddp.analysis import Plan
from nbddp.analysis.reading import steps_of
from nbddp.analysis.state import only_filled, rebound
from nbddp.cli.parse import Refusal, nearest
from nbddp.magics.first_line.refusal import in_words
from nbddp.magics.handover.definitions import define
from nbddp.magics.handover.executed_here import build_loaders, display
from nbddp.magics.handover.restoring import restore
from nbddp.magics.handover.start_state import built_anew
from nbddp.magics.handover.wanted import OWN, wanted
from nbddp.magics.handover.whole_objects import read_objects
from nbddp.run.folder.errors import NoResult
from nbddp.run.folder.folder import RunFolder
from nbddp.run.folder.result import Result, drop_states
from nbddp.run.processes.interrupts import held_back
from nbddp.run.run import Run
from nbddp.run.state.endings import GRADES
from nbddp.run.state.state import RunState
from nbddp.run.state.words import no_log
from nbddp.widget.lines import latest
from nbddp.widget.words import count, number

NO_EPOCH = (
    "No epoch was trained: with the values that the cells before set, the loop had no epochs left. The cells may have "
    "read files that exist by now, and the processes do not see what has changed in the kernel since."
)

LARGE = 100 << 20  # bytes of a result whose states are not kept when they have been loaded
DROPPED = (
    "the notebook has loaded it already, and large states are kept once only: --keep {} on the cell's first line keeps "
    "them, and the run's checkpoint has those of its last epoch"
)


class CellRun(Run):
    """`run.history`, `run.frame`, `run.load("model")`, `run.log(1)`, `run.stop()`, `run.wait()`, `run.restore()`."""

    def __init__(self, folder: RunFolder) -> None:
        super().__init__(folder)
        self._namespace: dict[str, Any] | None = None
        self._plan: Plan | None = None
        self._keep: tuple[str, ...] = ()

    def belongs_to(self, namespace: dict[str, Any], plan: Plan | None = None, keep: tuple[str, ...] = ()) -> None:
        """Whose variables its result is for; the plan knows what else the cell would have left there. States of these
        names stay in the run's folder when they have been loaded, as small ones do.
        """
        self._namespace, self._plan, self._keep = namespace, plan, keep

    def restore(self, namespace: dict[str, Any] | None = None) -> None:
        """Load the trained state into the notebook's objects, bind the other values, name what could not come back."""
        target = self._namespace if namespace is None else namespace
        if target is None:
            raise in_words(Refusal("Pass the namespace to restore into: run.restore(globals())."))
        result = self.result()
        with held_back():
            failed = define(self._plan, target) if self._plan is not None else {}
            plan = self._plan
            known = (
                (built_anew(plan), only_filled(plan), rebound(plan)) if plan is not None else (frozenset[str](),) * 3
            )
            objects, why = read_objects(self.folder, target)
            filled = (objects.keys() & target.keys()) - known[0]
            missing = restore(result, target, *known, objects)
        loaded = [name for name in result.states if name not in missing and steps_of(name)[0] not in self._keep]
        if self._plan is not None:
            self._drop(loaded)
            missing = {**wanted(self._plan, result, target, objects.keys() - filled, filled), **failed, **missing}
            built = build_loaders(self._plan, target, [name for name, reason in missing.items() if reason == OWN])
            displayed, failure = display(self._plan, target)
            missing = {n: reason for n, reason in missing.items() if n not in {*built, *displayed}}
            why = "\n".join(filter(None, (why, failure)))
            if self._plan.roles.epoch_loops and self.state.epoch is None:
                print(NO_EPOCH)
        if why:
            print(why)
        if missing:
            print(_sentence(missing))

    def _drop(self, names: list[str]) -> None:
        """What is in the kernel by now need not lie on the disk as well, where it is large."""
        if names and self.state.over and self.folder.result.stat().st_size > LARGE:
            with contextlib.suppress(OSError, RuntimeError):  # no room to write what is left, say: then all of it stays
                drop_states(self.folder.result, names, DROPPED.format(", ".join(names)))
                self.folder.objects.unlink(missing_ok=True)

    def result(self) -> Result:
        """What it brought back; where there is nothing, a sentence."""
        try:
            return super().result()
        except NoResult as nothing:
            raise in_words(nothing) from None

    def load(self, name: str) -> Any:
        """One state or value by the name that it has in the notebook; where it has not come back, a sentence."""
        try:
            return super().load(name)
        except KeyError as missing:
            raise in_words(NoResult(missing.args[0])) from None

    def stop(self, grade: str = "now") -> list[int]:
        """Stop it: "epoch", "now" or "kill"; another word gets a sentence, and the run goes on."""
        need_grade(grade)
        return super().stop(grade)

    def wait(self, timeout: float | None = None) -> RunState:
        """The state at the end, or after so many seconds."""
        need_seconds(timeout)
        return super().wait(timeout)

    def log(self, rank: int = 0, last: int | None = None) -> str:
        """What a rank has printed so far; of one that there is not, a sentence."""
        there = self.folder.logged_ranks
        if there and rank not in there:
            raise in_words(Refusal(no_log(self.name, rank, there)))
        return super().log(rank, last)

    @property
    def frame(self) -> Any:
        """The history as a pandas frame."""
        return frame_of(self.history)

    def __repr__(self) -> str:
        state = self.state
        epochs = [count(len(state.history), "epoch")] if state.history else []
        values = [f"{name} {number(value)}" for name, value in latest(state).items()]
        return f"<Run {self.name}: {', '.join([state.phase, *epochs, *values])}>"


def need_grade(grade: object) -> None:
    """A Refusal where it is none of the words for how to stop."""
    if grade not in GRADES:
        near = nearest(grade, GRADES) if isinstance(grade, str) else ""
        raise in_words(Refusal(f"run.stop() takes 'epoch', 'now' or 'kill', not {grade!r}{near}; nothing was stopped."))


def need_seconds(timeout: object) -> None:
    """A Refusal where it is no time to wait; without one it is waited to the end."""
    number = isinstance(timeout, int | float) and not math.isnan(timeout)
    if timeout is not None and not (number and timeout >= 0):  # type: ignore[operator]
        raise in_words(Refusal(f"run.wait() takes a number of seconds, or nothing, not {timeout!r}."))


def frame_of(history: list[dict[str, float]]) -> Any:
    """A table of pandas, where that is installed."""
    try:
        import pandas as pd  # type: ignore[import-untyped]
    except ImportError:
        raise in_words(Refusal("run.frame needs pandas; run.history is the same as a list of dicts.")) from None
    return pd.DataFrame(history)


def _sentence(missing: Mapping[str, str]) -> str:
    """All of one reason together."""
    reasons: dict[str, list[str]] = {}
    for name, why in missing.items():
        reasons.setdefault(why, []).append(name)
    return "Not brought back: " + "; ".join(f"{', '.join(names)} ({why})" for why, names in reasons.items())
