"""What the syntax tree of a watched script calls: one object, of which the script itself knows nothing."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from nbddp.run.watching import processes
from nbddp.run.watching.carried import NOTHING, known
from nbddp.run.watching.epochs import Epochs
from nbddp.run.watching.frameworks import WATCH
from nbddp.run.watching.means import means_over_ranks
from nbddp.run.watching.progress import Progress
from nbddp.run.watching.reports import Reports
from nbddp.run.watching.result import deliver
from nbddp.run.watching.settings import Settings
from nbddp.run.watching.sharded import take_part


class Watcher:
    """The methods are those that `tree` writes calls of."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.reports = Reports(settings.events)
        progress = Progress(self.reports)
        epochs = Epochs(settings, progress)
        self.progress, self.epochs = progress, epochs
        self.step, self.report_step, self.epoch_begins = progress.step, progress.report_step, progress.epoch_begins
        self.numbers = progress.metrics
        self.carry, self.over, self.counted = epochs.carry, epochs.over, epochs.counted
        self.unbound, self.known, self.nothing = epochs.unbound, known, NOTHING
        self.has_left, self.left = epochs.has_left, epochs.left
        self.epochs_before, self.epoch_ends, self.stop_asked = epochs.before, epochs.ends, epochs.stop_asked
        self.start = epochs.load_states
        batches = epochs.batches
        self.rest, self.numbered, self.so_far = batches.rest, batches.numbered, batches.so_far
        self.told: BaseException | None = None

    def begin(self, rank: int) -> None:
        """The first thing that a rank does."""
        processes.begin(self.reports, rank, self.settings.logs)

    def meet(self) -> None:
        """It is about to meet the others."""
        processes.meet(self.reports.rank)

    def up(self) -> None:
        """It has met the others."""
        processes.up(self.reports)

    def end(self) -> None:
        """It has done all that it was started for."""
        self.progress.ends()
        self.reports.report("end")

    def failed(self) -> None:
        """It leaves by an error, which is being handled."""
        error = sys.exc_info()[1]
        assert error is not None, "called in an `except`"
        self.told = error
        processes.failed(self.reports, error)

    def backend(self, chosen: str) -> str:
        """The one that was asked for instead, if any."""
        return self.settings.backend or chosen

    def trainer(self, kind: str, trainer: Any) -> None:
        """A framework's, which has just been made."""
        WATCH[kind](trainer, self.progress, self.epochs)

    def deliver(
        self, states: Mapping[str, Any], names: Sequence[str], means: Sequence[str], scope: Mapping[str, Any]
    ) -> None:
        """Rank 0 leaves the result."""
        if self.settings.result is None:
            return
        of_all = means_over_ranks({name: scope[name] for name in means if name in scope})
        if self.reports.rank > 0:
            take_part(states.values())
        else:
            deliver(
                self.settings.result, states, [n for n in names if n not in means or n in of_all], {**scope, **of_all}
            )
            self.reports.report("result", path=self.settings.result)
