"""Means over some samples of a batch, written as the mean over those of all ranks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.agreement import SampleMean
from nbddp.analysis.syntax import keywords_of
from nbddp.analysis.values import CallFact
from nbddp.edits import Edit, append_argument, set_arguments, wrap

NAME = "loss"
WIDTH = 120


def over_samples(plan: Plan, fact: CallFact, mean: SampleMean) -> Iterator[Edit]:
    part = "mean_over_trained_samples" if mean.evaluates else "mean_over_samples"
    if mean.by == "method":
        yield from _method(plan, fact.node, part)
    elif mean.by == "function":
        start, end = plan.program.span(fact.node.func)
        yield Edit(NAME, start, end, plan.naming(part), "text", (part,))
    else:
        yield from _loss(plan, fact.node, mean, part)


def _method(plan: Plan, call: ast.Call, part: str) -> Iterator[Edit]:
    """`losses[mask].mean()`."""
    assert isinstance(call.func, ast.Attribute)
    start, end = plan.program.span(call)
    first, last = plan.program.span(call.func.value)  # without the brackets around it
    yield Edit(NAME, start, first, f"{plan.naming(part)}(", "open", (part,))
    yield Edit(NAME, last, end, ")", "close")


def _loss(plan: Plan, call: ast.Call, mean: SampleMean, part: str) -> Iterator[Edit]:
    """`criterion(output[mask], y[mask])`, `F.cross_entropy(output, y, weights)`."""
    start, end = plan.program.span(call.func)
    if mean.function:
        yield Edit(NAME, start, end, mean.function)
    named, values = keywords_of(call).keys() | {*["weight"][: len(call.args[2:])]}, dict(mean.values)
    yield from set_arguments(plan.program, NAME, call, {n: v for n, v in values.items() if n in named})
    added = ", ".join(f"{n}={v}" for n, v in values.items() if n not in named)
    yield from [append_argument(plan.program, NAME, call, added, ())] if added else []
    longer = len(mean.function) - (end - start) if mean.function else 0
    yield from _around(plan, call, mean.weights, longer + len(added), part)


def _around(plan: Plan, call: ast.Call, weights: str, added: int, part: str) -> Iterator[Edit]:
    """On lines of their own where one would be too long."""
    start, end = plan.program.span(call)
    line = plan.program.text[plan.program.text.rfind("\n", 0, start) + 1 : end]
    inner = "\n" + line[: len(line) - len(line.lstrip())] + "    "
    fits = len(f"    {line}, {part}(, ){weights}") + added < WIDTH
    before, between, after = ("", ", ", "") if fits else (inner, f",{inner}", f",{inner[:-4]}")
    text = f"{between}{weights}" if weights else ""
    yield from wrap(plan.program, NAME, call, f"{plan.naming(part)}({before}", f"{text}{after})", (part,))
