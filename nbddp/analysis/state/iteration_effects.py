"""What a turn of a loop reads and sets: names and attributes, through the functions of the notebook that it calls."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from nbddp.analysis.library import Effect, entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.slicing import Effects, Function, Walk, local_names
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Obj, Value

HOLDERS = ("list", "dict")
GROWS = ("append", "appendleft", "extend", "insert", "setdefault")  # what nothing but a container does
CALLS = 400  # that are followed: more than any loop by hand has


@dataclass(eq=False)
class Turn:
    effects: Effects
    attributes: dict[str, tuple[Obj, str]] = field(default_factory=dict)  # among the names of `effects`, by their keys
    filled: set[Obj] = field(default_factory=set)  # lists and dictionaries that get something
    grown: set[str] = field(default_factory=set)  # names, and attributes by their keys, of what may be one of them
    marked: set[str] = field(default_factory=set)  # names of what gets an attribute
    told: set[Obj] = field(default_factory=set)  # things of modules that are not read, which may remember it


def turn_of(plan: Reading, code: Iterable[ast.AST], function: ast.AST | None) -> Turn:
    """`function` is the one that the code stands in."""
    visitor = _Follow(plan, function)
    for node in code:
        visitor.visit(node)
    return visitor.turn


class _Follow(Walk, ast.NodeVisitor):
    """Attributes of instances count as names; calls are followed where they are made."""

    def __init__(self, plan: Reading, function: ast.AST | None) -> None:
        super().__init__(plan.flow.imports)
        self.plan, self.turn = plan, Turn(self.out)
        self.function = function
        self.names = local_names(function) if isinstance(function, Function) else set()
        self.numbers: dict[Obj, int] = {}
        self.running: list[ast.AST] = []
        self.calls = 0

    def _keys(self, node: ast.Attribute) -> list[str]:
        """One for each instance that it may be an attribute of."""
        things = sorted(self._value(node.value).of("instance", "model", "class"), key=hash)
        keys = [f"{self.numbers.setdefault(o, len(self.numbers))}.{node.attr}" for o in things]
        self.turn.attributes.update(zip(keys, [(o, node.attr) for o in things], strict=True))
        return keys

    def _value(self, node: ast.AST) -> Value:
        return self.plan.facts.value(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        super().visit_Attribute(node)
        for key in self._keys(node):
            (self.load if isinstance(node.ctx, ast.Load) else self.store)(key)
        if not isinstance(node.ctx, ast.Load):
            self.turn.told |= self._value(node.value).of("foreign")
            if isinstance(node.value, ast.Name) and not self._is_local(node.value.id):
                self.turn.marked.add(node.value.id)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        for key in self._keys(node.target) if isinstance(node.target, ast.Attribute) else ():
            self.load(key)
        super().visit_AugAssign(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        super().visit_Subscript(node)
        if not isinstance(node.ctx, ast.Load):
            self._fill(node.value, grows=True)

    def _fill(self, node: ast.expr, *, grows: bool) -> None:
        """`history["loss"].append(…)` changes the dictionary as well."""
        value = self._value(node)
        self.turn.filled |= value.of(*HOLDERS)
        if grows and not value.objs:
            self.turn.grown |= set(self._keys(node)) if isinstance(node, ast.Attribute) else set()
            self.turn.grown |= {node.id} if isinstance(node, ast.Name) and not self._is_local(node.id) else set()
        if isinstance(node, ast.Subscript):
            self._fill(node.value, grows=grows)

    def visit_Call(self, node: ast.Call) -> None:
        super().visit_Call(node)
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        if isinstance(node.func, ast.Attribute) and entry_of(node).effect in (Effect.STORES, Effect.REORDERS):
            self._fill(receiver, grows=node.func.attr in GROWS)
        if isinstance(node.func, ast.Attribute) and _in_place(node.func.attr) and isinstance(receiver, ast.Subscript):
            self._fill(receiver.value, grows=False)  # `averages[name].mul_(0.9)`
        if self._tells(node):
            self.turn.told |= self._value(receiver).of("foreign")
        fact = self.plan.facts.calls.get(node)
        bodies = sorted(fact.bodies, key=lambda b: b.lineno) if fact else []  # type: ignore[attr-defined]
        if bodies:
            before, ends = set(self.out.binds), []
            for body in bodies:
                self.out.binds = set(before)
                self._through(body)
                ends.append(self.out.binds)
            self.out.binds = set.intersection(*ends)

    def _tells(self, node: ast.Call) -> bool:
        """A call for what it does, or to decide by."""
        statement = self.plan.program.statement_of(node)
        if isinstance(statement, ast.If | ast.While):
            return any(n is node for n in walk(statement.test))
        return isinstance(statement, ast.Expr) and statement.value is node

    def _through(self, function: ast.AST) -> None:
        self.calls += 1
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) or function in self.running:
            return
        if self.calls > CALLS:
            return
        nested = any(a is self.function for a in self.plan.program.ancestors(function))
        before, inner = set(self.out.binds), self.in_function
        self.running.append(function)
        self.in_function = 0
        self._inner(local_names(function) | (set() if nested else self.names), function.body)
        self.in_function = inner
        self.running.pop()
        if _leaves_early(function):
            self.out.binds = before


def _in_place(method: str) -> bool:
    """Of a tensor, as torch names them."""
    return method.endswith("_") and not method.endswith("__")


def _leaves_early(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(n, ast.Return) for s in function.body[:-1] for n in walk(s)) or any(
        isinstance(n, ast.Return) for n in walk(function.body[-1]) if n is not function.body[-1]
    )
