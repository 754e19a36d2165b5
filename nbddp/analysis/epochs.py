"""How each shared loader learns the number of the epoch, so that it shuffles anew."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from nbddp.analysis.domain import Obj
from nbddp.analysis.facts import LoopFact
from nbddp.analysis.loader_calls import LoaderCall, loader_call
from nbddp.analysis.plan import Plan
from nbddp.analysis.scope import readable


@dataclass(frozen=True)
class SetEpoch:
    """`sampler.set_epoch(number)`, at the start of a loop's body."""

    loop: ast.For
    sampler: str
    number: str


@dataclass(frozen=True, eq=False)
class Epochs:
    named: Mapping[Obj, str]  # loaders whose sampler becomes a variable, with its name
    set_epoch: tuple[SetEpoch, ...]
    reshuffled: frozenset[Obj]  # loaders that no epoch loop reaches by name: their sampler counts for itself


def find_epochs(plan: Plan) -> Epochs:
    named: dict[Obj, str] = {}
    found: list[SetEpoch] = []
    reshuffled: set[Obj] = set()
    for obj in plan.sharding.loaders:
        call = loader_call(plan, obj)
        if call is None or not _shuffles(call):
            continue
        places = [p for loop in _loops_over(plan, obj) if (p := _place(plan, loop, call)) is not None]
        loops = {f.node for f in _loops_over(plan, obj)}
        if not places or {p.loop for p in places} != loops:
            reshuffled.add(obj)
            continue
        found += places
        if call.name and all(p.sampler == _sampler_name(plan, call) for p in places):
            named[obj] = _sampler_name(plan, call)
    return Epochs(named, tuple(dict.fromkeys(found)), frozenset(reshuffled))


def _shuffles(call: LoaderCall) -> bool:
    if not call.plain or len(call.node.args) > 2 or call.gives("sampler") or call.gives("batch_sampler"):
        return False
    return "shuffle" in call.arguments and call.constant("shuffle") is not False


def _loops_over(plan: Plan, obj: Obj) -> list[LoopFact]:
    """The epoch loops around the batch loops that draw from the loader."""
    batch = [f for f in plan.roles.batch_loops if obj in f.loaders | f.next_of]
    parents = {p for f in batch for p in f.parents}
    return [f for f in plan.roles.epoch_loops if f.node in parents]


def _place(plan: Plan, loop: LoopFact, call: LoaderCall) -> SetEpoch | None:
    node = loop.node
    if not isinstance(node, ast.For) or (number := epoch_number(node)) is None:
        return None
    names = [n for n, v in loop.names.items() if v.of("loader") == {call.obj} and readable(plan, node, n)]
    if call.name in names and plan.program.function_of(node) is plan.program.function_of(call.node):
        return SetEpoch(node, _sampler_name(plan, call), number)
    if names:
        return SetEpoch(node, f"{sorted(names)[0]}.sampler", number)
    return None


def epoch_number(loop: ast.For) -> str | None:
    """The loop's variable, where it counts."""
    target = loop.target
    if isinstance(loop.iter, ast.Call) and isinstance(target, ast.Tuple) and isinstance(loop.iter.func, ast.Name):
        target = target.elts[0] if loop.iter.func.id == "enumerate" else target
    return target.id if isinstance(target, ast.Name) else None


def _sampler_name(plan: Plan, call: LoaderCall) -> str:
    assert call.name is not None
    for ending in ("dataloader", "data_loader", "loader", "dl"):
        if call.name.lower().endswith(ending):
            word = "Sampler" if call.name[-len(ending)].isupper() else "sampler"
            return plan.naming(call.name[: -len(ending)] + word)
    return plan.naming(f"{call.name}_sampler")
