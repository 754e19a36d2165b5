"""A cell that waits for its run. An interrupt is looked for all the time, and the run is stopped, never left behind."""

from __future__ import annotations

from collections.abc import Callable

from nbddp.magics.first_line.refusal import RunStopped, in_words
from nbddp.run.processes.interrupts import answer, breakable, interrupted
from nbddp.run.run import Run
from nbddp.widget.feed import Feed

LOOK = 0.05  # seconds between two looks whether there was an interrupt, or the view has ended before the run


def wait_for(run: Run, show: Callable[[], Feed]) -> bool:
    """Back when the run has brought its result: whether it was to be stopped. RunFailed or RunStopped without one.

    This thread only waits, with interrupts held back: the view's own thread does the reading.
    """
    feed = show()
    while not (interrupted() or feed.join(LOOK)):
        pass
    while not (interrupted() or run.wait(LOOK).over):
        pass
    stopped = stop_if_interrupted(run, feed)
    run.wait()
    _raise_unless_done(run)
    return stopped


def stop_if_interrupted(run: Run, feed: Feed) -> bool:
    """RunFailed or RunStopped then, unless the run had its result before it could be stopped."""
    if not interrupted():
        return False
    _stop(run)
    feed.join(5.0)
    _raise_unless_done(run)
    return True


def _stop(run: Run) -> None:
    """The first interrupt asks the ranks to end and keeps the last checkpoint; another one ends them at once."""
    answer()
    print("Interrupted: the training is being stopped. Interrupt once more to end it at once.")
    try:
        breakable(lambda: run.stop("now"))
    except KeyboardInterrupt:
        answer()
        run.stop("kill")
    run.wait(10.0)


def _raise_unless_done(run: Run) -> None:
    state = run.state
    if failure := run.failure:
        if not (state.phase == "killed" and state.stop):
            raise failure
    if state.phase != "done" and state.result is None:
        kept = run.folder.checkpoint
        how = f"use --resume {kept} to continue" if kept.exists() else "it has left no checkpoint"
        raise in_words(RunStopped(f"{run.name} was stopped. The notebook's own state is as it was before; {how}."))
