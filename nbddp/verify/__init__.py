"""The proof that N processes train the same as one: the first steps of both side by side, and what makes a difference.

from nbddp.verify import verify
report = verify("digits.ipynb", nproc=2)
assert report.verdict == "same", report
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from nbddp.analysis import Plan
from nbddp.export import export
from nbddp.notebook import Notebook, read_notebook
from nbddp.options import Options
from nbddp.run.folder.errors import CannotVerify
from nbddp.run.folder.folder import RunFolder
from nbddp.run.start.command import Origin
from nbddp.run.start.launch import Helper
from nbddp.verify.bench import Asked
from nbddp.verify.instrument import cells_alone
from nbddp.verify.proof import prove
from nbddp.verify.report import Report


def verify(  # noqa: PLR0913 -- all but the first have defaults
    source: Path | str | Notebook,
    *,
    steps: int = 20,
    nproc: int = 2,
    seed: int = 0,
    options: Options | None = None,
    script: str | None = None,
    fill: Callable[[RunFolder], object] | None = None,
    arguments: Sequence[str] = (),
    origin: Origin | None = None,
    helper: Helper = None,
    save: Path | None = None,
    against: Path | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> Report:
    """Compare the notebook on one process with its script on several; raises CannotExport or CannotVerify.

    `script` is run in place of the one that an export gives. With `fill`, which puts a state to start from into a run's
    folder, both sides are the script, since the notebook's cells alone start from nothing.
    """
    notebook = source if isinstance(source, Notebook) else read_notebook(source)
    if nproc < 2:
        raise CannotVerify("Several processes are compared with one: choose two or more with --nproc.")
    exported = export(notebook, options)
    _refuse(exported.plan, fill is not None)
    cells = None if fill is not None or arguments else cells_alone(exported.plan)
    asked = Asked(script or exported.text, cells, steps, nproc, seed, fill, tuple(arguments), exported.watch, origin,
                  whole=bool(exported.plan.options.exact))  # fmt: skip
    return prove(asked, notebook.name, helper, say, save, against)


def _refuse(plan: Plan, live: bool) -> None:
    if plan.options.batch_per_rank:
        raise CannotVerify(
            "With --batch-per-rank N processes use N times the batch of one, so there is nothing to compare: verify "
            "without it."
        )
    if plan.handed_over and not live:
        names = ", ".join(plan.handed_over)
        raise CannotVerify(f"--snapshot takes {names} from a running notebook: verify there, with %ddp verify.")


__all__ = ["CannotVerify", "Report", "verify"]
