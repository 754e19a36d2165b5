"""Run loops: each body until a turn leaves what it has met."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import takewhile

from nbddp.analysis.evaluator.expressions import evaluate
from nbddp.analysis.evaluator.iteration import (
    DEEPEST,
    as_often_as,
    counted_sample,
    counts_samples,
    drawn_from,
    is_cut,
    is_indirect,
    iterate,
    leave_samples,
    literal_elements,
    loaders_in,
    of_this_turn,
    yields,
)
from nbddp.analysis.evaluator.picking import go_one_by_one
from nbddp.analysis.evaluator.statements.bindings import assign
from nbddp.analysis.slicing import inside
from nbddp.analysis.syntax import names_in, walk
from nbddp.analysis.values import (
    ANYTHING,
    EARLIER,
    ITEMS,
    Active,
    Env,
    Extent,
    Left,
    Loop,
    LoopFact,
    Machine,
    Obj,
    State,
    Value,
    copies,
    decided,
    is_uneven,
    iterated,
    join_states,
    jumped,
    last_finding,
    marked,
    restore,
    spread,
    state_of,
)

MOST = 16  # turns over what is written out, of loops in each other
ENDS = ast.Continue | ast.Break | ast.Return | ast.Raise | ast.Try
TURNS = 5  # what has come so far through names has come everywhere: `older = old; old = loss`


def enter(m: Machine, node: Loop, iterable: Value | None, source: ast.expr | None) -> LoopFact:
    fact = m.facts.loops.setdefault(node, LoopFact(node))
    fact.parents.update(a.fact.node for a in m.loops)
    fact.function = m.frame.node
    m.count_anew(node)
    names = m.visible()
    fact.sometimes.update(fact.names.keys() ^ names.keys() if fact.names else ())
    fact.names.see_all(names)
    if iterable is not None and source is not None:
        loaders = loaders_in(m, iterable)
        fact.loaders |= loaders
        fact.loader_nodes |= _loader_nodes(m, source)
        fact.indirect |= loaders if is_indirect(m, iterable) else set()
        fact.cut |= is_cut(m, iterable)
        fact.lazy |= yields(node)
        fact.named |= _names_things(m, iterable)
        m.draw(loaders)
        fact.foreign |= iterated(m, iterable)
        known = _is_known(m, iterable)
        fact.opaque |= not known and not iterable.varies and not m.facts.counts(source)
    return fact


def _names_things(m: Machine, iterable: Value) -> bool:
    """A list of phases, rates or models, a dictionary: its turns are no epochs."""
    inside = literal_elements(m, iterable) or ([m.elements(iterable)] if iterable.of("list") else [])
    parts = [part for value in inside for part in value.items or (value,)]
    return bool(iterable.of("dict")) or any(isinstance(p.const, str | float) or p.objs - p.of("counter") for p in parts)


def _is_known(m: Machine, value: Value, depth: int = 0) -> bool:
    """Is it seen what the loop draws from, through `enumerate` and bars?"""
    wrapped = [inner for o in value.of("iterator") if (inner := m.get(o, "of")) is not None]
    things = value.objs - value.of("foreign")
    if any(m.facts.counts(o.node) for o in value.of("iterator")):
        return True
    if wrapped and things == value.of("iterator") and depth < DEEPEST:
        return any(_is_known(m, inner, depth + 1) for inner in wrapped)
    return bool(things or value.items) or value.const is not None


def _loader_nodes(m: Machine, source: ast.expr) -> set[ast.expr]:
    """The outermost expressions in a loop's iterable that are loaders themselves; through names of wrappers."""
    if m.facts.value(source).of("loader"):
        return {source}
    found: set[ast.expr] = set()
    if isinstance(source, ast.Call):
        for part in [*source.args, *(k.value for k in source.keywords)]:
            found |= _loader_nodes(m, part)
        return found
    for obj in m.facts.value(source).of("iterator"):
        if isinstance(obj.node, ast.Call):
            found |= _loader_nodes(m, obj.node)
    return found


