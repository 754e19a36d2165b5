"""Annotations of names: `total: float = 0.0` is an assignment like any other."""

from __future__ import annotations

import ast


def take_annotations(tree: ast.AST) -> dict[ast.Assign, ast.expr]:
    """Make assignments with an annotation plain, but for the fields of classes; gives the annotations."""
    found: dict[ast.Assign, ast.expr] = {}
    for node in ast.walk(tree):
        for block in (value for _, value in ast.iter_fields(node) if isinstance(value, list)):
            for at, statement in enumerate(block if not isinstance(node, ast.ClassDef) else ()):
                if isinstance(statement, ast.AnnAssign) and statement.value and not _is_in_brackets(statement):
                    plain = ast.Assign([statement.target], statement.value)
                    block[at] = ast.copy_location(plain, statement)
                    found[plain] = statement.annotation
    return found


def _is_in_brackets(statement: ast.AnnAssign) -> bool:
    """`(total): float = 0.0`."""
    return isinstance(statement.target, ast.Name) and not statement.simple
