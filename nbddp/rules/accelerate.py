"""What it does
    Lets Accelerate train on the processes that the script starts: the accelerator splits the notebook's batches among
    them, and what `notebook_launcher` would start is called by each.

Why DDP needs it
    The launcher of notebooks forks the kernel, and hangs where that has computed before. On processors Accelerate must
    be told that it is one of several processes; without a word it would train the same on each.

Before
    accelerator = Accelerator()

After
    accelerator = Accelerator(
        cpu=not torch.cuda.is_available(),
        dataloader_config=DataLoaderConfiguration(split_batches=True, use_seedable_sampler=True),
    )

Declines
    Notebooks that train by hand. An Accelerator whose arguments cannot be seen is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.arguments import keywords_of, set_arguments
from nbddp.analysis.edit import Edit, after, before, replace
from nbddp.analysis.frameworks import ACCELERATE, HUGGING_FACE
from nbddp.analysis.imports import qualified
from nbddp.analysis.plan import Plan
from nbddp.analysis.sinks import LOGS, SHOWS
from nbddp.diagnostics import Diagnostic
from nbddp.sentence import sentence

NAME = "accelerate"
CONFIGURATION = "from accelerate import DataLoaderConfiguration"
GATHERS = ("gather", "gather_for_metrics", "reduce")
SPLIT = "DataLoaderConfiguration(split_batches=True, use_seedable_sampler=True)"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    use = plan.framework
    if use is None or use.framework not in (ACCELERATE, HUGGING_FACE):
        return
    for node in plan.nodes():
        if isinstance(node, ast.Call) and qualified(node.func, plan.flow.imports) == "accelerate.notebook_launcher":
            yield from _launched(plan, node)
    if use.framework is ACCELERATE:
        for call in use.made:
            yield from _accelerator(plan, call)
        for loop in dict.fromkeys(_loop_of(plan, call) for call in use.trained):
            if loop is not None:
                yield from _told(plan, loop, [c for c in use.trained if _loop_of(plan, c) is loop])
                yield from _own(plan, loop)


def _launched(plan: Plan, call: ast.Call) -> Iterator[Edit]:
    """`notebook_launcher(train, args=(model,), num_processes=2)` is `train(model)`, on each of the processes."""
    given = keywords_of(call)
    function = call.args[0] if call.args else given["function"]
    handed = given.get("args") or (call.args[1] if len(call.args) > 1 else None)
    if isinstance(handed, ast.Tuple | ast.List):
        arguments = ", ".join(plan.program.source(e) for e in handed.elts)
    else:
        arguments = f"*{plan.program.source(handed)}" if handed is not None else ""
    precision = given.get("mixed_precision")
    if isinstance(precision, ast.Constant) and isinstance(precision.value, str) and precision.value != "no":
        line = f'os.environ["ACCELERATE_MIXED_PRECISION"] = "{precision.value}"'
        yield before(plan.program, NAME, plan.program.statement_of(call), line, ("os", "import os"))
    yield replace(plan.program, NAME, call, f"{plan.program.source(function)}({arguments})")


def _accelerator(plan: Plan, call: ast.Call) -> Iterator[Edit | Diagnostic]:
    given = keywords_of(call)
    if None in given:
        yield plan.program.diagnose(
            NAME, "error", call, sentence("what the Accelerator is given cannot be seen"),
            help=sentence("write its arguments by name, without **"),
        )  # fmt: skip
        return
    chosen = given.get("cpu")
    values = {} if isinstance(chosen, ast.Constant) and chosen.value else {"cpu": "not torch.cuda.is_available()"}
    uses = ["torch", "import torch"]
    config = given.get("dataloader_config")
    if plan.options.batch_per_rank:
        pass
    elif "split_batches" in given:
        values["split_batches"] = "True"
    elif config is None:
        values["dataloader_config"] = SPLIT
        uses.append(CONFIGURATION)
    elif isinstance(config, ast.Call) and None not in keywords_of(config):
        yield from set_arguments(plan.program, NAME, config, {"split_batches": "True", "use_seedable_sampler": "True"})
    else:
        yield plan.program.diagnose(
            NAME, "warning", config, sentence("the batch size counts for each process"),
            help=sentence("add split_batches=True to this configuration, so that it is that of all of them"),
        )  # fmt: skip
    yield from set_arguments(plan.program, NAME, call, values, tuple(uses))


def _loop_of(plan: Plan, call: ast.AST) -> ast.For | None:
    return next((a for a in plan.program.ancestors(call) if isinstance(a, ast.For)), None)


def _told(plan: Plan, loop: ast.For, calls: list[ast.Call]) -> Iterator[Edit]:
    """Where the loop stands: after each batch, and where the loop around it counts epochs, before and after each."""
    losses = [c.args[0].id for c in calls if c.args and isinstance(c.args[0], ast.Name)]
    source = loop.iter
    while isinstance(source, ast.Call) and source.args:  # enumerate(loader), tqdm(loader)
        source = source.args[0]
    parts = [f"len({plan.program.source(source)})"] if isinstance(source, ast.Name | ast.Attribute) else []
    parts += [f"{name}={name}" for name in dict.fromkeys(losses)]
    step = next(s for s in reversed(loop.body) if any(_steps(n) or n in calls for n in ast.walk(s)))
    line = f"{plan.naming('report_step')}({', '.join(parts)})"
    yield after(plan.program, NAME, step, line, ("report_step",))
    epochs = _loop_of(plan, loop)
    if epochs is not None and isinstance(epochs.target, ast.Name) and loop in epochs.body:
        yield from _epochs(plan, epochs)


def _own(plan: Plan, loop: ast.For) -> Iterator[Diagnostic]:
    """Accelerate puts numbers together where it is asked to."""
    calls = [n for n in plan.nodes() if isinstance(n, ast.Call)]
    asked = any(isinstance(c.func, ast.Attribute) and c.func.attr in GATHERS for c in calls)
    function = plan.program.function_of(loop)
    shown = any(_shows(plan, c) for c in calls if plan.program.function_of(c) is function)
    if shown and not asked:
        yield plan.program.diagnose(
            NAME, "note", loop, sentence("what is shown of these batches is rank 0's own, from its share of the data"),
            help=sentence("put it together with the accelerator's gather_for_metrics() or reduce()"),
        )  # fmt: skip


def _shows(plan: Plan, call: ast.Call) -> bool:
    own = isinstance(call.func, ast.Attribute) and call.func.attr in ("print", "log", "append")
    return own or (qualified(call.func, plan.flow.imports) or "") in SHOWS | LOGS


def _epochs(plan: Plan, loop: ast.For) -> Iterator[Edit]:
    counted = loop.iter if isinstance(loop.iter, ast.Call) and len(loop.iter.args) == 1 else None
    total = f", {plan.program.source(counted.args[0])}" if counted and ast.unparse(counted.func) == "range" else ""
    assert isinstance(loop.target, ast.Name)
    line = f"{plan.naming('epoch_begins')}({loop.target.id}{total})"
    yield before(plan.program, NAME, loop.body[0], line, ("epoch_begins",))
    if not isinstance(loop.body[-1], ast.Break | ast.Continue | ast.Return | ast.Raise):
        stop = f"if {plan.naming('stop_asked')}():\n    break"
        yield after(plan.program, NAME, loop.body[-1], stop, ("stop_asked",))


def _steps(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step"
