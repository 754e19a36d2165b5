"""Where a batch that comes from no loader is split: right before the step that trains on it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from nbddp.analysis.reading import Reading
from nbddp.analysis.slicing import all_arguments
from nbddp.analysis.splitting.batches import drawn_inside, is_drawn
from nbddp.analysis.splitting.cuts import split_of
from nbddp.analysis.splitting.origins import reads_of
from nbddp.analysis.splitting.own_parameters import learned, moves_no_model
from nbddp.analysis.splitting.regions import (
    LOOPS,
    Definition,
    Region,
    Scope,
    given_to,
    goes_through_loader,
    regions,
    run_by,
    scope_of,
    stored,
)
from nbddp.analysis.splitting.roots import Root, comes_out, roots
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import CallFact, Loop, Split, backward_of

Choice = Callable[[Reading, Scope, ast.AST | None, list[ast.Call]], list[ast.Call]]  # among the calls of models


def unshared(plan: Reading) -> list[ast.Call]:
    """Calls of backward() in loops that draw from no loader; all of them, where none is in a loop.

    A single one beside such loops is a look at gradients: of the same data it is the same anywhere. So is, beside what
    trains, one in a function that takes no step and gives nothing to those who call it, or helps a step of theirs.
    """
    found = []
    looks = {f for f in plan.callers if _only_looks(plan, f) or _helps(plan, f)}
    by_loader = {f.node for f in plan.roles.batch_loops}  # and not where one batch of another is looked at
    for call in plan.facts.backward:
        loops = [plan.facts.loops[n] for n in plan.facts.calls[call].loops]
        split = any(f.loaders or (f.next_of and f.node in by_loader) for f in loops)
        alike = _is_an_exercise(plan, call) or moves_no_model(plan, call)
        if not split and (loops or not _training(plan)) and not alike:
            found.append(call)
    found.sort(key=lambda c: (plan.program.function_of(c) in looks, plan.program.span(c)))
    trains = [c for c in found if plan.program.function_of(c) not in looks]
    shared = any(f.backward and (f.loaders or f.next_of) for f in plan.facts.loops.values())
    return trains if trains or shared else found


def _only_looks(plan: Reading, function: ast.AST) -> bool:
    steps = any(f.optimizers and plan.program.function_of(f.node) is function for f in plan.facts.calls.values())
    return not steps and all(isinstance(plan.program.parents[c], ast.Expr) for c in plan.callers.get(function, ()))


def _helps(plan: Reading, function: ast.AST) -> bool:
    """`delta = attack(model, x, y)` in a step that itself goes back, and moves the model."""
    inside = {*walk(function)}
    around = {n for c in plan.callers.get(function, ()) for n in plan.facts.calls[c].loops}
    moving = {n for f in plan.facts.calls.values() if f.optimizers and f.node not in inside for n in f.loops}
    others = {n for b in plan.facts.backward - inside for n in plan.facts.calls[b].loops}
    steps = any(f.optimizers for f in plan.facts.calls.values() if f.node in inside)
    return not steps and bool(around & moving & others)


def _is_an_exercise(plan: Reading, call: ast.Call) -> bool:
    """It moves bare tensors, in cells before that which trains a model: each rank does it alike, on all of the data."""
    earlier = max(_cells(plan, call, frozenset()), default=plan.training_cell) < plan.training_cell
    return earlier and bool(_training_calls(plan)) and _step(plan, call, _feeding) is None


def _cells(plan: Reading, node: ast.AST, seen: frozenset[ast.AST]) -> set[int]:
    """Those from which the node is reached."""
    function = plan.program.function_of(node)
    if function is None:
        return {plan.program.cell_of(node).number}
    callers = [] if function in seen else plan.callers.get(function, [])
    return {n for c in callers for n in _cells(plan, c, seen | {function})}


def first_split(plan: Reading, call: ast.Call) -> Split | Root | None:
    """By what the model is given; a root that is one sample, where that is all there is; None where none is seen."""
    return _found_by(plan, call, _feeding) or _found_by(plan, call, _going_back)


def _found_by(plan: Reading, call: ast.Call, chosen: Choice) -> Split | Root | None:
    step = _step(plan, call, chosen)
    if step is None:
        return None if _training_calls(plan) else _by_the_loss(plan, call)
    scope, nodes, given = step
    seen: list[Root] = []
    for region in regions(plan, scope, nodes):
        seen = [r for g in given for r in roots(region, g)]
        if any(_is_of_a_loop_around(region, r) for r in seen):
            continue
        if (found := _split_by(region, nodes[-1], (r for r in seen if r.one or _drawn_here(region, r)))) is not None:
            return found
    seen = [r for r in seen if r.name is not None or not is_drawn(plan, r.node)]  # of each turn
    if seen or (found := _drawn_within(plan, nodes[:-1], nodes[-1])) is not None:
        return split_of(region, nodes[-1], seen) if seen else found
    inner = next((r for r in regions(plan, scope, nodes) if r.block), None)
    return drawn_inside(inner, nodes[-1], given) if inner is not None else None


def _is_of_a_loop_around(region: Region, root: Root) -> bool:
    """`real`, of the loader's loop or the function around a loop in which noise is drawn for it several times."""
    plan, here = region.plan, region.bound_before | region.bound_in_rest
    if region.scope is not None and not region.whole and root.name not in here:
        if any(root.name == a.arg for a in all_arguments(region.scope.args)):
            return True
    for loop in plan.program.ancestors(region.at) if root.name is not None and root.name not in here else ():
        if isinstance(loop, ast.For) and root.name in {n for s in (loop.target, *loop.body) for n in stored(s)}:
            return goes_through_loader(plan, loop)
    return False


