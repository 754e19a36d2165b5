"""States of recurrent layers that go from batch to batch: the first ones are made for the whole batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from dataclasses import replace

from nbddp.analysis.library import effect_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.slicing import Function
from nbddp.analysis.splitting.origins import (
    STATE,
    begins_states,
    detached,
    has_size,
    sizes_of_state,
    stateful,
    written_sizes,
)
from nbddp.analysis.splitting.regions import Region, bound, is_split, region_at, run_by, stored
from nbddp.analysis.syntax import names_in, walk
from nbddp.analysis.values import ITEMS, CallFact, Literal, Split, Value, contents

ROWS = ("samples", "columns")


def with_states(plan: Reading, split: Split) -> Split:
    """Each rank begins with those of its samples, and then goes on with what its model has given."""
    region = region_at(plan, split.at)
    names = {name for name in (*_carried(region), *_given_on(region)) if name not in split.names}
    made = {name: {value for value in _first(region, name) if _is_made(plan, value)} for name in names}
    read = [n for s in region.rest for n in walk(s) if isinstance(n, ast.Name) and not made.get(n.id, {n})]
    inside = {n for s in region.rest for n in walk(s)}  # states of an evaluation
    begun = {state for name in read for state in _begun(plan, name)} - inside - _drawn(region, split, inside)
    first = set[ast.expr]().union(*made.values(), (s for s in begun if not begun & {*plan.program.ancestors(s)}))
    return replace(split, states=split.states | first | {*_made_inside(region, split), *_kept(region)})


def _begun(plan: Reading, name: ast.Name) -> Iterator[ast.expr]:
    """`hidden = model.init_hidden(size)` before the loop, of `h = tuple([each.data for each in hidden])` in it."""
    for node in plan.bindings.made_of(name, through_calls=False):
        given = isinstance(plan.program.parents.get(node), ast.Assign | ast.IfExp)
        if given and isinstance(node, ast.Call | ast.Tuple) and begins_states(plan, node) and _is_made(plan, node):
            yield node


def _kept(region: Region) -> Iterator[ast.expr]:
    """`model.hidden = model.init_hidden()`: not of an evaluation, behind the step or in another loop."""
    plan, around = region.plan, {*region.plan.program.ancestors(region.at)}
    batches = next((a for a in plan.program.ancestors(region.at) if isinstance(a, ast.For | ast.While)), region.at)
    inside = {n for s in region.rest for n in walk(s)}
    around |= {loop for call in plan.facts.backward & inside for loop in plan.facts.calls[call].loops}
    for value in _put_in_fields(plan):
        here = plan.program.function_of(value) is region.scope
        behind = here and plan.program.span(value) > plan.program.span(batches) and value not in {*walk(batches)}
        apart = behind or any(fact.no_grad or fact.loops - around for fact in _made_by(plan, value))
        if not apart and begins_states(plan, value) and _is_made(plan, value):
            yield value


def _made_by(plan: Reading, value: ast.expr) -> list[CallFact]:
    return [fact for n in walk(value) if isinstance(n, ast.Call) and (fact := plan.facts.calls.get(n))]


def _put_in_fields(plan: Reading) -> Iterator[ast.expr]:
    """What a field gets, of a layer that is given `self.hidden`."""
    fields = {n.attr for call in stateful(plan) for n in walk(call.args[1]) if isinstance(n, ast.Attribute)}
    for node in (n for n in plan.nodes() if isinstance(n, ast.Assign)):
        found = bound(plan.program, node)
        yield from (value for target, value in found if isinstance(target, ast.Attribute) and target.attr in fields)


def first_states(plan: Reading) -> dict[ast.Call, ast.expr]:
    """`torch.zeros(1, n, 8)`, with which a recurrent layer begins, and what says of how many samples it has them."""
    given = [*(call.args[1] for call in stateful(plan)), *_put_in_fields(plan)]
    made = (part for one in given for part in detached(plan, one) if isinstance(part, ast.Call))
    return {part: sizes[1] for part in made if len(sizes := sizes_of_state(plan, part)) == len(STATE)}


def _drawn(region: Region, split: Split, inside: Set[ast.AST]) -> set[ast.AST]:
    """What the batch is made of, `data` of `data = torch.randn(36, 7, 3)`: a model gives its states for that too."""
    names = (n for n in inside if isinstance(n, ast.Name) and n.id in split.names)
    values = {one.value for name in names for one in region.plan.bindings.of(name)} - inside
    return {part for value in values if value for part in region.plan.bindings.made_of(value, through_calls=False)}


def _made_inside(region: Region, split: Split) -> Iterator[ast.Call]:
    """`h = torch.zeros(batch_size, hidden)`, `losses = torch.zeros(batch_size)` in a function of the step."""
    held = [n for s in region.rest for n in walk(s) if isinstance(n, ast.Name) and n.id in split.names]
    step = {n for s in region.rest for n in run_by(region.plan, s)}
    for call, fact in region.plan.facts.calls.items():
        inside = fact.loops and region.plan.program.function_of(call) is not region.scope
        sizes = written_sizes(region.plan, call) if inside and not split.dim else ()
        line = len(sizes) == 1 and call in step and not any(effect_of(name).draws for name in fact.names)
        if line or len(sizes) == len(ROWS):
            if any(has_size(region.plan, n, sizes[0]) for n in (*held, *split.renamed, *split.inline)):
                yield call


def made_for_all(plan: Reading, split: Split) -> ast.expr | None:
    """The same, where an evaluation of all samples comes by as well."""
    made = _made_inside(region_at(plan, split.at), split)
    return next((call for call in made if plan.facts.calls[call].no_grad), None)


def _carried(region: Region) -> Iterator[str]:
    """`output, hidden = model(data, hidden)`: given to the model, and bound to what it gives."""
    for statement in region.rest:
        for node in walk(statement):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _is_model(region.plan, node.value):
                given = [*node.value.args, *(k.value for k in node.value.keywords)]
                read = {n.id for g in given for n in walk(g) if isinstance(n, ast.Name)}
                yield from sorted(stored(node) & read)


def _given_on(region: Region) -> Iterator[str]:
    """`output, _ = model(data, states)`: what its forward gives to a recurrent layer as the states."""
    runs = [n for s in region.rest for n in walk(s) if isinstance(n, ast.Call) and _is_model(region.plan, n)]
    for inner in stateful(region.plan):
        state, forward = inner.args[1], region.plan.program.function_of(inner)
        if not isinstance(state, ast.Name) or not isinstance(forward, ast.FunctionDef):
            continue
        names = [a.arg for a in forward.args.args[1:]]
        for call in runs:
            given = [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
            yield from (value.id for name, value in given if name == state.id and isinstance(value, ast.Name))


def _is_model(plan: Reading, call: ast.Call) -> bool:
    """Also `model.forward(...)`."""
    run = any(call in (*model.forward_calls, *model.bypasses) for model in plan.roles.models)
    return (run or bool(plan.facts.value(call.func).of("model"))) and plan.facts.calls[call].grad


def _first(region: Region, name: str) -> Iterator[ast.expr]:
    """What the name is given before, in the same function; not what it is made of itself: `h = h.detach()`."""
    inside = {n for s in region.rest for n in walk(s)}
    turn = (s for s in region.block[: region.block.index(region.at)] if isinstance(s, ast.Assign))
    anew = [s for s in turn if name in stored(s) and name not in names_in(s.value)]  # then no other loop's gets there
    for node in anew or region.plan.nodes():
        if isinstance(node, ast.Assign) and region.plan.program.function_of(node) is region.scope:
            for target, value in bound(region.plan.program, node) if node not in inside else ():
                read = {n.id for n in walk(value) if isinstance(n, ast.Name)}
                if name in stored(target) and name not in read:
                    yield value


def _is_made(plan: Reading, node: ast.expr) -> bool:
    """For the whole batch: neither None, nor what the turn before has left."""
    return _is_whole(plan, plan.facts.value(node)) and not isinstance(node, ast.Constant)


def _is_whole(plan: Reading, value: Value) -> bool:
    """Also what a tuple or a list holds."""
    return not any(part.varies for part in contents(plan.facts, value, ITEMS))


def without_part(plan: Reading) -> ast.expr | None:
    """A state of the whole batch that a layer is given with a rank's samples."""
    for call in stateful(plan):
        state = plan.facts.value(call.args[1])
        given = plan.facts.value(call.args[0])  # in an evaluation too, of which each rank has all
        if given.varies and not isinstance(state.const, Literal) and _is_whole(plan, state):
            return call.args[1]
    begun = {state for split in plan.assumed.splits for state in split.states}
    steps = {f.node for f in plan.roles.batch_loops}
    for value in _put_in_fields(plan):  # for the training, and for an evaluation as well
        made = value not in begun and any(fact.loops & steps for fact in _made_by(plan, value))
        if made and begins_states(plan, value) and _is_made(plan, value):
            return value
    return None


def cut_short(plan: Reading, split: Split) -> ast.expr | None:
    """`h = h[:, : len(x)]` for a smaller batch, before a rank takes its part of that: the first are not its own."""
    region = region_at(plan, split.at)
    run = (s for s in region.block[: region.block.index(region.at)] if not isinstance(s, Function | ast.ClassDef))
    for node in (n for s in run for n in walk(s)):
        if isinstance(node, ast.Subscript) and is_split(plan, node.value):
            along = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if any(isinstance(part, ast.Slice) and part.upper is not None for part in along):
                return node
    return None
