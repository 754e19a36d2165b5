"""What it does
    Lets fastai's Learner and Catalyst's runners train on the processes that the script starts, with their own DDP.

Why DDP needs it
    A Learner uses several processes only inside of its `distrib_ctx`, and only on GPUs; a Catalyst runner uses the
    engine for one device unless it gets one for several processes.

Before
    learn.fine_tune(3)

After
    with in_its_context(learn):
        learn.fine_tune(3)

Declines
    Notebooks with their own training loop. aitoolbox's loops are refused: they start their own processes, only on GPUs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.library import AITOOLBOX, CATALYST, FASTAI
from nbddp.analysis.syntax import keywords_of
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, set_arguments, within, wrap
from nbddp.sentence import sentence

NAME = "runners"
CONTEXT = "import fastai.distributed  # gives a Learner its distrib_ctx"
ENGINE = "from catalyst.core.engine import Engine"
CONFIGURATION = "from accelerate import DataLoaderConfiguration"

SPLIT = "DataLoaderConfiguration(split_batches=True, use_seedable_sampler=True)"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    use = plan.framework
    if use is None:
        return
    for call in use.trained:
        if use.framework is FASTAI:
            yield from _in_context(plan, call)
        elif use.framework is CATALYST:
            yield from _with_engine(plan, call)
        elif use.framework is AITOOLBOX:
            yield plan.program.diagnose(
                NAME, "error", call,
                sentence("training with aitoolbox is not supported: its loops start their own processes, and only on "
                         "GPUs"),
                help=sentence('set gpu_mode="ddp" in a script, under `if __name__ == "__main__":`, or write a plain '
                              'PyTorch loop'),
            )  # fmt: skip
    if use.framework is FASTAI and not plan.options.batch_per_rank:
        yield from _batch_sizes(plan, use.trained[0])


def _in_context(plan: Plan, call: ast.Call) -> Iterator[Edit]:
    statement = plan.program.statement_of(call)
    around = [a for a in plan.program.ancestors(call) if isinstance(a, ast.With)]
    if any("distrib_ctx" in plan.program.source(i.context_expr) for w in around for i in w.items):
        return
    assert isinstance(call.func, ast.Attribute)
    manager = f"{plan.naming('in_its_context')}({plan.program.source(call.func.value)})"
    yield from within(plan.program, NAME, statement, manager, (CONTEXT, "in_its_context"))


def _batch_sizes(plan: Plan, fit: ast.Call) -> Iterator[Edit | Diagnostic]:
    sizes = [k.value for n in plan.nodes() if isinstance(n, ast.Call) for k in n.keywords if k.arg == "bs"]
    for size in sizes:
        yield from wrap(plan.program, NAME, size, f"{plan.naming('per_rank')}(", ")", ("per_rank",))
    if not sizes:
        yield plan.program.diagnose(
            NAME, "warning", fit,
            sentence("no cell sets the batch size, so each process would use fastai's default of 64"),
            help=sentence("pass bs=64 to the data loaders, which is then the batch size of all processes together"),
        )  # fmt: skip


def _with_engine(plan: Plan, call: ast.Call) -> Iterator[Edit | Diagnostic]:
    if None in keywords_of(call):
        yield plan.program.diagnose(
            NAME, "error", call, sentence("nbddp cannot see which engine the runner gets"),
            help=sentence("write the arguments by name, without **"),
        )  # fmt: skip
        return
    split = "" if plan.options.batch_per_rank else f", dataloader_config={SPLIT}"
    engine = f"Engine(cpu=not torch.cuda.is_available(){split})"
    uses = (ENGINE, *([CONFIGURATION] if split else []), "import torch")
    yield from set_arguments(plan.program, NAME, call, {"engine": engine}, uses)