def _turns(
    m: Machine, fact: LoopFact, one: Callable[[Active], None], loaders: set[Obj]
) -> tuple[bool, frozenset[Left]]:
    """Run a body until what an iteration leaves is what it met; after a loop it may also not have run.

    Gives whether it runs over shares of these loaders, and how some ranks may have broken off.
    """
    shares, around = _draws_shares(m, fact.node, loaders), m.left
    backward, unsure, broken_off = False, False, list[State]()
    outer, m.jumps = m.jumps, []
    for turn in range(TURNS):
        before, state, found, kept = copies(m), state_of(m), last_finding(), _of_fields(m)
        deals = shares and turn > 0 and not (fact.backward or fact.lazy)
        active = Active(fact, shares, deals, m.context.conditions, m.is_untaped())
        m.loops.append(active)
        one(active)
        m.loops.pop()
        m.left = around | {one for one in m.left if one.by is not ast.Continue}
        backward, unsure = backward or active.backward, unsure or active.unsure
        loaders = loaders | active.next_of
        after = join_states([before, copies(m), *jumped(m, ast.Continue)])
        broken_off += jumped(m, ast.Break)
        restore(m, after)
        deals = shares and not (fact.backward or fact.lazy)
        if turn and _extents(after) == _extents(before) and _of_fields(m) == kept:
            break
        bound = m.frame.local.keys() - before[1][-1].keys() - m.frame.missed  # before they are read: in each turn
        if last_finding() is found and state_of(m, bound) == state and not deals:
            break  # the second turn would find what the first one found
    restore(m, join_states([copies(m), *broken_off]))
    m.jumps = outer + m.jumps
    note_use(fact, loaders, backward, unsure)
    broken = frozenset(one for one in m.left - around if one.by is ast.Break)
    m.left -= broken
    return shares, broken


def _extents(state: tuple[Env, list[Env]]) -> list[dict[str, Extent]]:
    return [{name: spread(value) for name, value in env.items()} for env in (state[0], *state[1])]


def _of_fields(m: Machine) -> dict[tuple[Obj, str], Extent]:
    return {place: spread(value) for place, value in m.facts.fields.items()}


def _draws_shares(m: Machine, loop: Loop, loaders: set[Obj]) -> bool:
    if loop in m.assumed.mixed:
        return bool(loaders & m.assumed.mixed[loop])
    return bool(loaders) and loop not in m.assumed.whole


def note_use(fact: LoopFact, loaders: set[Obj], backward: bool, unsure: bool) -> None:
    """What a loop that has been run does with its loaders this time: it watches, trains, or perhaps trains."""
    seen = fact.watched if not backward else fact.perhaps if unsure else fact.trained
    seen |= loaders


def run_for(m: Machine, node: ast.For | ast.AsyncFor) -> None:
    iterable = evaluate(m, node.iter)
    fact = enter(m, node, iterable, node.iter)
    before, loaders = m.varying_places(), loaders_in(m, iterable)
    if loaders and not m.sharing() and not _draws_shares(m, node, loaders):
        _made_beside(m, node)
    uneven = is_uneven(m.facts, iterable)
    behind = m.context.behind and not uneven
    one_by_one, last = go_one_by_one(m, node), dict[str, Value | None]()
    targets = sorted(_surely_bound(node)) if drawn_from(m, iterable) and not fact.lazy else []
    with (
        as_often_as(m, iterable, node.iter),
        m.within(own_turns=m.context.own_turns or uneven, varying=m.context.varying or uneven, behind=behind),
    ):

        def one(active: Active) -> None:
            if one_by_one:
                _note_earlier(m, node)
            written = _told_apart(m, node, iterable)
            with m.within(written=m.context.written * max(1, len(written))):
                for value in written or [element(m, iterable, node, active)]:
                    assign(m, node.target, value)
                    m.steps.block(m, node.body)
            last.update((name, m.lookup(name)) for name in targets)

        shares, broken = _turns(m, fact, one, loaders)
        _keep_last(m, last)
        leave_samples(m, node)
    steps = fact.backward and m.facts.draws_itself(fact)
    if (fact.loaders or steps) and not fact.lazy and (shares or node not in m.assumed.mixed):
        m.varying_before = before
        m.steps.leave_loop(m, fact)
    _run_else(m, node, broken)


def _run_else(m: Machine, loop: ast.For | ast.AsyncFor | ast.While, broken: frozenset[Left]) -> None:
    """By those ranks that nothing has led out; who has broken off keeps what there was."""
    before = copies(m)
    with m.arrived(broken):
        m.steps.block(m, loop.orelse)
    breaks = any(isinstance(n, ast.Break) for n in inside(loop.body))
    if loop.orelse and breaks:
        restore(m, join_states([before, copies(m)]))


