"""Branches side by side, and conditions that ranks may decide apart."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from nbddp.analysis.values.comparisons import can_be_agreed
from nbddp.analysis.values.domain import ANYTHING, Extent, Value, join, spread
from nbddp.analysis.values.machine import Env, Machine


def copies(m: Machine) -> tuple[Env, list[Env]]:
    return dict(m.globals), [dict(f.local) for f in m.frames]


def restore(m: Machine, saved: tuple[Env, list[Env]]) -> None:
    if m.globals != saved[0]:
        m.rebound = object()
    m.globals = dict(saved[0])
    for frame, local in zip(m.frames, saved[1], strict=True):
        frame.local = dict(local)


def _join_env(a: Env, b: Env) -> Env:
    return {k: join(a[k], b[k]) if k in a and k in b else a.get(k, b.get(k, ANYTHING)) for k in {**a, **b}}


def join_states(states: list[tuple[Env, list[Env]]]) -> tuple[Env, list[Env]]:
    globals_, locals_ = states[0]
    for other_globals, other_locals in states[1:]:
        globals_ = _join_env(globals_, other_globals)
        locals_ = [_join_env(x, y) for x, y in zip(locals_, other_locals, strict=True)]
    return globals_, locals_


@contextmanager
def varying(m: Machine, yes: bool) -> Iterator[None]:
    m.varying_control += yes
    yield
    m.varying_control -= yes


@contextmanager
def decided(m: Machine, test: ast.expr, value: Value) -> Iterator[None]:
    """By each rank for itself: of a sample, or of its share as a whole; in a loop over samples it is one of them."""
    differs = m.differs(test, value)
    own = differs and not can_be_agreed(m.facts, test)  # as it will be
    of_share = own and spread(value) is not Extent.SAMPLES and m.sharing() and not (m.varying_control or m.deals())
    m.share_control += of_share
    m.own_turns += own
    with varying(m, differs):
        yield
    m.own_turns -= own
    m.share_control -= of_share
