"""Parts of a model that its forward reads, but through which no gradient comes back.

A codebook of which only the nearest entries are looked up, a target network under `no_grad()`: their parameters learn
nothing, and DDP, which waits for the gradient of each, has to be told to look for them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from nbddp.analysis.library import entry_of, makes
from nbddp.analysis.slicing import all_arguments
from nbddp.analysis.syntax import walk

Parts = frozenset[str]
Place = int | str
NOTHING: Parts = frozenset()


def cut_off(
    owner: ast.ClassDef,
    forward: ast.FunctionDef,
    unread: frozenset[Place] = frozenset(),
    attributes: frozenset[str] | None = None,
) -> set[str]:
    """Attributes of self, also where that hangs on a condition; none where the class freezes some of them itself.

    Nobody reads what it gives at the places `unread`, nor other attributes than these.
    """
    if any(isinstance(n, ast.Attribute) and _freezes(n) for n in walk(owner)):
        return set()
    methods = {p.name: p for p in owner.body if isinstance(p, ast.FunctionDef)}
    flows = [_Flow(unread, attributes, methods, taken=taken) for taken in (False, True)]
    for flow in flows:
        flow.run(forward.body)
    return set[str]().union(*(flow.read - flow.alive for flow in flows))


def outputs(value: ast.expr) -> list[tuple[Place | None, ast.expr]]:
    """What is given back, and under which place or key where it is one of several."""
    match value:
        case ast.Tuple(elts=given) | ast.List(elts=given) if not any(isinstance(g, ast.Starred) for g in given):
            return [*enumerate(given)]
        case ast.Dict(keys=keys, values=given):
            named = [k.value if isinstance(k, ast.Constant) and isinstance(k.value, str) else None for k in keys]
            return [*zip(named, given, strict=True)]
    return [(None, value)]


def _freezes(node: ast.Attribute) -> bool:
    return node.attr == "requires_grad_" or (node.attr == "requires_grad" and isinstance(node.ctx, ast.Store))


def forgets_gradients(manager: ast.expr) -> bool:
    """`torch.no_grad()`, whatever torch is called."""
    words = (n.attr if isinstance(n, ast.Attribute) else getattr(n, "id", "") for n in walk(manager))
    return any(makes(f"torch.{word}") == "no gradients" for word in words)


@dataclass
class _Flow:
    """The statements in their order; a name that is bound under a condition keeps what it had, if that is not taken."""

    unread: frozenset[Place]
    attributes: frozenset[str] | None  # that somebody reads
    methods: Mapping[str, ast.FunctionDef]
    taken: bool
    held: dict[str, Parts] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    alive: set[str] = field(default_factory=set)  # what comes out, or goes where nobody looks
    surely: bool = True
    off: bool = False
    running: tuple[str, ...] = ()  # methods that forward calls
    returned: dict[Place | None, Parts] = field(default_factory=dict)  # by the one that is run, at which place
    known: dict[tuple[object, ...], dict[Place | None, Parts]] = field(default_factory=dict)  # by those before

    def run(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            match statement:
                case ast.With(items=items, body=inner):
                    before, self.off = self.off, self.off or any(forgets_gradients(i.context_expr) for i in items)
                    self.run(inner)
                    self.off = before
                case ast.Assign(targets=targets, value=value):
                    self.assign(targets, value)
                case ast.AugAssign(target=target, value=value):
                    self.bind(target, self.of(value), anew=False)
                case ast.For(target=target, iter=source, body=inner, orelse=rest):
                    self.bind(target, self.of(source), anew=False)
                    self.perhaps([*inner, *inner, *rest])
                case ast.If(body=inner, orelse=rest):
                    self.alive |= self.of(statement.test)
                    self.perhaps([*inner, *rest])
                case ast.Return(value=ast.expr() as value):
                    self.give_back(value)
                case _:
                    self.alive |= self.of(statement)

    def assign(self, targets: list[ast.expr], value: ast.expr) -> None:
        """`x, kept = self.split(h)`: to each name what is at its place."""
        found, places = self.of(value), self.places(value)
        for target in targets:
            each = target.elts if isinstance(target, ast.Tuple) else []
            if not each or places.keys() != {*range(len(each))}:
                self.bind(target, found, anew=self.surely)
                continue
            for at, one in enumerate(each):
                self.bind(one, places[at], anew=self.surely)

    def give_back(self, value: ast.expr) -> None:
        given = self.places(value)
        for place, parts in given.items() if self.running else ():
            self.returned[place] = self.returned.get(place, NOTHING) | parts
        if not self.running:
            self.alive |= NOTHING.union(*(parts for place, parts in given.items() if place not in self.unread))

    def perhaps(self, body: list[ast.stmt]) -> None:
        before, self.surely = self.surely, self.taken and self.surely
        self.run(body)
        self.surely = before

    def bind(self, target: ast.expr, found: Parts, *, anew: bool) -> None:
        for node in walk(target):
            if isinstance(node, ast.Name) and node.id != "self":
                plain = anew and isinstance(target, ast.Name | ast.Tuple)
                self.held[node.id] = found if plain else self.held.get(node.id, NOTHING) | found
        lost = isinstance(target, ast.Attribute) and self.attributes is not None and target.attr not in self.attributes
        if not (isinstance(target, ast.Name | ast.Tuple) or lost):  # `self.last = z`
            self.alive |= found

    def of(self, node: ast.AST) -> Parts:
        """The parts from which gradients would come back to it."""
        if isinstance(node, ast.Name):
            return self.held.get(node.id, NOTHING)
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)) if name in self.methods:
                return NOTHING.union(*self.of_method(node, name).values())
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            self.read.add(node.attr)
            return NOTHING if self.off else frozenset({node.attr})
        found = NOTHING.union(*map(self.of, ast.iter_child_nodes(node)))
        return NOTHING if entry_of(node).without_gradient or isinstance(node, ast.Compare) else found

    def places(self, value: ast.expr) -> Mapping[Place | None, Parts]:
        """Of `self.mean(h), self.scale(h)`, and of a method that gives these back: what is at which place."""
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)) if name in self.methods:
                return self.of_method(value, name)
        return {place: self.of(part) for place, part in outputs(value)}

    def of_method(self, call: ast.Call, name: str) -> dict[Place | None, Parts]:
        """What it gives back, made of what it is given and of the parts that it reads."""
        method = self.methods[name]
        given = NOTHING.union(*(self.of(n) for n in ast.iter_child_nodes(call) if n is not call.func))
        if name in self.running or any(isinstance(n, ast.Yield) for n in walk(method)):
            return {None: given}
        asked = name, given, self.off, self.surely
        if asked not in self.known:
            held = dict.fromkeys((a.arg for a in all_arguments(method.args)), given)
            inner = replace(self, held=held, running=(*self.running, name), returned={})
            inner.run(method.body)
            self.known[asked] = inner.returned
        return self.known[asked]
