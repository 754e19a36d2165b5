"""What a text binds to each name, wherever that is; enough to see that something is a number whatever happens."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

NUMERIC = {"len", "int", "float", "bool", "round"}
NUMERIC_METHODS = {"item": 0, "numel": 0, "dim": 0, "size": 1}  # of tensors and arrays; how many arguments


@dataclass(frozen=True)
class Bindings:
    values: Mapping[str, tuple[ast.expr | None, ...]]  # None: something that the text does not show
    functions: Mapping[str, ast.FunctionDef]
    numeric: frozenset[str]  # functions that give a number for a number

    @classmethod
    def of(cls, tree: ast.Module, numeric: Collection[str] = ()) -> Bindings:
        values: dict[str, list[ast.expr | None]] = defaultdict(list)
        for name, value in _bound(tree):
            values[name].append(value)
        functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        once = {name: node for name, node in functions.items() if values[name] == [None]}
        return cls({name: tuple(found) for name, found in values.items()}, once, frozenset(numeric))

    def is_number(self, node: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
        """An int, a float or a bool, of Python or of NumPy."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int | float)
        if isinstance(node, ast.Name):
            values = self.values.get(node.id, (None,))
            return node.id in seen or all(v is not None and self.is_number(v, seen | {node.id}) for v in values)
        if isinstance(node, ast.BinOp | ast.UnaryOp | ast.IfExp):
            parts = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
            return all(self.is_number(part, seen) for part in parts if part is not getattr(node, "test", None))
        if isinstance(node, ast.Subscript):
            return isinstance(node.value, ast.Attribute) and node.value.attr == "shape" and _is_index(node.slice)
        return isinstance(node, ast.Call) and self._gives_number(node, seen)

    def _gives_number(self, call: ast.Call, seen: frozenset[str]) -> bool:
        if isinstance(call.func, ast.Attribute):
            return NUMERIC_METHODS.get(call.func.attr) == len(call.args)
        if not isinstance(call.func, ast.Name) or call.func.id in seen:
            return isinstance(call.func, ast.Name)
        name = call.func.id
        if name in self.numeric:
            return all(self.is_number(argument, seen) for argument in call.args)
        if name in self.functions:
            returns = list(_returned(self.functions[name]))
            return bool(returns) and all(v is not None and self.is_number(v, seen | {name}) for v in returns)
        return name in NUMERIC and name not in self.values


def _is_index(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))


def _returned(function: ast.FunctionDef) -> Iterator[ast.expr | None]:
    """What its own `return`s give; None for a generator, a bare `return`, or what an inner function would give."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return):
            yield node.value
        elif isinstance(node, ast.Yield | ast.YieldFrom):
            yield None


def _bound(tree: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _pairs(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            yield from _pairs(node.target, node.value) if node.value else ()
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            yield from _of_loop(node.target, node.iter)
        elif isinstance(node, ast.withitem) and node.optional_vars:
            yield from _pairs(node.optional_vars, None)
        else:
            yield from ((name, None) for name in _names(node))


def _names(node: ast.AST) -> Iterable[str]:
    """Names bound otherwise than by a target."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.alias):
        return [node.asname or node.name.partition(".")[0]]
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        return [node.name] if node.name else []
    return [node.rest] if isinstance(node, ast.MatchMapping) and node.rest else []


def _pairs(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Starred):
        yield from _pairs(target.value, None)
    elif isinstance(target, ast.Tuple | ast.List):
        given = value.elts if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts) else []
        for number, inner in enumerate(target.elts):
            yield from _pairs(inner, given[number] if given else None)


def _of_loop(target: ast.expr, iterated: ast.expr) -> Iterator[tuple[str, ast.expr | None]]:
    """The variable of `range` is a number, and the first of `enumerate`."""
    name = iterated.func.id if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) else ""
    number = ast.Constant(0)
    if name == "range":
        yield from _pairs(target, number)
    elif name == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        yield from _pairs(target.elts[0], number)
        yield from _pairs(target.elts[1], None)
    else:
        yield from _pairs(target, None)
