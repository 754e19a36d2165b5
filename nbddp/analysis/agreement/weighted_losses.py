"""Losses whose mean over a batch counts some samples more than others, or not at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.library import effect_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.syntax import keywords_of
from nbddp.analysis.values import CallFact, Extent

DEPTH = 6  # of what is made of what a loader gives


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


def padded_losses(plan: Reading) -> Iterator[ast.Call]:
    """Of places that a loader fills up to the longest of its batch: that of a share is another one than that of all.

    Where these are left out of the mean, it is one by weights.
    """
    training, weighted = {f.node for f in plan.roles.batch_loops}, {*weighted_losses(plan)}
    for call, fact in plan.facts.calls.items():
        target = call.args[1] if len(call.args) == 2 and plan.facts.is_loss(call) else None  # no `ctc(…, lengths)`
        made = {call, *(o.node for o in plan.facts.value(call.func).of("loss"))}
        if target is not None and fact.loops & training and made.isdisjoint(weighted) and not plan.assumed.splits:
            if plan.facts.value(call).extent is Extent.MEAN and _is_padded(plan, target):
                yield call


def padded_inputs(plan: Reading) -> Iterator[ast.Call]:
    """Of sequences of which one model is told nothing but their places: where do they end?

    Where what it gives has labels for each place, or the sequences are packed, what is filled up is left out.
    """
    training = {f.node for f in plan.roles.batch_loops}
    if plan.assumed.splits or [*plan.calls_that(lambda name: name.endswith(".pack_padded_sequence"))]:
        return
    losses = [c for c, fact in plan.facts.calls.items() if plan.facts.is_loss(c) and fact.loops & training]
    if any(_is_padded(plan, target) for c in losses for target in c.args[1:2]):
        return
    for call in (c for role in plan.roles.models for c in role.forward_calls):
        alone = len(call.args) == 1 and not call.keywords
        if alone and plan.facts.calls[call].taped & training and _is_padded(plan, call.args[0]):
            yield call


def _is_padded(plan: Reading, node: ast.expr) -> bool:
    """`y[:, 1:].reshape(-1)` of `pad_sequence(ys)`, which a loader's own `collate_fn` gives."""
    seen, below = set[ast.AST](), [node]
    for _ in range(DEPTH):
        made = [n for one in below for n in plan.bindings.made_by(one)]
        if any(isinstance(n, ast.Call) and ast.unparse(n.func).rpartition(".")[2] == "pad_sequence" for n in made):
            return True
        below = [part for n in made if n not in seen for part in _parts(n)]
        seen |= {*made}
    return False


def _parts(made: ast.AST) -> Iterator[ast.expr]:
    """Of `torch.flatten(y)` and of `y[:, 1:].flatten()`: `y`."""
    inner = made.func if isinstance(made, ast.Call) else made
    if isinstance(inner, ast.Attribute | ast.Subscript):
        yield inner.value
    yield from made.args[:1] if isinstance(made, ast.Call) else ()


def _may_weigh(plan: Reading, given: ast.expr) -> bool:
    """Not None, and no model: `criterion(output, y, model)` is meant for a function of the notebook."""
    none = isinstance(given, ast.Constant) and given.value is None
    return not none and not plan.facts.value(given).of("model")


def _before_weight(call: CallFact) -> int:
    """How many arguments stand before the weight: the loss as a function gets output and target first."""
    return 2 if any(name.startswith("torch.nn.functional.") for name in call.names) else 0


def marks_ignored(plan: Reading) -> bool:
    """Does `-100` stand somewhere, the label that torch leaves out where nothing else is said? No `best = -100.0`."""
    return any(isinstance(n, ast.UnaryOp) and repr(plan.facts.value(n).const) == "-100" for n in plan.nodes())
