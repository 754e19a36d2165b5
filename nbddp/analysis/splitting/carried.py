"""Batches that each turn makes of what the turn before has left: `X = X.to(device)`, `X = X[torch.randperm(n)]`."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.slicing import effects
from nbddp.analysis.splitting.regions import LOOPS, Region, stored
from nbddp.analysis.splitting.roots import values_for
from nbddp.analysis.syntax import walk

BINDS = (ast.Assign, ast.AugAssign, ast.NamedExpr)


def is_carried(region: Region, name: str) -> bool:
    """Would a turn find the rank's samples under the name, and take a part of them? So all of them must stay there."""
    around = (a for a in region.plan.program.ancestors(region.at) if isinstance(a, LOOPS))
    loops = [a for a in around if region.plan.program.function_of(a) is region.scope]
    if not loops:
        return False
    loop, *outer = loops
    if not isinstance(loop, ast.While) and name in stored(loop.target):  # `for X, y in batches(X, y)` in each epoch
        inside = {n for s in loop.body for n in walk(s)}
        read = (n for o in outer for n in {*walk(o)} - inside if isinstance(n, ast.Name))
        return any(n.id == name and isinstance(n.ctx, ast.Load) for n in read)
    found = effects(loop.body, {})
    turn = replace(region, owner=loop, block=loop.body, at=loop.body[0])
    return name in found.reads and (name not in found.binds or name in _sources(turn, name))


def _sources(region: Region, name: str) -> set[str]:
    """Names that its value comes from, in whatever number of steps."""
    made, todo = set[str](), [name]
    while todo:
        one = todo.pop()
        changed = (n for s in region.rest for n in walk(s) if isinstance(n, ast.AugAssign) and one in stored(n))
        for value in (*(v for _, v in values_for(region.rest, one)), *(n.target for n in changed)):
            new = {n.id for n in walk(value) if isinstance(n, ast.Name)} - made
            made |= new
            todo += new
    return made


def bound_below(region: Region, name: str) -> frozenset[ast.AST]:
    """Where what the next turn has is made, further down: of all the samples."""
    names = {name} | _sources(region, name)
    bound = [n for s in region.rest for n in walk(s) if isinstance(n, BINDS) and names & stored(n)]
    return frozenset(part for n in bound if name in region.bound_in_rest for part in walk(n))
