"""Branches side by side, and conditions that ranks may decide apart; numbers that they compare, to decide alike."""

from __future__ import annotations

import ast
from collections.abc import Collection
from contextlib import AbstractContextManager

from nbddp.analysis.values.contexts import Env, State
from nbddp.analysis.values.domain import ANYTHING, PLACED, Extent, Value, alike, join, spread
from nbddp.analysis.values.facts import Facts
from nbddp.analysis.values.machine import Machine


def copies(m: Machine) -> State:
    return dict(m.globals), [dict(f.local) for f in m.frames]


def jumped(m: Machine, by: type[ast.stmt]) -> list[State]:
    """Where a `break`, a `return` or the like has left since, what stood there that is not so here."""
    here = m.globals, [f.local for f in m.frames]
    found = [(env, frames[: len(m.frames)]) for how, (env, frames) in m.jumps if how is by]
    m.jumps = [jump for jump in m.jumps if jump[0] is not by]
    return [state for state in found if state != here]


def state_of(m: Machine, bound: Collection[str] = ()) -> tuple[object, ...]:
    """On what a turn of a loop hangs, but for names that it binds first; what has been found is only added to."""
    globals_, locals_ = copies(m)
    for name in bound:
        (globals_ if m.frame.node is None else locals_[-1]).pop(name, None)
    return globals_, locals_, dict(m.facts.fields), m.asleep, m.left


def restore(m: Machine, saved: State) -> None:
    if m.globals != saved[0]:
        m.rebound = object()
    m.globals = dict(saved[0])
    for frame, local in zip(m.frames, saved[1], strict=True):
        frame.local = dict(local)


def _join_env(a: Env, b: Env) -> Env:
    return {k: join(a[k], b[k]) if k in a and k in b else a.get(k, b.get(k, ANYTHING)) for k in {**a, **b}}


def join_states(states: list[State]) -> State:
    globals_, locals_ = states[0]
    for other_globals, other_locals in states[1:]:
        globals_ = _join_env(globals_, other_globals)
        locals_ = [_join_env(x, y) for x, y in zip(locals_, other_locals, strict=True)]
    return globals_, locals_


def decided(m: Machine, test: ast.expr, value: Value) -> AbstractContextManager[None]:
    """By each rank for itself: of a sample, or of its share as a whole; in a loop over samples it is one of them."""
    differs = m.differs(test, value)
    together = not m.deals() and can_be_agreed(m.facts, test) and test not in m.assumed.own  # as it will be
    own = differs and not together
    repeated = spread(value) is Extent.REPEATED and test not in m.assumed.agreed
    return _apart(m, value, differs, own, repeated)


def chosen_by(m: Machine, value: Value) -> AbstractContextManager[None]:
    """The same without a condition that all could decide alike: a case of `match`, how often a loop turns."""
    return _apart(m, value, value.varies, value.varies, spread(value) is Extent.REPEATED)


def _apart(m: Machine, value: Value, differs: bool, own: bool, repeated: bool) -> AbstractContextManager[None]:
    around = m.context
    for_itself = (spread(value) is Extent.SAMPLES or around.varying) and not value.of(PLACED)
    of_share = own and not for_itself and m.sharing() and not m.deals()
    return m.within(
        varying=around.varying or differs,
        behind=around.behind and not differs,
        of_share=around.of_share or of_share,
        own_turns=around.own_turns or own,
        repeated=around.repeated or repeated,
    )


def can_be_agreed(facts: Facts, test: ast.expr) -> bool:
    """`loss.item() < best`: the ranks have parts of the number that one process would have compared."""
    compared = operands(facts, test)
    return bool(compared) and all(spread(facts.value(o)) in (Extent.MEAN, Extent.SUM) for o in compared)


def operands(facts: Facts, test: ast.expr) -> list[ast.expr]:
    """The numbers of a share that a comparison is made of; empty where it is made of anything else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return operands(facts, test.operand)
    if isinstance(test, ast.BoolOp):
        found = [operands(facts, v) for v in test.values if not alike(facts.value(v))]
        return [o for part in found for o in part] if all(found) else []
    if isinstance(test, ast.Compare) and not isinstance(test.ops[0], ast.In | ast.NotIn):
        return [o for o in [test.left, *test.comparators] if not alike(facts.value(o))]
    match test:  # `(loss < best).item()`, `bool(loss < best)`: the comparison itself
        case (
            ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[])
            | ast.Call(func=ast.Name(id="bool"), args=[inner], keywords=[])
        ):
            return operands(facts, inner)
    return []
