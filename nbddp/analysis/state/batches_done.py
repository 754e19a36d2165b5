"""The loop over batches in whose middle a checkpoint can be written, and what it has come to by then."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from nbddp.analysis.reading import Reading
from nbddp.analysis.state.iteration_effects import turn_of
from nbddp.analysis.state.loop_carried import carried
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import WHOLE, Extent, LoopFact, spread
from nbddp.sentence import NOTHING, Sentence, sentence
from nbddp.watch_points import drawn_from

READ_ONLY = ("zero_grad", "get_last_lr", "get_lr", "state_dict")
HOW = {Extent.MEAN: "mean", Extent.SUM: "sum"}


@dataclass(frozen=True)
class BatchLoop:
    """Where it is, what it draws from, and what it adds up."""

    node: ast.For
    loader: ast.expr
    numbered: ast.Call | None  # `enumerate(loader)`: its numbers go on as well
    sums: tuple[tuple[str, str], ...]  # expressions, and how those of all ranks make up one: mean, sum, same, or none


def batches_done(plan: Reading, epochs: LoopFact) -> BatchLoop | Sentence:
    """The only one within this loop over epochs; or why an epoch cannot be gone on with in its middle."""
    inside = [fact for fact in plan.roles.batch_loops if epochs.node in fact.parents]
    if len(inside) != 1 or not isinstance(inside[0].node, ast.For):
        return sentence("an epoch has more than one loop over batches, or none that is a for loop")
    (fact,) = inside
    assert isinstance(fact.node, ast.For)
    if not _once_an_epoch(plan, fact, epochs) or fact.node.orelse:
        return sentence("the loop over batches runs several times in an epoch")
    loader, numbered = drawn_from(fact.node.iter)
    if loader not in fact.loader_nodes or fact.next_of or fact.indirect:
        return sentence("its batches do not come straight from one loader")
    if reason := _cannot_stop(plan, fact) or _cannot_begin(plan, fact, epochs):
        return reason
    found = carried(plan, fact, own=True)
    if lost := (*found.lost, *found.things):
        return sentence("its batches change what a checkpoint does not contain: %1", ", ".join(map(repr, lost)))
    return BatchLoop(fact.node, loader, numbered, tuple((text, _how(plan, fact, text)) for text in found.values))


def _once_an_epoch(plan: Reading, fact: LoopFact, epochs: LoopFact) -> bool:
    """Directly, or in a function that is called once in the loop over epochs and from nowhere else."""
    function = plan.program.function_of(fact.node)
    if function is plan.program.function_of(epochs.node):
        return fact.parents == {epochs.node, *epochs.parents}
    calls = [call for call in plan.facts.calls.values() if function in call.bodies]
    return fact.parents == {epochs.node, *epochs.parents} and len(calls) == 1


def _cannot_stop(plan: Reading, fact: LoopFact) -> Sentence:
    """Gradients that are still added up, and places in streams, are in no checkpoint."""
    body = [n for s in fact.node.body for n in walk(s)]  # type: ignore[union-attr]
    if any(isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "next" for n in body):
        return sentence("its batches also come from next()")
    steps = [c.node for c in plan.facts.calls.values() if c.optimizers and fact.node in c.loops]
    for step in steps:
        between = [a for a in plan.program.ancestors(step) if isinstance(a, ast.If | ast.For | ast.While | ast.Try)]
        own = [a for a in between if a is not fact.node and fact.node in plan.program.ancestors(a)]
        if own and plan.program.function_of(step) is plan.program.function_of(fact.node):
            return sentence("not every batch makes a step, and gradients that are still added up are in no checkpoint")
    return NOTHING


def _cannot_begin(plan: Reading, fact: LoopFact, epochs: LoopFact) -> Sentence:
    """What stands before the batches is run again, on what the checkpoint holds: it may not change that once more."""
    before = [s for loop, until in ((epochs.node, fact.node), (None, fact.node)) for s in _before(plan, loop, until)]
    turn = turn_of(plan, before, plan.program.function_of(epochs.node))
    values = carried(plan, epochs).values
    held = {o for n in values if n in epochs.names for o in epochs.names[n].objs}
    names = {f".{a}" for key, (_, a) in turn.attributes.items() if key in turn.effects.may_bind}
    changed = [v for v in values if v in turn.effects.may_bind or v.endswith(tuple(names))]
    if changed or held & turn.filled:
        return sentence("the epoch changes what it carries over before its batches: %1", ", ".join(changed or values))
    moved = plan.roles.optimizers | plan.roles.schedulers
    for node in (n for s in before for n in walk(s)):
        call = plan.facts.calls.get(node) if isinstance(node, ast.Call) else None
        method = getattr(node.func, "attr", "") if isinstance(node, ast.Call) else ""
        stepped = call is not None and bool(call.receivers & moved) and method not in READ_ONLY
        if stepped or (isinstance(node, ast.AugAssign) and not isinstance(node.target, ast.Name)):
            return sentence("the epoch changes an optimizer or a schedule before its batches")
    return NOTHING


def _before(plan: Reading, loop: ast.AST | None, until: ast.AST) -> list[ast.stmt]:
    """The statements of this loop, or else of the batches' own function, that are run before they are."""
    if loop is None:
        function = plan.program.function_of(until)
        body = function.body if isinstance(function, ast.FunctionDef) else []
        last = until
    else:
        body, last = loop.body, until  # type: ignore[attr-defined]
        calls = [c.node for c in plan.facts.calls.values() if plan.program.function_of(until) in c.bodies]
        if not any(until is n for s in body for n in walk(s)) and calls:
            last = calls[0]
    place = next((i for i, s in enumerate(body) if any(n is last for n in walk(s))), 0)
    return list(body[:place])


def _how(plan: Reading, fact: LoopFact, text: str) -> str:
    if (reduction := plan.facts.reductions.get((fact.node, text))) is not None:
        return reduction.how if reduction.how in ("mean", "sum") else ""
    nodes = [n for n in walk(fact.node) if isinstance(n, ast.expr) and ast.unparse(n) == text]
    extents = {spread(plan.facts.value(n)) for n in nodes}
    if extents and extents <= set(WHOLE):
        return "same"
    return HOW[extents.pop()] if len(extents) == 1 and extents <= HOW.keys() else ""
