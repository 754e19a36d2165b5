"""What a called name stands for that is no function: an alias, what `partial` makes, a thing with `__call__`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from nbddp.analysis.syntax import assigned, handed, walk

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
TAKEN_OUT = frozenset({"get", "items", "values", "pop"})  # of a table
PASSED_ON = frozenset({"dict", "enumerate", "iter", "list", "reversed", "tuple", "zip"})


@dataclass(frozen=True)
class Meanings:
    """By names alone: more may be found than is called, never by way of what a call of the notebook's has returned."""

    functions: Mapping[str, list[Definition]]
    methods: Mapping[str, list[Definition]]
    called: Mapping[str, list[Definition]]  # `__call__` by class
    bound: dict[str, list[ast.expr]] = field(default_factory=dict)  # by a name, or by `.attribute` of whatever object

    def learn(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            for target, value in assigned(node):
                for part in (n for n in walk(target) if isinstance(getattr(n, "ctx", None), ast.Store)):
                    if isinstance(part, ast.Name | ast.Attribute):
                        self.bound.setdefault(_key(part), []).append(value)
            for name, value in self._handed(node):
                self.bound.setdefault(name, []).append(value)

    def _handed(self, node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
        """Parameters of the notebook's own functions stand for what their calls give them; a name is followed there."""
        match node:
            case ast.Call(func=ast.Name(id=name)):
                known = self.functions.get(name, ())
            case ast.Call(func=ast.Attribute(attr=name)):
                known = self.methods.get(name, ())
            case _:
                return
        for definition in known:
            yield from (pair for pair in handed(node, definition) if not isinstance(pair[1], ast.Name))

    def of(self, name: str) -> Iterator[Definition]:
        seen, todo = {name}, [name]
        while todo:
            for value in self.bound.get(todo.pop(), ()):
                for found in self._mentioned(value):
                    if isinstance(found, Definition):
                        yield found
                    elif found not in seen:
                        seen.add(found)
                        todo.append(found)

    def makes_function(self, call: ast.Call) -> bool:
        """It may call later what it is given, but not now."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        return name in ("partial", "setattr") or (isinstance(call.func, ast.Name) and any(self._made(name)))

    def _made(self, name: str) -> Iterator[Definition]:
        return (inner for function in self.functions.get(name, ()) for inner in _returned(function))

    def _mentioned(self, node: ast.expr | None) -> Iterator[Definition | str]:
        """Functions that the value may be or hold, and names to go on with."""
        match node:
            case ast.Lambda():
                yield node
            case ast.Name(id=name):
                yield from self.functions.get(name, ())
                yield name
            case ast.Attribute(attr=name):
                yield from self.methods.get(name, ())
                yield _key(node)
            case ast.IfExp(body=one, orelse=other):
                yield from (found for part in (one, other) for found in self._mentioned(part))
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
                yield from (found for part in parts for found in self._mentioned(part))
            case ast.Subscript(value=holder) | ast.Starred(value=holder):
                yield from self._mentioned(holder)
            case ast.Call():
                yield from self._of_call(node)

    def _of_call(self, call: ast.Call) -> Iterator[Definition | str]:
        parts: list[ast.expr] = []
        match call.func:
            case ast.Name(id=name) if name in self.called:
                yield from self.called[name]
            case ast.Name(id=name):
                yield from self._made(name)
                parts = call.args if name in PASSED_ON or self.makes_function(call) else []
            case ast.Attribute(value=holder, attr=name):
                yield from (inner for method in self.methods.get(name, ()) for inner in _returned(method))
                parts = [holder] if name in TAKEN_OUT else call.args[:1] if name == "partial" else []
        yield from (found for part in parts for found in self._mentioned(part))


def _key(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else f".{node.attr}"


def _returned(function: Definition) -> Iterator[Definition]:
    """The functions that stand in it and are given back."""
    inside = [n for n in walk(function) if n is not function]
    names = {n.id for r in inside if isinstance(r, ast.Return) and r.value for n in walk(r.value)
             if isinstance(n, ast.Name)}  # fmt: skip
    yield from (n for n in inside if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name in names)
    yield from (r.value for r in inside if isinstance(r, ast.Return) and isinstance(r.value, ast.Lambda))
