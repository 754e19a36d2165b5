"""`while` loops over epochs that count their turns in a variable of their own."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from nbddp.analysis.slicing import fresh_start, inside
from nbddp.analysis.syntax import Increment, Program, increment, walk


@dataclass(frozen=True)
class Counter:
    name: str
    first: int  # what it is in the first turn

    def done(self) -> str:
        """At the end of a turn, the position of that turn from 0."""
        return f"{self.name} - {self.first + 1}"

    def begun(self) -> str:
        """At the start of a turn, its position from 0."""
        return f"{self.name} - {self.first}" if self.first else self.name


def while_counter(program: Program, loop: ast.While) -> Counter | None:
    """The variable to which each turn adds one, on every path, and that nothing else changes."""
    if any(_skips(program, n, loop) for n in walk(loop)):
        return None
    for statement in loop.body:
        if name := _adds_one_to(statement):
            named = [n for n in inside([loop]) if isinstance(n, ast.Name) and n.id == name]
            stores = [n for n in named if not isinstance(n.ctx, ast.Load)]
            first = _constant(fresh_start(program, loop, name))
            if len(stores) == 1 and first is not None:
                return Counter(name, first)
    return None


def _skips(program: Program, node: ast.AST, loop: ast.While) -> bool:
    """A `continue` of this loop: what stands at its end does not run then."""
    if not isinstance(node, ast.Continue):
        return False
    around = (a for a in program.ancestors(node) if isinstance(a, ast.For | ast.AsyncFor | ast.While))
    return next(around, None) is loop


def _adds_one_to(node: ast.stmt) -> str:
    match increment(node):
        case Increment(place=ast.Name(id=name), op=ast.Add(), value=ast.Constant(value=1)):
            return name
    return ""


def _constant(node: ast.stmt | None) -> int | None:
    value = node.value if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) else None
    return value.value if isinstance(value, ast.Constant) and type(value.value) is int else None
