"""Loaders that one loop draws from side by side: with one seed for all, samples of one number would always meet."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nbddp.analysis.loaders.loader_calls import LoaderCall
from nbddp.analysis.loaders.sharding import ShardedReading, Share
from nbddp.analysis.values import LoopFact, Obj


@dataclass(frozen=True, eq=False)
class Seeds:
    """What tells the order of a shuffling loader from that of another in the same loop."""

    fixed: Mapping[Obj, int]  # of the loaders but the first, where each is built by a call of its own
    drawn: frozenset[Obj]  # loaders that take the next seed when they are built
    twice: frozenset[Obj]  # that a loop goes through twice at once: each pass is to have its own order


def find_seeds(plan: ShardedReading) -> Seeds:
    shares = plan.sharding.shares
    fixed: dict[Obj, int] = {}
    drawn: set[Obj] = set()
    twice = {o for f in plan.roles.batch_loops for o in shares if sum(o in group for group in _drawn(plan, f)) > 1}
    many = {o for f in plan.roles.batch_loops if _unpacked(f) for o in f.loaders}
    for group in _together(plan):
        members = [obj for obj in shares if obj in group]  # in the order in which they are built
        nodes = {obj.node for obj in members}
        if len(nodes) == len(members) and not group & many and all(shares[obj].how == "sampler" for obj in members):
            fixed |= {obj: number for number, obj in enumerate(members) if number}
        else:
            drawn |= {o for o, share in shares.items() if o.node in nodes and share.how == "sampler"}
    return Seeds(fixed, frozenset(drawn), frozenset(twice))


def shuffles(call: LoaderCall) -> bool:
    return "shuffle" in call.arguments and call.constant("shuffle") is not False


def _together(plan: ShardedReading) -> list[set[Obj]]:
    """Loaders that meet in some loop, those that meet through others included."""
    groups: list[set[Obj]] = []
    for fact in plan.roles.batch_loops:
        met = {o for group in _drawn(plan, fact) for o in group if _takes_a_seed(plan.sharding.shares.get(o))}
        if _unpacked(fact) or (len(met) > 1 and len(list(_drawn(plan, fact))) > 1):
            apart = [g for g in groups if not g & met]
            groups = [*apart, met.union(*(g for g in groups if g & met))]
    return groups


def _drawn(plan: ShardedReading, fact: LoopFact) -> Iterator[set[Obj]]:
    """A set for each place from which one turn of the loop draws; more than one loader where it differs with the turn
    that runs the loop."""
    for node in fact.loader_nodes:
        yield set(fact.loaders if isinstance(node, ast.Starred) else plan.facts.value(node).of("loader"))
    for obj in fact.next_of:
        yield {obj}


def _unpacked(fact: LoopFact) -> bool:
    """`zip(*loaders)`: however many that are."""
    return any(isinstance(node, ast.Starred) for node in fact.loader_nodes)


def _takes_a_seed(share: Share | None) -> bool:
    if share is None or share.call is None:
        return False
    return shuffles(share.call) if share.how == "sampler" else share.how in {"built", "called", "asked", "phase"}
