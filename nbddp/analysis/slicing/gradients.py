"""What gradients change, and who wants them: no name shows that `optimizer.step()` needs `loss.backward()`."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from nbddp.analysis.library import learns
from nbddp.analysis.syntax import BUILTINS, qualified, walk


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


WAITING = "gradients that wait for a step"  # no name of a notebook's


def gives(node: ast.stmt) -> bool:
    """`loss.backward()` by itself: a training has its steps in one statement."""
    return isinstance(node, ast.Expr) and "backward" in _methods(node)


def wants(node: ast.stmt) -> bool:
    """`optimizer.step()`, `w.data -= 0.1 * w.grad`, and no backward() beside it."""
    changes = any(isinstance(n, ast.Assign | ast.AugAssign) for n in walk(node))
    return "backward" not in _methods(node) and ("step" in _methods(node) or (changes and reads_gradients(node)))


def reads_gradients(node: ast.stmt) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == "grad" and isinstance(n.ctx, ast.Load) for n in walk(node))


def _methods(node: ast.AST) -> set[str]:
    calls = (n.func for n in walk(node) if isinstance(n, ast.Call))
    return {func.attr for func in calls if isinstance(func, ast.Attribute)}