def _split_by(region: Region, last: ast.AST, found: Iterable[Root]) -> Split | Root | None:
    """By what has been found; a root that is one sample goes before all."""
    known = [*found]
    return next((r for r in known if r.one), None) or (split_of(region, last, known) if known else None)


def _drawn_within(plan: Reading, calls: Sequence[ast.AST], last: ast.AST) -> Split | Root | None:
    """`loss = loss_of(model)`: by what the model is given there, where the function draws that itself."""
    reach, facts = _functions_with_models(plan), plan.facts.calls
    bodies = {b for c in calls if isinstance(c, ast.Call) and c in facts for b in facts[c].bodies & reach}
    for body in sorted((b for b in bodies if isinstance(b, Definition)), key=plan.program.span):
        inner = [c for c in _model_calls(plan, reach) if scope_of(plan, c)[0] is body]
        around: list[tuple[Region, list[Root]]] = []
        for region in regions(plan, body, inner):
            around.append((region, [r for g in _given(inner) for r in roots(region, g)]))
            inside = (r for r in around[-1][1] if r.one or _drawn_here(region, r))
            if (found := _split_by(region, last, inside)) is not None:
                return found
        if (found := _drawn_within(plan, inner, last)) is not None:
            return found
        if around and around[-1][1]:
            return split_of(around[-1][0], last, around[-1][1])  # all of the data
    return None


def _by_the_loss(plan: Reading, call: ast.Call) -> Split | Root | None:
    """Of parameters without a model: what the loss is computed from, right after that has been drawn."""
    loss = backward_of(call)
    scope, node = scope_of(plan, call)
    if loss is None:
        return None
    seen: list[Root] = []
    for around in regions(plan, scope, [node]):
        before = around.block[: around.block.index(around.at)]
        step = around.whole and scope is not None and not isinstance(around.at, LOOPS)  # a function of one step
        for region in [replace(around, at=at) for at in before] if step or not around.whole else [around]:
            seen = list(roots(region, loss))
            drawn = [r for r in seen if r.one or step or _drawn_here(region, r)]
            inside = (r for r in drawn if r.one or not _is_computed(region, r))
            if (found := _split_by(region, node, inside)) is not None:
                return found
    return split_of(region, node, seen) if seen else None


