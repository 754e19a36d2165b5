"""How each shared loader learns the number of the epoch, so that it shuffles anew."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from nbddp.analysis.loaders.joint_loaders import find_seeds, shuffles
from nbddp.analysis.loaders.loader_calls import LoaderCall
from nbddp.analysis.loaders.sharding import ShardedReading
from nbddp.analysis.loaders.while_counters import while_counter
from nbddp.analysis.reading import expressions_among
from nbddp.analysis.values import LoopFact, Obj, Value


@dataclass(frozen=True)
class SetEpoch:
    """`sampler.set_epoch(number)`: at the start of the loop's body, or where the sampler is built in the loop."""

    place: ast.stmt  # the loop, or the statement that builds the loader
    sampler: str
    number: str
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Epochs:
    named: Mapping[Obj, str]  # loaders whose sampler becomes a variable, with its name
    set_epoch: tuple[SetEpoch, ...]
    reshuffled: frozenset[Obj]  # loaders that no epoch loop reaches by name: their sampler counts for itself
    rebuilt: frozenset[Obj]  # loaders that take the next seed when they are built: anew for a pass, or many by one call
    seeds: Mapping[Obj, int]  # of loaders beside others, where it is not 0


def find_epochs(plan: ShardedReading) -> Epochs:
    named: dict[Obj, str] = {}
    found: list[SetEpoch] = []
    reshuffled: set[Obj] = set()
    rebuilt: set[Obj] = set()
    seeds = find_seeds(plan)
    for obj, share in plan.sharding.shares.items():
        call = share.call
        if call is None or share.how != "sampler" or not shuffles(call):
            continue
        counts = obj in seeds.drawn | seeds.twice
        places = [] if counts else [replace(p, seed=seeds.fixed.get(obj, 0)) for p in _places(plan, obj, call)]
        if not places:
            reshuffled.add(obj)
            anew = obj not in seeds.fixed and any(_inside(plan, call.node, f) for f in plan.roles.epoch_loops)
            rebuilt |= {obj} if anew or obj in seeds.drawn else set()
            continue
        own = sampler_name(plan, call) if call.name else None
        if own and all(p.sampler == own for p in places):
            named[obj] = own
        elif own:  # not all reach a variable beside the loader, so it gets none
            places = [replace(p, sampler=f"{call.name}.sampler") if p.sampler == own else p for p in places]
        found += places
    alike = {o for o in plan.sharding.shares if any(o.node is r.node for r in reshuffled)}  # one text for all of them
    kept = tuple(p for p in dict.fromkeys(found) if p.sampler not in {named.get(o) for o in alike})
    named = {o: n for o, n in named.items() if o not in alike}
    return Epochs(named, kept, frozenset(alike), frozenset(rebuilt), seeds.fixed)


def _places(plan: ShardedReading, obj: Obj, call: LoaderCall) -> Iterator[SetEpoch]:
    """One for each epoch loop; none where there is a pass over the loader that none of them counts."""
    batch = [f for f in plan.roles.batch_loops if obj in f.loaders | f.next_of]
    if any(obj in f.next_of | f.indirect for f in batch):
        return  # drawn from by hand: a pass is whatever `iter()` begins
    loops = [f for f in plan.roles.epoch_loops if any(f.node in b.parents for b in batch)]
    if any(not any(f.node in b.parents for f in loops) for b in batch):
        return
    rebuilt = [f for f in loops if _inside(plan, call.node, f)]
    if rebuilt:
        innermost = max(rebuilt, key=lambda f: len(f.parents))
        here = plan.program.function_of(call.node) is plan.program.function_of(innermost.node)
        if len(loops) == 1 and call.name and here and (number := loop_number(plan, innermost)):
            yield SetEpoch(call.statement, sampler_name(plan, call), number)
        return
    found = [p for loop in loops if (p := _place(plan, loop, call)) is not None]
    if len(found) == len(loops):
        yield from found


def _inside(plan: ShardedReading, node: ast.AST, fact: LoopFact) -> bool:
    """Is the node a part of the loop's body, or run in a function that the body calls?"""
    if fact.node in plan.program.ancestors(node):
        return True
    call = plan.facts.calls.get(node)  # type: ignore[call-overload]
    return call is not None and fact.node in call.loops


def _place(plan: ShardedReading, loop: LoopFact, call: LoaderCall) -> SetEpoch | None:
    node = loop.node
    if not isinstance(node, ast.For | ast.While) or (number := loop_number(plan, loop)) is None:
        return None
    same_scope = plan.program.function_of(node) is plan.program.function_of(call.node)
    there = loop.names.get(call.name or "", Value()).of("loader")
    if call.name in loop.names and same_scope and (call.obj in there or not there):
        return SetEpoch(node, sampler_name(plan, call), number)
    alike = {s.obj for s in plan.sharding.shares.values() if s.how == "sampler"}
    always = {name: value for name, value in loop.names.items() if name not in loop.sometimes}
    texts = expressions_among(plan, node, always, call.obj, alike)
    if len(texts) > 1 and plan.facts.calls[call.node].loops - loop.parents - {node}:  # one text for several loaders
        drawn = {plan.program.source(n) for f in plan.roles.batch_loops if node in f.parents for n in f.loader_nodes}
        texts = [text for text in texts if text in drawn]
    return SetEpoch(node, f"{texts[0]}.sampler", number) if texts else None


def loop_number(plan: ShardedReading, fact: LoopFact) -> str | None:
    """The variable that counts a loop's turns, as an integer."""
    if isinstance(fact.node, ast.While):
        counter = while_counter(plan.program, fact.node)
        return counter.name if counter else None
    if not isinstance(fact.node, ast.For):
        return None
    target, source = fact.node.target, fact.node.iter
    numbered = isinstance(source, ast.Call) and getattr(source.func, "id", "") == "enumerate"
    if isinstance(target, ast.Tuple) and numbered:
        target = target.elts[0]
    if not isinstance(target, ast.Name):
        return None
    floats = any(word in plan.program.source(source) for word in ("arange", "linspace"))
    return f"int({target.id})" if floats and not numbered else target.id


def sampler_name(plan: ShardedReading, call: LoaderCall) -> str:
    assert call.name is not None
    for ending in ("dataloader", "data_loader", "loader", "dl"):
        if call.name.lower().endswith(ending):
            word = "Sampler" if call.name[-len(ending)].isupper() else "sampler"
            return plan.naming(call.name[: -len(ending)] + word)
    return plan.naming(f"{call.name}_sampler")
