"""What it does
    Lets fastai's Learner and Catalyst's runners train on the processes that the script starts, with their own DDP.

Why DDP needs it
    A Learner uses several processes only inside of its `distrib_ctx`, and only on GPUs; a Catalyst runner takes the
    engine of one device unless it is given one that knows of the others.

Before
    learn.fine_tune(3)

After
    with in_its_context(learn):
        learn.fine_tune(3)

Declines
    Notebooks that train by hand. aitoolbox's loops are refused: they start processes of their own, on GPUs only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.arguments import keywords_of, set_arguments
from nbddp.analysis.edit import Edit, within, wrap
from nbddp.analysis.frameworks import AITOOLBOX, CATALYST, FASTAI
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic
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
                NAME, "error", call, sentence("aitoolbox's loops start processes of their own, and on GPUs only"),
                help=sentence('give the loop gpu_mode="ddp" in a script, under `if __name__ == "__main__":`; or '
                              "write the loop by hand"),
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
            NAME, "warning", fit, sentence("no cell says what the batch size is: fastai's 64 counts for each process"),
            help=sentence("give the data loaders bs=64, and it is that of all processes together"),
        )  # fmt: skip


def _with_engine(plan: Plan, call: ast.Call) -> Iterator[Edit | Diagnostic]:
    if None in keywords_of(call):
        yield plan.program.diagnose(
            NAME, "error", call, sentence("which engine the runner is given cannot be seen"),
            help=sentence("write its arguments by name, without **"),
        )  # fmt: skip
        return
    split = "" if plan.options.batch_per_rank else f", dataloader_config={SPLIT}"
    engine = f"Engine(cpu=not torch.cuda.is_available(){split})"
    uses = (ENGINE, *([CONFIGURATION] if split else []), "import torch")
    yield from set_arguments(plan.program, NAME, call, {"engine": engine}, uses)
