"""Where a step only looks at its samples: `u = model(tx)` for a picture, `print(model(x).max())`.

What is made of them there reaches no gradient and no later turn, and meets nothing of which a rank has a part. So each
rank may compute it with all samples, as one process does, and nothing has to be put together.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nbddp.analysis.reading import Reading
from nbddp.analysis.slicing import Changes, effects
from nbddp.analysis.splitting.regions import Region, is_split, run_by
from nbddp.analysis.syntax import walk

INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
LEAVES = (ast.Return, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)


@dataclass(frozen=True, eq=False)
class Unit:
    """A statement, or the head of a compound one."""

    parts: tuple[ast.AST, ...]
    reads: frozenset[str]
    sets: frozenset[str]
    trains: bool


def looked_at(region: Region) -> frozenset[ast.AST]:
    """The reads of names in such statements."""
    if not region.plan.assumed.apart:
        return frozenset()
    units = [_unit(region.plan, parts) for s in region.rest for parts in _split_up(s)]
    training, others = _told_apart(units)
    steps = frozenset[str]().union(*(u.sets for u in training))
    apart = [u for u in others if not _meets_parts(region.plan, u, steps)]
    while (fewer := [u for u in apart if not _touches(u, others, apart)]) != apart:
        apart = fewer
    return frozenset(n for u in apart for part in u.parts for n in walk(part) if isinstance(n, ast.Name))


def _told_apart(units: Sequence[Unit]) -> tuple[list[Unit], list[Unit]]:
    """Those that the gradients, or what the next turn goes on with, are made of; and all others."""
    training = [u for u in units if u.trains]
    others = [u for u in units if not u.trains]
    while True:
        read = frozenset[str]().union(*(u.reads for u in training))
        more = [u for u in others if u.sets & read]
        if not more:
            return training, others
        training += more
        others = [u for u in others if u not in more]


def _meets_parts(plan: Reading, unit: Unit, steps: frozenset[str]) -> bool:
    """`(output - y).abs().max()`, where the step has made `output` of a rank's samples."""
    names = (n for part in unit.parts for n in walk(part) if isinstance(n, ast.Name) and n.id in steps)
    return any(is_split(plan, n) for n in names)


def _touches(unit: Unit, others: Sequence[Unit], apart: Sequence[Unit]) -> bool:
    """Does it go on with what is made of parts, or is what it makes put beside these?"""
    parts = [u for u in others if u not in apart]
    return any(unit.sets & u.reads or u.sets & unit.reads or u.sets & unit.sets for u in parts)


def _unit(plan: Reading, parts: Sequence[ast.AST]) -> Unit:
    run = {n for part in parts for n in run_by(plan, part)}
    models = (n.func.id for n, f in plan.facts.calls.items() if f.called and isinstance(n.func, ast.Name))
    own = {name: s.changes for name, s in plan.flow.functions.items()} | dict.fromkeys(models, Changes())
    found = effects(parts, plan.flow.imports, own)
    called = effects([n for n in run if isinstance(n, INNER)], plan.flow.imports, own)
    inside = [n for p in parts for n in walk(p)]
    trains = not plan.facts.backward.isdisjoint(run) or any(isinstance(n, (*INNER, *LEAVES)) for n in inside)
    trains = trains or any(isinstance(n, ast.Attribute) and n.attr == "grad" for n in inside)  # of a leaf: the part
    steps = (plan.facts.calls.get(n) for n in run if isinstance(n, ast.Call))
    trains = trains or any(fact is not None and fact.optimizers for fact in steps)
    reads = found.loads | called.deferred
    return Unit(
        tuple(parts), frozenset(reads), frozenset(found.may_bind | found.mutates | called.deferred_mutates), trains
    )


def _split_up(statement: ast.stmt) -> Iterator[list[ast.AST]]:
    """What stands in compound statements one by one."""
    blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    inner = [s for block in blocks for s in block if isinstance(s, ast.stmt)]
    inner += [s for handler in getattr(statement, "handlers", []) for s in handler.body]
    if isinstance(statement, INNER) or not inner:
        yield [statement]
        return
    head = [n for n in ast.iter_child_nodes(statement) if not isinstance(n, ast.stmt | ast.ExceptHandler)]
    if head:
        yield head
    for one in inner:
        yield from _split_up(one)
