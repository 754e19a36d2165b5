"""A run as a notebook holds it: it also knows where its result belongs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbddp.analysis.plan import Plan
from nbddp.cli.parse import Refusal
from nbddp.magics.definitions import define
from nbddp.magics.interrupts import held_back
from nbddp.magics.refusal import in_words
from nbddp.magics.restoring import restore
from nbddp.magics.wanted import wanted
from nbddp.run.errors import NoResult
from nbddp.run.folder import RunFolder
from nbddp.run.result import Result
from nbddp.run.run import Run
from nbddp.widget.words import count


class CellRun(Run):
    """`run.history`, `run.frame`, `run.load("model")`, `run.log(1)`, `run.stop()`, `run.wait()`, `run.restore()`."""

    def __init__(self, folder: RunFolder) -> None:
        super().__init__(folder)
        self._namespace: dict[str, Any] | None = None
        self._plan: Plan | None = None

    def belongs_to(self, namespace: dict[str, Any], plan: Plan | None = None) -> None:
        """Whose variables its result is for; the plan knows what else the cell would have left there."""
        self._namespace, self._plan = namespace, plan

    def restore(self, namespace: dict[str, Any] | None = None) -> None:
        """Load the trained state into the notebook's objects, bind the other values, name what could not come back."""
        target = self._namespace if namespace is None else namespace
        if target is None:
            raise in_words(Refusal("Say where it belongs: run.restore(globals())."))
        result = self.result()
        with held_back():
            failed = define(self._plan, target) if self._plan is not None else {}
            missing = restore(result, target)
        if self._plan is not None:
            missing = {**wanted(self._plan, result, target), **failed, **missing}
        if missing:
            print(_sentence(missing))

    def result(self) -> Result:
        """What it brought back; where there is nothing, a sentence."""
        try:
            return super().result()
        except NoResult as nothing:
            raise in_words(nothing) from None

    @property
    def frame(self) -> Any:
        """The history as a pandas frame."""
        return frame_of(self.history)

    def __repr__(self) -> str:
        state = self.state
        epochs = f", {count(len(state.history), 'epoch')}" if state.history else ""
        return f"<Run {self.name}: {state.phase}{epochs}>"


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
