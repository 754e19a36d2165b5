"""A cell that waits for its run. An interrupt reaches it at once, and the run is stopped, never left behind."""

from __future__ import annotations

from collections.abc import Callable

from nbddp.magics.refusal import RunStopped, in_words
from nbddp.run.run import Run
from nbddp.run.watch import Watch
from nbddp.widget.feed import Feed

LOOK = 0.2  # seconds between two looks whether the view has ended before the run


def wait_for(run: Run, show: Callable[[], Feed]) -> None:
    """Back when the run has brought its result; RunFailed or RunStopped where it has none.

    This thread only waits: the view's own thread does the reading, so that an interrupt cannot break into it.
    """
    feed = None
    try:
        feed = show()
        while not feed.join(LOOK):
            pass
        run.wait()
    except KeyboardInterrupt:
        _stop(run)
        if feed is not None:
            feed.join(5.0)
    _raise_unless_done(run)


def _stop(run: Run) -> None:
    """The first interrupt asks the ranks to end and keeps the last checkpoint; another one ends them at once."""
    print("Interrupted: the training is being stopped. Interrupt once more to end it at once.")
    try:
        run.stop("now")
    except KeyboardInterrupt:
        run.stop("kill")
    run.watch = Watch(run.folder)
    run.wait(10.0)


def _raise_unless_done(run: Run) -> None:
    state = run.state
    if failure := run.failure:
        if not (state.phase == "killed" and state.stop):
            raise failure
    if state.phase != "done" and state.result is None:
        kept = run.folder.checkpoint
        how = f"go on from its last checkpoint with --resume {kept}" if kept.exists() else "it has left no checkpoint"
        raise in_words(RunStopped(f"{run.name} was stopped. The notebook's own state is as it was before; {how}."))
