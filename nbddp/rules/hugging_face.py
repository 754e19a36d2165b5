"""What it does
    Lets the Hugging Face Trainer train on the processes that the script starts, with its own DDP: the batch size that
    its arguments give to each device is that of all of them together, divided, and it tells how far it is.

Why DDP needs it
    The Trainer joins the processes that are there. On processors its arguments must say so, or each process would
    train by itself; and a batch size for each device would grow with the number of processes.

Before
    args = TrainingArguments("out", per_device_train_batch_size=16)

After
    args = TrainingArguments("out", per_device_train_batch_size=per_rank(16), use_cpu=not torch.cuda.is_available())

Declines
    Notebooks that train by hand. A Trainer without arguments of its own, or with some that cannot be seen, is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.arguments import keywords_of, set_arguments
from nbddp.analysis.edit import Edit, after, wrap
from nbddp.analysis.frameworks import HUGGING_FACE
from nbddp.analysis.imports import qualified
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic
from nbddp.sentence import sentence

NAME = "hugging-face"
SETTINGS = ("TrainingArguments", "Seq2SeqTrainingArguments", "SFTConfig")
SIZE = "per_device_train_batch_size"
CALLBACK = "from transformers import TrainerCallback"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    use = plan.framework
    if use is None or use.framework is not HUGGING_FACE:
        return
    settings = [n for n in plan.nodes() if isinstance(n, ast.Call) and _sets(plan, n)]
    for call in settings:
        yield from _settings(plan, call)
    for call in use.made:
        if not settings:
            yield plan.program.diagnose(
                NAME, "error", call, sentence("no cell makes the TrainingArguments of this Trainer"),
                why=sentence("on processors each process would train by itself"),
                help=sentence("build them in a cell, and hand them over as args="),
            )  # fmt: skip
        statement = plan.program.statement_of(call)
        if isinstance(statement, ast.Assign) and statement.value is call:
            name = plan.program.source(statement.targets[0])
            line = f"{name}.add_callback({plan.naming('trainer_progress')}(TrainerCallback))"
            yield after(plan.program, NAME, statement, line, ("trainer_progress", CALLBACK))


def _sets(plan: Plan, call: ast.Call) -> bool:
    module, _, name = (qualified(call.func, plan.flow.imports) or "").rpartition(".")
    return name in SETTINGS and module.split(".")[0] in HUGGING_FACE.modules


def _settings(plan: Plan, call: ast.Call) -> Iterator[Edit | Diagnostic]:
    given = keywords_of(call)
    if None in given:
        yield plan.program.diagnose(
            NAME, "error", call, sentence("what the TrainingArguments are given cannot be seen"),
            help=sentence("write them by name, without **"),
        )  # fmt: skip
        return
    old = "no_cuda" if "no_cuda" in given else "use_cpu"
    chosen = given.get(old)
    values = {} if isinstance(chosen, ast.Constant) and chosen.value else {old: "not torch.cuda.is_available()"}
    if not plan.options.batch_per_rank:
        size = given.get(SIZE) or given.get("per_gpu_train_batch_size")
        if size is None:
            values[SIZE] = f"{plan.naming('per_rank')}(8)"
        else:
            yield from wrap(plan.program, NAME, size, f"{plan.naming('per_rank')}(", ")", ("per_rank",))
    yield from set_arguments(plan.program, NAME, call, values, ("torch", "per_rank", "import torch"))
