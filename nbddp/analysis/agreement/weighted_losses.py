"""Losses whose mean over a batch counts some samples more than others, or not at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.library import effect_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.syntax import keywords_of
from nbddp.analysis.values import CallFact


def weighted_losses(plan: Reading) -> Iterator[ast.Call]:
    """By class weights, or by a label that stands for none."""
    marked = marks_ignored(plan)
    for call in plan.calls_that(lambda name: effect_of(name).by_class):
        named = keywords_of(call.node)
        positional = call.node.args[_before_weight(call) :][:1]
        given = [named[n] for n in ("weight", "ignore_index") if n in named] + positional
        sums = isinstance(how := named.get("reduction"), ast.Constant) and how.value != "mean"
        unlike = any(_may_weigh(plan, v) for v in given)
        if (unlike or (marked and "ignore_index" not in named)) and not sums:
            yield call.node


def _may_weigh(plan: Reading, given: ast.expr) -> bool:
    """Not None, and no model: `criterion(output, y, model)` is meant for a function of the notebook."""
    none = isinstance(given, ast.Constant) and given.value is None
    return not none and not plan.facts.value(given).of("model")


def _before_weight(call: CallFact) -> int:
    """How many arguments stand before the weight: the loss as a function gets output and target first."""
    return 2 if any(name.startswith("torch.nn.functional.") for name in call.names) else 0


def marks_ignored(plan: Reading) -> bool:
    """Does `-100` stand somewhere, the label that torch leaves out where nothing else is said? No `best = -100.0`.

    Or is there what puts it in: `DataCollatorForLanguageModeling`?
    """
    return any(ast.unparse(n) == "-100" for n in plan.nodes() if isinstance(n, ast.UnaryOp)) or any(
        name.startswith("transformers.DataCollatorFor") for f in plan.facts.calls.values() for name in f.names
    )
