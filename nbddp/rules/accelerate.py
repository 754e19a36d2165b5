"""What it does
    Lets Accelerate train on the processes that the script starts: the accelerator splits the notebook's batches among
    them, and each process calls the function that `notebook_launcher` would start.

Why DDP needs it
    The notebook launcher forks the kernel, and hangs if the kernel has computed something before. On CPUs
    Accelerate must be told that there are several processes; otherwise each of them would train on all of the data.

Before
    accelerator = Accelerator()

After
    accelerator = Accelerator(
        cpu=not torch.cuda.is_available(),
        dataloader_config=DataLoaderConfiguration(split_batches=True, use_seedable_sampler=True),
    )

Declines
    Notebooks with their own training loop. An Accelerator whose arguments nbddp cannot see is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.library import ACCELERATE, HUGGING_FACE, effect_of
from nbddp.analysis.syntax import keywords_of, qualified, walk
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, before, mark, replace, set_arguments
from nbddp.sentence import sentence
from nbddp.watch_points import Watch

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
            NAME, "error", call, sentence("nbddp cannot see which arguments the Accelerator gets"),
            help=sentence("write the arguments by name, without **"),
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
            NAME, "warning", config,
            sentence("with this configuration the batch size is that of each process, not of all processes together"),
            help=sentence("add split_batches=True to this configuration, so that the batch is split among the "
                          "processes"),
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
    batches = f"len({plan.program.source(source)})" if isinstance(source, ast.Name | ast.Attribute) else ""
    values = tuple((name, name) for name in dict.fromkeys(losses))
    step = next(s for s in reversed(loop.body) if any(_steps(n) or n in calls for n in walk(s)))
    yield mark(plan.program, NAME, step, Watch("step", values=values, batches=batches))
    epochs = _loop_of(plan, loop)
    if epochs is not None and isinstance(epochs.target, ast.Name) and loop in epochs.body:
        yield mark(plan.program, NAME, epochs, Watch("stop"))


def _own(plan: Plan, loop: ast.For) -> Iterator[Diagnostic]:
    """Accelerate puts numbers together where it is asked to."""
    calls = [n for n in plan.nodes() if isinstance(n, ast.Call)]
    asked = any(isinstance(c.func, ast.Attribute) and c.func.attr in GATHERS for c in calls)
    function = plan.program.function_of(loop)
    shown = any(_shows(plan, c) for c in calls if plan.program.function_of(c) is function)
    if shown and not asked:
        yield plan.program.diagnose(
            NAME, "note", loop,
            sentence("the values shown here cover only rank 0's part of the data: they are not combined across ranks"),
            help=sentence("combine them with the accelerator's gather_for_metrics() or reduce()"),
        )  # fmt: skip


def _shows(plan: Plan, call: ast.Call) -> bool:
    own = isinstance(call.func, ast.Attribute) and call.func.attr in ("print", "log", "append")
    return own or effect_of(qualified(call.func, plan.flow.imports) or "").out in ("shown", "logged")


def _steps(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step"
