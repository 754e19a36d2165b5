"""Do not run a function again where that would change nothing: functions that call each other many times stay cheap.

A run is a function of its arguments, of where it stands, of the names of the cells and of what has been found so far.
One that changed none of that would do the same again, so its value is enough, with what it leaves beside: its trace.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable

from nbddp.analysis.values import Active, Machine, Obj, Remembered, Trace, Value, last_change

Definition = ast.FunctionDef | ast.AsyncFunctionDef


def remembered(
    m: Machine, called: Hashable, args: list[Value], keywords: dict[str, Value], run: Callable[[], Value]
) -> Value:
    """The value of a call: what the last one alike gave, as long as nothing has changed since."""
    key = (called, tuple(args), tuple(keywords.items()), _whereabouts(m))
    change, rebound, modules_run, around = last_change(), m.rebound, m.modules_run, _plain_loops(m)
    known = m.remembered.get(key)
    if known is not None and not (known.change is change and known.rebound is rebound):
        known = None
    if known is not None and around <= known.met and not _is_reentered(m):
        _replay(m, known.trace)
        return known.value
    with m.traced() as trace:
        value = run()
    if last_change() is change and m.rebound is rebound:
        trace.modules_run = m.modules_run - modules_run
        met = around | known.met if known is not None else around
        m.remembered[key] = Remembered(change, rebound, value, trace, met)
    return value


def _whereabouts(m: Machine) -> Hashable:
    """All else on which the value of an expression hangs."""
    loops = tuple((a.fact.node, a.shares, a.deals, a.conditions) for a in m.loops if _is_of_batches(a))
    return m.at, bool(m.loops), loops, m.context, m.left


def _plain_loops(m: Machine) -> frozenset[Hashable]:
    """Of those it is only noted, of each for itself, what is run in them: in which order they stand is no matter."""
    return frozenset((a.fact.node, a.conditions, a.untaped) for a in m.loops if not _is_of_batches(a))


def _is_of_batches(active: Active) -> bool:
    return active.shares or active.deals or bool(active.fact.next_of)


def _is_reentered(m: Machine) -> bool:
    """How deep a function may still call itself hangs on what is running."""
    running = [f.node for f in m.frames]
    return len(set(running)) < len(running)


def _replay(m: Machine, trace: Trace) -> None:
    m.draw(trace.drawn)
    m.note_passes(trace.passes)
    for conditions in trace.backward:
        m.mark_backward(conditions)
    m.modules_run += trace.modules_run


def sees_names_of_a_function(m: Machine, function: Obj) -> bool:
    """Does it stand inside of a function, whose names may have changed since?"""
    frame = m.around(function)
    while frame is not None and frame.node is not None:
        if isinstance(frame.node, Definition | ast.Lambda):
            return True
        frame = frame.outer
    return False
