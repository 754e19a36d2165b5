"""Which evaluation loaders are dealt out sample by sample, by a sampler: those over which only sums are taken.

A sum over samples is the same whatever batches they come in. Where batches count (means of batches, predictions in
their order, samples padded to their batch) the batches themselves are dealt out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from nbddp.analysis.agreement.pairs import compares_samples
from nbddp.analysis.agreement.weighted_losses import weighted_losses
from nbddp.analysis.combining import uses
from nbddp.analysis.library import entry_of
from nbddp.analysis.loaders import LoaderCall, ShardedReading, can_be_named, dataset_value, loader_call, stands_twice
from nbddp.analysis.syntax import increment, walk
from nbddp.analysis.values import ASSUMED, PICKED, STATISTIC, WEIGHTED, Extent, Loop, LoopFact, Obj, spread

HELD_BY = ast.Assign | ast.keyword | ast.Return | ast.Tuple | ast.List | ast.Expr
OF_ALL = frozenset({"dataset", "batch_size"})


def loaders_by_sample(plan: ShardedReading, first: Set[ast.stmt]) -> frozenset[Obj]:
    """Where each of their passes sums over samples, and nothing looks at their batches.

    `first` are statements that one process does before the others.
    """
    if any(True for _ in weighted_losses(plan)) or any(_depends_on_batch(plan, n) for n in plan.nodes()):
        return frozenset()
    passes = [f for f in plan.facts.loops.values() if f.loaders | f.next_of]
    found = set[Obj]()
    for obj in plan.roles.evaluation_loaders - plan.sharding.loaders:
        own = [f for f in passes if obj in f.loaders | f.next_of | f.indirect]
        if _fits(plan, obj, first) and own and all(f.node in plan.dealt and _only_sums(plan, f) for f in own):
            found.add(obj)
    while True:  # one loop over several loaders, one call that builds several
        left = {o for f in passes if not f.loaders <= found for o in f.loaders & found}
        left |= {o for o in found for f in passes for other in f.loaders - found if other.node is o.node}
        if not left:
            return frozenset(found - _looked_at(plan, found))
        found -= left


def _fits(plan: ShardedReading, obj: Obj, first: Set[ast.stmt]) -> bool:
    """A plain DataLoader in the order of its data, that puts its samples together in the usual way."""
    call = loader_call(plan, obj)
    if call is None or not call.plain or obj in plan.facts.classes or not obj.name.endswith(".DataLoader"):
        return False
    if len(call.node.args) > 2 or any(k.arg is None for k in call.node.keywords):
        return False
    drawn = any(call.gives(a) for a in ("sampler", "batch_sampler", "collate_fn"))
    dropped = any(a in call.arguments and call.constant(a) is not False for a in ("shuffle", "drop_last"))
    none = "batch_size" in call.arguments and not call.gives("batch_size")
    stream = dataset_value(plan, call).of("iterable dataset")
    return not (drawn or dropped or none or stream) and _has_a_name(plan, call, first)


def _has_a_name(plan: ShardedReading, call: LoaderCall, first: Set[ast.stmt]) -> bool:
    """Or can get one; what is fetched while the loader is built stays where one process goes first."""
    named = can_be_named(plan, call) and call.statement not in first
    return stands_twice(call.arguments.get("dataset")) or named


def _only_sums(plan: ShardedReading, fact: LoopFact) -> bool:
    if not isinstance(fact.node, ast.For) or not _goes_straight(plan, fact.node):
        return False
    left = [r for (loop, _), r in plan.facts.reductions.items() if loop is fact.node]
    others = any(loop is fact.node for loop, _ in (*plan.facts.at_source, *plan.facts.unreduced))
    return not others and all(r.how == "sum" and not r.in_place and _adds_sums(plan, fact.node, r.name) for r in left)


def _goes_straight(plan: ShardedReading, loop: ast.For) -> bool:
    """Over the loader, or over a bar over it; a counter would count a rank's own batches."""
    source = loop.iter
    if isinstance(source, ast.Call) and not plan.facts.value(source).of("loader"):
        given = source.args[0] if entry_of(source, plan.flow.imports).bar and source.args else None
        return given is not None and bool(plan.facts.value(given).of("loader"))
    return bool(plan.facts.value(source).of("loader"))


def _adds_sums(plan: ShardedReading, loop: ast.For, name: str) -> bool:
    """`correct += (scores.argmax(1) == y).sum().item()`, and in no other way."""
    added = uses(plan.program, walk(loop), name).bound
    found = [increment(a) for a in added]
    return bool(found) and all(i is not None and isinstance(i.op, ast.Add) and _is_sum(plan, i.value) for i in found)


def _is_sum(plan: ShardedReading, node: ast.expr) -> bool:
    value = plan.facts.value(node)
    return spread(value) is Extent.SUM and not value.of(ASSUMED, PICKED, STATISTIC, WEIGHTED)


def _depends_on_batch(plan: ShardedReading, node: ast.AST) -> bool:
    """A mean that is multiplied by something other than the number of its samples; samples that are compared."""
    if not isinstance(node, ast.BinOp | ast.Call | ast.Compare):
        return False
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        sides = {spread(plan.facts.value(s)): s for s in (node.left, node.right)}
        if sides.keys() == {Extent.MEAN, Extent.SUM} and not _is_size(plan, sides[Extent.SUM]):
            return True
    return compares_samples(plan, node)


def _is_size(plan: ShardedReading, node: ast.AST | None, seen: Set[ast.AST] = frozenset()) -> bool:
    """`len(y)`, `x.size(0)`, `x.shape[0]`, or a name for one of them."""
    match node:
        case ast.Call(func=ast.Name(id="len")):
            return not plan.facts.value(node.args[0]).of(PICKED)
        case ast.Call(func=ast.Attribute(attr="size"), args=[ast.Constant(value=0)]):
            return True
        case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant(value=0)):
            return True
        case ast.Name() if node not in seen:
            made = plan.bindings.given(node)
            return bool(made) and all(_is_size(plan, m, {*seen, node}) for m in made)
    return False


def _looked_at(plan: ShardedReading, loaders: set[Obj]) -> set[Obj]:
    """Loaders of which something asks how many batches they have, or that somebody else is handed."""
    iterated = {n for f in plan.facts.loops.values() for n in f.loader_nodes}
    found = set[Obj]()
    for node, value in plan.facts.values.items():
        held = value.objs & loaders
        if held and isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call) and node not in iterated:
            found |= set() if _is_harmless(plan, node) else held
    return found


def _is_harmless(plan: ShardedReading, node: ast.expr) -> bool:
    parent = plan.program.parents.get(node)
    if isinstance(getattr(node, "ctx", None), ast.Store) or parent is None:
        return True
    if isinstance(parent, ast.Attribute):
        return parent.attr in OF_ALL
    call = plan.program.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if isinstance(call, ast.Call):
        fact = plan.facts.calls.get(call)
        return node is not call.func and fact is not None and bool(fact.bodies or fact.made) and not fact.names
    return isinstance(parent, HELD_BY)


def loops_by_sample(plan: ShardedReading, loaders: Set[Obj]) -> Iterator[Loop]:
    for fact in plan.roles.evaluation_loops:
        if fact.loaders and fact.loaders <= loaders:
            yield fact.node
