"""What a notebook wants of the processes that train it, as far as its text tells."""

from __future__ import annotations

from nbddp.analysis import Plan
from nbddp.analysis.disk import may_order_sets
from nbddp.analysis.loaders import sizes_at_start
from nbddp.analysis.state import checkpointed
from nbddp.analysis.training import hook
from nbddp.script.launcher import Needs
from nbddp.script.layout import Layout
from nbddp.script.names import words_of
from nbddp.script.seeding import unseeded

WORKERS = frozenset("num_workers multiprocessing Pool Process joblib n_jobs ProcessPoolExecutor".split())
BARS = frozenset("tqdm trange tnrange tqdm_notebook track progress_bar master_bar alive_it".split())
PLACES = ("LOCAL_RANK", "WORLD_SIZE", '"RANK"', "'RANK'")


def needs_of(plan: Plan, layout: Layout) -> Needs:
    """From the statements that the script keeps."""
    text = "\n".join(plan.program.source(s.node) for s in plan.kept)
    words, loop = words_of(text + "\n"), checkpointed(plan)
    return Needs(
        nproc=1 if plan.options.per_machine else plan.options.nproc if plan.uses_gpu or plan.options.nproc else 2,
        gpu=plan.uses_gpu,
        seed=unseeded(plan, layout),
        snapshot=tuple(plan.handed_over),
        sets=may_order_sets(plan),
        workers=bool(words & WORKERS) or plan.framework is not None,
        bars=bool(words & BARS),
        checkpoints=loop is not None,
        within_epochs=loop is not None and loop.batches is not None,
        slurm=bool(plan.options.slurm),
        connects=hook(plan.program, "connect") is not None,
        inside=bool(plan.assumed.joined or plan.assumed.opened),
        batches=sizes_at_start(plan),
        place=plan.framework is not None or any(word in text for word in PLACES),
    )