def _surely_bound(loop: ast.For | ast.AsyncFor) -> set[str]:
    """In each turn, whatever comes: what it is given, and what is set before a turn may end."""
    first = takewhile(lambda s: not any(isinstance(n, ENDS) for n in walk(s)), loop.body)
    return names_in(loop.target).union(*(names_in(t) for s in first if isinstance(s, ast.Assign) for t in s.targets
                                         if not isinstance(t, ast.Subscript | ast.Attribute)))  # fmt: skip


def _keep_last(m: Machine, last: Mapping[str, Value | None]) -> None:
    """A loader has a batch: after the loop its names hold the last one, and not what they held before."""
    for name, value in last.items():
        if value is not None:
            m.set_plain(name, value)


def _note_earlier(m: Machine, loop: ast.For | ast.AsyncFor) -> None:
    """What a turn over samples finds in a name that it binds anew comes from those before."""
    bound = {n.id for n in inside(loop.body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for name in sorted(bound):
        value = m.frame.local.get(name)
        if value is not None and value.extent is Extent.SAMPLES and not value.of("list"):
            m.frame.local[name] = marked(value, EARLIER)


def _told_apart(m: Machine, node: ast.For | ast.AsyncFor, iterable: Value) -> list[Value]:
    """The turns that are run one by one, as those over phases: not all of a search through a grid."""
    found = literal_elements(m, iterable)
    numbers = all(type(value.const) in (int, float) for value in found)
    if len(found) * m.context.written > MOST or (numbers and not _decides(node)):
        return []
    return found


def _decides(node: ast.For | ast.AsyncFor) -> bool:
    """Does a condition in the loop ask of what its turn is given?"""
    own = {n.id for n in walk(node.target) if isinstance(n, ast.Name)}
    tests = (n.test for n in inside(node.body) if isinstance(n, ast.If | ast.While | ast.IfExp))
    subjects = (n.subject for n in inside(node.body) if isinstance(n, ast.Match))
    return any(isinstance(n, ast.Name) and n.id in own for test in (*tests, *subjects) for n in walk(test))


def _made_beside(m: Machine, loop: ast.For | ast.AsyncFor) -> None:
    """Hidden states in an evaluation on all of the data are of its batches, whatever share of the number sized them."""
    read = {n.id for n in inside(loop.body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    for name in sorted(read):
        value = m.lookup(name)
        if value is not None and spread(value) is Extent.SAMPLES:
            m.set_plain(name, value.with_extent(Extent.REPEATED))


def element(m: Machine, iterable: Value, node: ast.AST, active: Active) -> Value:
    """What one turn gets; the counter of a dealt-out loop differs between ranks, that of a shared one does not."""
    value = of_this_turn(m, iterate(m, iterable, node), node)
    whole = bool(active.fact.loaders) and not active.shares
    if value.items and value.items[0].of("counter"):
        counter, *rest = value.items
        counter = replace(counter, extent=Extent.VARYING) if active.deals else counter
        return replace(value, items=(counter, *(_of_all(m, r, node) if whole else r for r in rest)))
    over = getattr(node, "iter", node)
    if not value.items and counts_samples(m, over):
        return counted_sample(m, over)
    if value == ANYTHING and m.facts.counts(over):
        return replace(value, sources=frozenset({over}), number=m.facts.numbers(over))  # from 0 on, or another
    return _of_all(m, value, node) if whole else value


def _of_all(m: Machine, value: Value, loop: ast.AST) -> Value:
    """Of an evaluation on all of the data: the lists in it are others than those that a training gets."""
    holders = {o: Obj(o.kind, o.node, o.name, o.owner, loop) for o in value.of(*ITEMS)}
    for obj, whole in holders.items():
        for name, inner in m.facts.fields.of(obj) if obj is not whole else ():
            m.put(whole, name, _of_all(m, inner, loop) if inner.varies and obj not in inner.objs else inner)
    return replace(value, objs=frozenset(holders.get(o, o) for o in value.objs)).with_extent(Extent.REPEATED)


def run_while(m: Machine, node: ast.While) -> None:
    fact = enter(m, node, None, None)

    def one(active: Active) -> None:
        with decided(m, node.test, evaluate(m, node.test)):
            m.steps.block(m, node.body)

    _, broken = _turns(m, fact, one, set())
    if fact.next_of:
        m.steps.leave_loop(m, fact)
    _run_else(m, node, broken)
