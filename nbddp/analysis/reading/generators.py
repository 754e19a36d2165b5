"""Generators of the notebook's own: `g = torch.Generator().manual_seed(0)`, each a stream of numbers by its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.library import effect_of
from nbddp.analysis.reading.reading import Reading
from nbddp.analysis.syntax import qualified

SEEDING = ("manual_seed", "seed", "set_state", "setstate")
READING = ("initial_seed", "get_state", "getstate")


def seeded_generator(plan: Reading, node: ast.stmt) -> frozenset[str]:
    """The one that this statement makes, or sets back to a beginning: what follows is the same each time."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _makes(plan, value):
            return frozenset({name})
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=verb))) if verb in SEEDING:
            return frozenset({name}) & generators(plan)
    return frozenset()


def drawn_from(plan: Reading, call: ast.Call) -> set[str]:
    """`rng.normal(0, 1)`, `torch.randn(3, generator=g)`."""
    own = generators(plan)
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id in own:
        return set() if call.func.attr in SEEDING + READING else {call.func.value.id}
    given = [*call.args, *(k.value for k in call.keywords)]
    return {g.id for g in given if isinstance(g, ast.Name)} & own


def generators(plan: Reading) -> frozenset[str]:
    """Looked for once: that is asked of each call."""
    if generators not in plan.once:
        plan.once[generators] = frozenset(_made(plan))
    found: frozenset[str] = plan.once[generators]
    return found


def _made(plan: Reading) -> Iterator[str]:
    assigned = [s.node for s in plan.program.statements if isinstance(s.node, ast.Assign)]
    made = [n.targets[0] for n in assigned if _makes(plan, n.value)]
    yield from (t.id for t in made if isinstance(t, ast.Name))


def _makes(plan: Reading, value: ast.expr) -> bool:
    """With a seed, which torch's have anyway; also `torch.Generator().manual_seed(0)`."""
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Attribute) and value.func.attr in SEEDING:
        return _makes(plan, value.func.value)
    name = qualified(value.func, plan.flow.imports)
    return name == "torch.Generator" or (bool(effect_of(name or "").generator) and bool(value.args or value.keywords))
