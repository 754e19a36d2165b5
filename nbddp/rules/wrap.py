"""What it does
    Hands each model that is trained to DistributedDataParallel, as soon as it is complete: built, moved, loaded,
    frozen, with its new head. `nn.DataParallel` in the notebook gives way to it.

Why DDP needs it
    DDP averages the gradients of all ranks during `backward()`; without it each rank trains a model of its own.

Before
    model = Net().to(device)

After
    model = DDP(Net().to(device))

Declines
    Models that no optimizer trains. Models that are trained past their forward, that override `train`, or that no
    single variable holds before the training: their gradients are averaged before the step (rule `gradients`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.edit import Edit, after, replace, wrap
from nbddp.analysis.homes import Home
from nbddp.analysis.plan import Plan
from nbddp.analysis.wrapping import unused_parameters
from nbddp.diagnostics import Diagnostic

NAME = "wrap"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    yield from _data_parallel(plan)
    done: set[tuple[ast.stmt, str]] = set()
    for model, home in plan.wrapping.homes.items():
        options = ", find_unused_parameters=True" if unused_parameters(plan, model) else ""
        if home.inline is not None and home.built not in plan.preparation.first:  # where the ranks take turns
            yield from _inline(plan, home, options)
        elif (home.ready, home.name) not in done:
            done.add((home.ready, home.name))
            yield after(plan.program, NAME, home.ready, f"{home.name} = {_wrapped(plan, home, options)}", ("DDP",))


def _inline(plan: Plan, home: Home, options: str) -> Iterator[Edit]:
    assert home.inline is not None
    inner = plan.naming("sync_batchnorm") if plan.options.sync_batchnorm else ""
    to = "" if home.moved or not plan.uses_gpu else f".to({_device(plan, home)})"
    close = f"{to}{')' if inner else ''}{options})"
    opening = f"{plan.naming('DDP')}({_sync(plan) if inner else ''}"
    yield from wrap(plan.program, NAME, home.inline, opening, close, ("DDP",))


def _sync(plan: Plan) -> str:
    return "torch.nn.SyncBatchNorm.convert_sync_batchnorm("


def _wrapped(plan: Plan, home: Home, options: str) -> str:
    model = home.name if home.moved or not plan.uses_gpu else f"{home.name}.to({_device(plan, home)})"
    if plan.options.sync_batchnorm:
        model = f"{_sync(plan)}{model})"
    return f"{plan.naming('DDP')}({model}{options})"


def _device(plan: Plan, home: Home) -> str:
    inside = plan.program.function_of(home.built) is not None
    return '"cuda" if torch.cuda.is_available() else "cpu"' if inside else plan.naming("rank_device")


def _data_parallel(plan: Plan) -> Iterator[Edit | Diagnostic]:
    """`nn.DataParallel(model)` becomes `model`."""
    for call in plan.calls("torch.nn.DataParallel"):
        if not call.node.args:
            continue
        inner = call.node.args[0]
        start, end = plan.program.span(call.node)
        first, last = plan.program.span(inner)
        yield Edit(NAME, start, first, "")
        yield Edit(NAME, last, end, "")
    for node in plan.nodes():
        if isinstance(node, ast.Attribute) and node.attr == "module" and isinstance(node.value, ast.Name):
            if plan.facts.value(node.value).of("model") and _was_parallel(plan):
                yield replace(plan.program, NAME, node, node.value.id)


def _was_parallel(plan: Plan) -> bool:
    return next(plan.calls("torch.nn.DataParallel"), None) is not None
