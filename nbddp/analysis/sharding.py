"""Which loaders are shared out among the ranks, and which loops run over shares."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from nbddp.analysis.domain import Obj
from nbddp.analysis.facts import Loop, LoopFact
from nbddp.analysis.plan import Plan

TRAINING = re.compile(r"(^|[^a-z])(train|trn|tr|training)([^a-z]|$)", re.IGNORECASE)


@dataclass(frozen=True)
class Phase:
    """A loader in a dictionary by phase: `loaders["train"]`."""

    name: str  # of the dictionary
    key: str
    statement: ast.stmt  # that fills it


@dataclass(frozen=True, eq=False)
class Sharding:
    loaders: frozenset[Obj]  # dealt to the ranks where they are built
    phases: tuple[Phase, ...]  # dealt to the ranks after they were built, by key
    mixed: frozenset[Loop]  # loops over a shared loader in one turn and over a whole one in another


def find_sharding(plan: Plan) -> Sharding:
    sharded: set[Obj] = set()
    phases: list[Phase] = []
    mixed: set[Loop] = set()
    for fact in plan.roles.batch_loops:
        loaders = fact.loaders | fact.next_of
        comprehension = [o for o in loaders if _comprehension_of(plan, o)]
        if fact.conditional and comprehension and (phase := _phase(plan, comprehension[0])):
            phases.append(phase)
            mixed.add(fact.node)
        elif fact.conditional and len(loaders) > 1 and (named := _named_for_training(plan, fact, loaders)):
            sharded |= named
            mixed.add(fact.node)
        else:
            sharded |= loaders
    return Sharding(frozenset(sharded), tuple(dict.fromkeys(phases)), frozenset(mixed))


def _comprehension_of(plan: Plan, obj: Obj) -> ast.DictComp | None:
    found = (a for a in plan.program.ancestors(obj.node) if isinstance(a, ast.DictComp))
    return next(found, None)


def _phase(plan: Plan, obj: Obj) -> Phase | None:
    """`{x: DataLoader(…) for x in ["train", "val"]}`: the one key that means training."""
    node = _comprehension_of(plan, obj)
    if node is None or len(node.generators) != 1:
        return None
    source = node.generators[0].iter
    if not isinstance(source, ast.List | ast.Tuple):
        return None
    keys = [e.value for e in source.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
    training = [k for k in keys if TRAINING.search(k)]
    statement = plan.program.statement_of(node)
    if len(training) != 1 or len(keys) != len(source.elts) or not isinstance(statement, ast.Assign):
        return None
    target = statement.targets[0]
    return Phase(target.id, training[0], statement) if isinstance(target, ast.Name) else None


def _named_for_training(plan: Plan, fact: LoopFact, loaders: set[Obj]) -> set[Obj]:
    """Of several loaders that one loop runs over, those whose name or key says training; all others stay whole."""
    found = {o for o in loaders if any(TRAINING.search(n) for n in loader_names(plan, fact, o))}
    return found if found and found != loaders else set()


def loader_names(plan: Plan, fact: LoopFact, obj: Obj) -> set[str]:
    names = {n for n, v in fact.names.items() if v.of("loader") == {obj}}
    for other in plan.roles.epoch_loops:
        names |= {n for n, v in other.names.items() if v.of("loader") == {obj}}
    keys = {field[2:-2] for (owner, field), v in plan.facts.fields.items()
            if owner.kind == "dict" and field.startswith("['") and obj in v.objs}  # fmt: skip
    return names | keys
