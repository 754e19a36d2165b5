"""What a gradient cannot change: two trainings that share a loss or a class have nothing in common by it."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from nbddp.analysis.library import learns
from nbddp.analysis.syntax import BUILTINS, qualified


def may_learn(name: str, bound_by: ast.stmt | None, imports: Mapping[str, str]) -> bool:
    """May what the name stands for hold parameters? Not a class, nor a loss or an activation of torch's."""
    if bound_by is None:
        return name not in BUILTINS
    made = bound_by.value if isinstance(bound_by, ast.Assign) and _is_one_name(bound_by) else None
    while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and isinstance(made.func.value, ast.Call):
        made = made.func.value  # `nn.CrossEntropyLoss().to(device)`
    module = qualified(made.func, imports) if isinstance(made, ast.Call) else None
    return not isinstance(bound_by, ast.ClassDef) and (module is None or learns(module))


def _is_one_name(node: ast.Assign) -> bool:
    return len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
