"""Parts of a model that its forward reads, but through which no gradient comes back.

A codebook of which only the nearest entries are looked up, a target network under `no_grad()`: their parameters learn
nothing, and DDP, which waits for the gradient of each, has to be told to look for them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from nbddp.analysis.library import entry_of, makes
from nbddp.analysis.syntax import walk

Parts = frozenset[str]
NOTHING: Parts = frozenset()


def cut_off(owner: ast.ClassDef, forward: ast.FunctionDef, unread: frozenset[int] = frozenset()) -> set[str]:
    """Attributes of self; none where the class freezes some of them itself.

    Nobody reads what it gives at the places `unread`.
    """
    if any(isinstance(n, ast.Attribute) and n.attr.startswith("requires_grad") for n in walk(owner)):
        return set()
    flow = _Flow(unread)
    flow.run(forward.body)
    return flow.read - flow.alive


def forgets_gradients(manager: ast.expr) -> bool:
    """`torch.no_grad()`, whatever torch is called."""
    words = (n.attr if isinstance(n, ast.Attribute) else getattr(n, "id", "") for n in walk(manager))
    return any(makes(f"torch.{word}") == "no gradients" for word in words)


@dataclass
class _Flow:
    """The statements in their order; a name that is bound under a condition keeps what it had."""

    unread: frozenset[int]
    held: dict[str, Parts] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    alive: set[str] = field(default_factory=set)  # what comes out, or goes where nobody looks
    surely: bool = True
    off: bool = False

    def run(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            match statement:
                case ast.With(items=items, body=inner):
                    before, self.off = self.off, self.off or any(forgets_gradients(i.context_expr) for i in items)
                    self.run(inner)
                    self.off = before
                case ast.Assign(targets=targets, value=value):
                    found = self.of(value)
                    for target in targets:
                        self.bind(target, found, anew=self.surely)
                case ast.AugAssign(target=target, value=value):
                    self.bind(target, self.of(value), anew=False)
                case ast.For(target=target, iter=source, body=inner, orelse=rest):
                    self.bind(target, self.of(source), anew=False)
                    self.perhaps([*inner, *inner, *rest])
                case ast.If(body=inner, orelse=rest):
                    self.alive |= self.of(statement.test)
                    self.perhaps([*inner, *rest])
                case ast.Return(value=ast.Tuple(elts=given)):
                    outputs = [self.of(part) for part in given]
                    self.alive |= NOTHING.union(*(o for at, o in enumerate(outputs) if at not in self.unread))
                case _:
                    self.alive |= self.of(statement)

    def perhaps(self, body: list[ast.stmt]) -> None:
        before, self.surely = self.surely, False
        self.run(body)
        self.surely = before

    def bind(self, target: ast.expr, found: Parts, *, anew: bool) -> None:
        for node in walk(target):
            if isinstance(node, ast.Name) and node.id != "self":
                plain = anew and isinstance(target, ast.Name | ast.Tuple)
                self.held[node.id] = found if plain else self.held.get(node.id, NOTHING) | found
        if not isinstance(target, ast.Name | ast.Tuple):  # `self.last = z`
            self.alive |= found

    def of(self, node: ast.AST) -> Parts:
        """The parts from which gradients would come back to it."""
        if isinstance(node, ast.Name):
            return self.held.get(node.id, NOTHING)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            self.read.add(node.attr)
            return NOTHING if self.off else frozenset({node.attr})
        found = NOTHING.union(*map(self.of, ast.iter_child_nodes(node)))
        return NOTHING if entry_of(node).without_gradient or isinstance(node, ast.Compare) else found