def _is_computed(region: Region, root: Root) -> bool:
    """`out = X @ W`: no batch that was drawn, but what has been made of all of the data."""
    made = set(learned(region.plan))
    for statement in region.block[: region.block.index(region.at)]:
        read = [n for n in run_by(region.plan, statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        if root.name in stored(statement) and any(region.plan.facts.value(n).of("instance") for n in read):
            return True
        made |= stored(statement) if any(n.id in made for n in read) else set()
    return any(isinstance(n, ast.Name) and n.id in made for n in walk(root.node))


def _drawn_here(region: Region, root: Root) -> bool:
    """Is it another batch in each turn: bound in this block, or cut out of the data by what is?"""
    if region.whole and region.scope is None:
        return False
    read = {n.id for n in walk(root.node) if isinstance(n, ast.Name)}
    turns = isinstance(region.at, LOOPS) and region.at in region.plan.program.ancestors(root.node)
    if turns and isinstance(root.node, ast.Call) and is_drawn(region.plan, root.node):
        return False  # anew in each turn: `self.draw(self.X, 8)`
    if root.name is None and read & region.bound_in_rest - region.bound_before:
        return False  # cut out by what is drawn later only
    return bool(read & (region.bound_before | region.bound_in_rest))


def _step(plan: Reading, call: ast.Call, chosen: Choice) -> tuple[Scope, list[ast.AST], list[ast.expr]] | None:
    """The innermost function that both calls the model and follows the loss back; where it does, and with what."""
    reach, others = _functions_with_models(plan), list[ast.AST]()
    scope, node = scope_of(plan, call)
    while True:
        loop = _loop_around(plan, scope, node)
        models = [c for c in _model_calls(plan, reach) if _is_within(plan, scope, loop, c)]
        callers = plan.callers.get(scope, []) if scope is not None else []
        if models and not any(_is_given_outputs(plan, c) for c in callers):
            models = chosen(plan, scope, loop, models) or models
            places = [scope_of(plan, c)[1] for c in models]
            given = [a for c in models for a in _given([c]) if not _is_for_numbers(plan, c, a)]
            return scope, [*sorted([*places, *others], key=plan.program.span), node], given
        if (met := _where_they_meet(plan, callers)) is None:
            return None
        scope, (*others, node) = met


def _where_they_meet(plan: Reading, callers: Sequence[ast.Call]) -> tuple[Scope, list[ast.AST]] | None:
    """Of `step(a_loss)` here and `step(b_loss)` there the innermost function that leads to both, and where in it."""
    above = [_above(plan, call) for call in callers]
    common = [scope for scope in above[0] if all(scope in one for one in above)] if above else []
    if not common:
        return None
    scope = common[0]
    places = sorted((one[scope] for one in above), key=plan.program.span)
    around = [frozenset(_loops_of(plan, scope, place)) for place in places]
    nested = min(around, key=len) <= frozenset.intersection(*around)
    return (scope, places) if nested else None  # two loops beside each other are two trainings


def _above(plan: Reading, call: ast.Call) -> dict[Scope, ast.AST]:
    """The functions around it, as far as one alone leads to the next, and where in each."""
    found: dict[Scope, ast.AST] = {}
    waiting = [call]
    while waiting:
        scope, node = scope_of(plan, waiting[0])
        if scope in found:
            break
        found[scope] = node
        callers = plan.callers.get(scope, []) if scope is not None else []
        waiting = callers if len({scope_of(plan, c)[0] for c in callers}) == 1 else []
    return found


def _given(calls: Iterable[ast.Call]) -> list[ast.expr]:
    given = [a for c in calls for a in (*c.args, *(k.value for k in c.keywords))]
    return [a.value if isinstance(a, ast.Starred) else a for a in given]


def _is_for_numbers(plan: Reading, call: ast.Call, given: ast.expr) -> bool:
    """`def physics(table, xt, model)`, which reads `table["x"].max()` alone of the table."""
    read = reads_of(plan, call, given)
    return bool(read) and all(_in_a_number(plan, n) for n in read)


def _in_a_number(plan: Reading, name: ast.Name) -> bool:
    around = takewhile(lambda n: isinstance(n, ast.expr), plan.program.ancestors(name))
    single = next((n for n in around if isinstance(n, ast.Call) and plan.facts.value(n).shape == ()), None)
    return single is not None and {n.id for n in walk(single) if isinstance(n, ast.Name)} == {name.id}


def _is_given_outputs(plan: Reading, call: ast.Call) -> bool:
    """`compute_loss(model(xb), yb)`, which goes on with a part of the model: the batch is what went in before."""
    scope, node = scope_of(plan, call)
    around = next((r for r in regions(plan, scope, [node]) if r.block), None)
    if around is None:
        return False
    chain = chain_of(plan) - {call}  # `step = train(x, step)`: what it has itself given in the turn before
    region = replace(around, at=around.block[0], chain=chain)
    return any(comes_out(region, a) for a in _given([call]))


def _feeding(plan: Reading, scope: Scope, loop: ast.AST | None, models: list[ast.Call]) -> list[ast.Call]:
    """Those of which a loss is made that is followed back: not a look at other data in between."""
    around: ast.AST = loop or scope or plan.program.tree
    waiting = [loss for c in plan.facts.backward if c in {*walk(around)} and (loss := backward_of(c)) is not None]
    calls = set[ast.AST]()
    while waiting:
        for part in {*walk(waiting.pop())} - calls:
            calls.add(part)
            if isinstance(part, ast.Name):
                waiting += given_to(plan, [around], part)
    return [c for c in models if c in calls]


def _going_back(plan: Reading, scope: Scope, loop: ast.AST | None, models: list[ast.Call]) -> list[ast.Call]:
    """`train_critic(x, fake.detach())`, which goes back itself, where the others are given noise alone."""
    return [c for c in models if not plan.facts.backward.isdisjoint(run_by(plan, c))]


def _functions_with_models(plan: Reading) -> set[ast.AST]:
    """Functions of the notebook in which a model is called to be trained, or that call such a function."""
    found: set[ast.AST] = {f for c in _training_calls(plan) if (f := scope_of(plan, c)[0]) is not None}
    while True:
        more = {f for one in found for c in plan.callers.get(one, ()) if (f := scope_of(plan, c)[0]) is not None}
        if more <= found:
            return found
        found |= more


def _training_calls(plan: Reading) -> list[ast.Call]:
    """Of the models that are trained; of parts of one where it is never called itself."""
    whole = [c for m in plan.roles.models for c in (*m.forward_calls, *m.bypasses)]
    parts = [] if whole else [f for f in _of_own_methods(plan) if f.grad and _calls_model(f)]
    return whole or [f.node for f in parts if f.loops & _training(plan) or not _training(plan)]


def _of_own_methods(plan: Reading) -> list[CallFact]:
    """Calls in a method of the model itself that trains it, and in those that it calls for that."""
    bodies: set[ast.AST | None] = {plan.program.function_of(c) for c in plan.facts.backward}
    while True:
        here = [f for f in plan.facts.calls.values() if plan.program.function_of(f.node) in bodies]
        more = {b for f in here if not _calls_model(f) for b in f.bodies}
        if more <= bodies:
            return here
        bodies |= more


def _calls_model(fact: CallFact) -> bool:
    return any(o.kind in ("model", "submodule") for o in fact.called)


def _training(plan: Reading) -> set[Loop]:
    return {node for node, fact in plan.facts.loops.items() if fact.backward}


def _model_calls(plan: Reading, reach: set[ast.AST]) -> Iterable[ast.Call]:
    yield from (calls := _training_calls(plan))
    own = {f.node for f in _of_own_methods(plan)} if any(plan.facts.calls[c].in_forward for c in calls) else set()
    for fact in plan.facts.calls.values():
        if fact.bodies & reach and fact.grad and (not fact.in_forward or fact.node in own - {*calls}):
            yield fact.node


def _loop_around(plan: Reading, scope: Scope, node: ast.AST) -> ast.AST | None:
    return next(_loops_of(plan, scope, node), None)


def _loops_of(plan: Reading, scope: Scope, node: ast.AST) -> Iterator[ast.AST]:
    """The loops of the function that a node is in, from the innermost outwards."""
    around = takewhile(lambda a: a is not scope, plan.program.ancestors(node))
    yield from (a for a in around if isinstance(a, LOOPS))


def _is_within(plan: Reading, scope: Scope, loop: ast.AST | None, call: ast.Call) -> bool:
    own, place = scope_of(plan, call)
    return own is scope and (loop is None or loop in plan.program.ancestors(place))


def chain_of(plan: Reading) -> frozenset[ast.AST]:
    """Calls that train: of models, of backward(), and of functions that lead there."""
    reach = _functions_with_models(plan) | {scope_of(plan, c)[0] for c in plan.facts.backward}
    leading = {f.node for f in plan.facts.calls.values() if f.bodies & reach and f.grad}
    return frozenset({*_training_calls(plan), *plan.facts.backward, *leading})
