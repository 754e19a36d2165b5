"""What is put on top of what a place holds: `total += loss`, `total = total + loss`."""

from __future__ import annotations

import ast
from dataclasses import dataclass

Place = ast.Name | ast.Attribute | ast.Subscript


@dataclass(frozen=True)
class Increment:
    place: Place  # as it is written to
    before: ast.expr  # as it is read
    op: ast.operator
    value: ast.expr


def increment(node: ast.AST) -> Increment | None:
    """Of a statement that does nothing else."""
    match node:
        case ast.AugAssign(target=place, op=op, value=value):
            return Increment(place, place, op, value)
        case ast.Assign(
            targets=[ast.Name() | ast.Attribute() | ast.Subscript() as place],
            value=ast.BinOp(left=before, op=ast.Add() as op, right=value),
        ) if ast.unparse(place) == ast.unparse(before):
            return Increment(place, before, op, value)
    return None
