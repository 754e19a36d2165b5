"""What it does
    Lets the Hugging Face Trainer train on the processes that the script starts, with its own DDP: splits the batch size
    of its arguments among the processes.

Why DDP needs it
    The Trainer joins the existing processes. On CPUs its arguments must say so, or each process would train on its own;
    and a batch size for each device would grow with the number of processes.

Before
    args = TrainingArguments("out", per_device_train_batch_size=16)

After
    args = TrainingArguments("out", per_device_train_batch_size=per_rank(16), use_cpu=not torch.cuda.is_available())

Declines
    Notebooks with their own training loop. A Trainer without TrainingArguments, or with arguments that nbddp cannot
    see, is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.library import HUGGING_FACE
from nbddp.analysis.syntax import keywords_of, qualified
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, mark, set_arguments, wrap
from nbddp.sentence import sentence
from nbddp.watch_points import Watch

NAME = "hugging-face"
SETTINGS = ("TrainingArguments", "Seq2SeqTrainingArguments", "SFTConfig")
SIZE = "per_device_train_batch_size"


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
                NAME, "error", call, sentence("no cell creates the TrainingArguments of this Trainer"),
                why=sentence("without them the processes would not train together on a CPU"),
                help=sentence("create them in a cell, and pass them as args="),
            )  # fmt: skip
        statement = plan.program.statement_of(call)
        if isinstance(statement, ast.Assign) and statement.value is call:
            name = plan.program.source(statement.targets[0])
            yield mark(plan.program, NAME, statement, Watch("trainer", state=(("transformers", name),)))


def _sets(plan: Plan, call: ast.Call) -> bool:
    module, _, name = (qualified(call.func, plan.flow.imports) or "").rpartition(".")
    return name in SETTINGS and module.split(".")[0] in HUGGING_FACE.modules


def _settings(plan: Plan, call: ast.Call) -> Iterator[Edit | Diagnostic]:
    given = keywords_of(call)
    if None in given:
        yield plan.program.diagnose(
            NAME, "error", call, sentence("nbddp cannot see which arguments the TrainingArguments get"),
            help=sentence("write the arguments by name, without **"),
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
