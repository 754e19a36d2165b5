"""Several backward passes through one forward, which DDP averages only the first of.

`first.backward(retain_graph=True); second.backward()`, two forwards before two backwards, a hidden state that is not
detached: DDP makes itself ready for one backward pass in each forward.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from nbddp.analysis.library import Effect, entry_of
from nbddp.analysis.models.cut_off_parts import forgets_gradients
from nbddp.analysis.reading import Model, Reading
from nbddp.analysis.syntax import handed, walk

DEPTH = 4  # of functions that call functions
Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
Inner = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


def several_backwards(plan: Reading, model: Model) -> bool:
    """Does a backward pass go through a forward that was there before another backward pass through this model?"""
    loops = [f.node for f in plan.roles.batch_loops if isinstance(f.node, ast.For | ast.While)]
    return any(_Walk(plan, model).goes_wrong(loop) for loop in loops)


@dataclass
class _Walk:
    """The statements in their order, each loop's body twice; every forward has the time at which it ran."""

    plan: Reading
    model: Model
    through: dict[str, frozenset[int]] = field(default_factory=dict)  # by `name`, `name.field`: forwards before it
    now: int = 0
    last: int = -1  # when a backward went through the model
    wrong: bool = False
    depth: int = DEPTH

    def goes_wrong(self, loop: ast.For | ast.While) -> bool:
        self.turns(loop)
        return self.wrong

    def turns(self, loop: ast.For | ast.While) -> None:
        for _ in range(2):
            self.take(loop)  # which gives its variables other values
            self.run(loop.body)

    def run(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            if isinstance(statement, ast.If):
                self.either(statement)
            elif isinstance(statement, ast.For | ast.While):
                self.turns(statement)
                self.run(statement.orelse)
            elif isinstance(statement, ast.With):
                if not any(forgets_gradients(item.context_expr) for item in statement.items):
                    self.run(statement.body)
            elif isinstance(statement, ast.Try):
                self.run([*statement.body, *statement.orelse, *statement.finalbody])
            elif not isinstance(statement, Inner):
                self.take(statement)

    def either(self, statement: ast.If) -> None:
        before, last = dict(self.through), self.last
        self.run(statement.body)
        one, at = self.through, self.last
        self.through, self.last = before, last
        self.run(statement.orelse)
        self.last = max(self.last, at)
        for name, found in one.items():
            self.through[name] = self.through.get(name, frozenset()) | found

    def take(self, statement: ast.stmt) -> None:
        """What it computes and binds; of a loop, what it runs over."""
        self.now += 1
        value = getattr(statement, "iter" if isinstance(statement, ast.For) else "value", None)
        found = self.sources(value) if isinstance(value, ast.AST) else frozenset()
        for call in (n for n in walk(value) if isinstance(n, ast.Call)) if isinstance(value, ast.AST) else ():
            if call in self.plan.facts.backward:
                self.backward(self.sources(call))
            elif self.contains(call, "backward") or self.contains(call, "forward"):
                self.enter(call)
            elif (
                isinstance(call.func, ast.Attribute)
                and (self.stores(call) or call.func.attr in ("add_", "sub_"))
                and isinstance(call.func.value, ast.Name)
            ):
                name = call.func.value.id  # losses.append(loss)
                self.through[name] = self.through.get(name, frozenset()) | self.sources(*call.args)
        for name, adds in _bound(statement):
            self.through[name] = found | (self.through.get(name, frozenset()) if adds else frozenset())

    def enter(self, call: ast.Call) -> None:
        """A function of the notebook that runs a backward itself, or keeps what came of a forward: `self.loss = …`."""
        outside, self.depth = self.through, self.depth - 1
        owner = _path(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        for body in self.plan.facts.calls[call].bodies if self.depth else ():
            if isinstance(body, ast.FunctionDef):
                self.through = outside
                given = {name: self.sources(value) for name, value in handed(call, body)}
                self.through = _moved(outside, owner, "self") | given
                self.run(body.body)
                kept = {path: v for path, v in _moved(self.through, "self", owner).items() if "." in path}
                outside = outside | kept
        self.through, self.depth = outside, self.depth + 1

    def backward(self, forwards: frozenset[int]) -> None:
        if forwards:
            self.wrong |= min(forwards) < self.last
            self.now += 1
            self.last = self.now

    def sources(self, *nodes: ast.AST) -> frozenset[int]:
        """The forwards that a value comes from with its gradients."""
        found: set[int] = set()
        for node in nodes:
            cut = isinstance(node, ast.Attribute) and entry_of(node).without_gradient
            if cut or isinstance(node, ast.Compare | Inner) or (isinstance(node, ast.Call) and self.detaches(node)):
                continue
            if isinstance(node, Comprehension):
                found |= self.made_by(node)
                continue
            if path := _path(node):
                found |= self.held(path)
                continue
            if isinstance(node, ast.Call) and (node in self.model.forward_calls or self.contains(node, "forward")):
                found.add(self.now)
            found |= self.sources(*ast.iter_child_nodes(node))
        return frozenset(found)

    def held(self, path: str) -> frozenset[int]:
        """By a name and its fields, or by a field and the name."""
        parts = (p for p in self.through if p == path or p.startswith(f"{path}.") or path.startswith(f"{p}."))
        return frozenset().union(*(self.through[p] for p in parts))

    def made_by(self, node: Comprehension) -> frozenset[int]:
        """`[h.detach() for h in state]`: of what it goes through only what it makes of it."""
        outside = self.through
        for generator in node.generators:
            found = self.sources(generator.iter)
            names = [n.id for n in walk(generator.target) if isinstance(n, ast.Name)]
            self.through = {**self.through, **dict.fromkeys(names, found)}
        made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        found, self.through = self.sources(*made), outside
        return found

    def detaches(self, call: ast.Call) -> bool:
        if entry_of(call).without_gradient:
            return True
        fact = self.plan.facts.calls.get(call)
        return fact is not None and any("detach" in _words(body) for body in fact.bodies)

    def stores(self, call: ast.Call) -> bool:
        """`losses.append(loss)`, and not `torch.add(loss, penalty)`."""
        return entry_of(call, self.plan.flow.imports).effect is Effect.STORES

    def contains(self, call: ast.Call, what: str, depth: int = DEPTH) -> bool:
        """Does a function of the notebook that is called here run a forward, or a backward?"""
        wanted = self.model.forward_calls if what == "forward" else self.plan.facts.backward
        fact = self.plan.facts.calls.get(call)
        bodies = fact.bodies if fact is not None and depth else ()
        calls = [n for body in bodies for n in walk(body) if isinstance(n, ast.Call)]
        return any(n in wanted or self.contains(n, what, depth - 1) for n in calls)


def _bound(statement: ast.stmt) -> Iterator[tuple[str, bool]]:
    """Names that it binds, and whether what they had stays in them."""
    parts = [*(getattr(statement, "targets", None) or [getattr(statement, "target", None)])]
    while parts:
        part = parts.pop()
        if isinstance(part, ast.Tuple | ast.List | ast.Starred):
            parts += part.elts if not isinstance(part, ast.Starred) else [part.value]
            continue
        plain = bool(_path(part)) and not isinstance(statement, ast.AugAssign)
        paths = [_path(part)] if plain else [n.id for n in walk(part) if isinstance(n, ast.Name)] if part else []
        yield from ((path, not plain) for path in paths)


def _moved(through: Mapping[str, frozenset[int]], owner: str, name: str) -> dict[str, frozenset[int]]:
    """`trainer.loss` is `self.loss` in the trainer's methods."""
    start = f"{owner}."
    return {f"{name}.{p.removeprefix(start)}" if owner and p.startswith(start) else p: v for p, v in through.items()}


def _path(node: ast.AST | None) -> str:
    """`loss`, `self.loss`; nothing for anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            return f"{name}.{attr}"
    return ""


def _words(node: ast.AST) -> set[str]:
    attributes = {n.attr for n in walk(node) if isinstance(n, ast.Attribute)}
    return attributes | {n.id for n in walk(node) if isinstance(n, ast.Name)}
