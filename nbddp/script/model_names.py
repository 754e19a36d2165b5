"""Follow a script's models through its text, by name and whatever the scope.

From `DDP(...)` to the names that it is bound to, into the script's functions that it is given to, and out of them.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

SELF = frozenset("to cuda cpu train eval requires_grad_ float double half bfloat16".split())  # methods that return it


class ModelNames:
    """What is known of a text once nothing more can be found: expressions that may be a wrapped model."""

    def __init__(self, tree: ast.Module, wrapper: str) -> None:
        self.nodes = list(ast.walk(tree))
        self.around = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}
        self.functions: dict[str, list[ast.FunctionDef]] = defaultdict(list)  # methods are none
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef) and not isinstance(self.around[node], ast.ClassDef):
                self.functions[node.name].append(node)
        self.names: set[str] = set()  # variables that hold one
        self.makers = {wrapper}  # functions that return one
        known = -1
        while known < len(self.names) + len(self.makers):
            known = len(self.names) + len(self.makers)
            self.models = [node for node in self.nodes if isinstance(node, ast.expr) and self.is_model(node)]
            for model in self.models:
                self.names.update(self._names_for(model))
                self.makers.update(self.maker(model))

    def is_model(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.names and isinstance(node.ctx, ast.Load)
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute):
            return node.func.attr in SELF and self.is_model(node.func.value)
        return isinstance(node.func, ast.Name) and node.func.id in self.makers

    def _names_for(self, model: ast.expr) -> Iterator[str]:
        node = self.around[model]
        if isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        yield from self.parameters(model) or ()

    def parameters(self, model: ast.expr) -> list[str] | None:
        """The parameters that receive it as an argument of a function of the script; None where that cannot be said."""
        around = self.around[model]
        keyword = around.arg if isinstance(around, ast.keyword) else None
        call = self.around[around] if isinstance(around, ast.keyword) else around
        if not isinstance(call, ast.Call) or call.func is model or not isinstance(call.func, ast.Name):
            return None
        found = []
        for function in self.functions.get(call.func.id, []):
            names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
            if keyword:
                names = [keyword] if keyword in {*names, *(a.arg for a in function.args.kwonlyargs)} else []
            elif any(isinstance(a, ast.Starred) for a in call.args):
                return None
            else:
                names = names[call.args.index(model) :][:1]
            if not names:
                return None
            found += names
        return found or None

    def maker(self, model: ast.expr) -> list[str]:
        """The function of the script that returns it, if it stands in a `return`."""
        node = self.around[model]
        if not isinstance(node, ast.Return):
            return []
        while not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            node = self.around[node]
        return [node.name] if isinstance(node, ast.FunctionDef) and node in self.functions[node.name] else []
