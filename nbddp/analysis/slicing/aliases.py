"""Which names may stand for parts of one thing: what changes one of them changes the others.

`for p in model.parameters(): p.requires_grad = False` changes the model, `train_set.transform = None` the loader that
was built on it. By name and by the shape of expressions; in doubt two names share, so that too much is kept.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from nbddp.analysis.library import Effect, effect_of
from nbddp.analysis.syntax import assigned, qualified

Inner = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
Written = ast.List | ast.Tuple | ast.Set | ast.Dict | ast.ListComp | ast.SetComp | ast.DictComp
ASKS = (ast.Is, ast.IsNot, ast.In, ast.NotIn)  # whose answers are plain, whatever is asked
PLAIN = ("len", "int", "float", "str", "bool")
Binding = tuple[ast.expr, ast.expr, bool]  # a target, what it may share parts with, and whether by iterating it


class Sharing:
    """Grows statement by statement."""

    def __init__(self, imports: Mapping[str, str]) -> None:
        self.imports = imports
        self._holds: dict[str, set[str]] = {}  # a name, and those whose things it may hold or be a part of
        self._held_by: dict[str, set[str]] = {}
        self._plain: set[str] = set()  # numbers, strings, devices: nothing that could be changed
        self._loaders: set[str] = set()  # what they yield is new each time
        self._lists: set[str] = set()  # and the like, as they are written

    def follow(self, node: ast.stmt) -> None:
        """What shares with what once the statement has run."""
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name not in self.roots(node.value):
                self._forget(name)
            (self._plain.add if self._is_plain(node.value) else self._plain.discard)(name)
            (self._loaders.add if self._is_loader(node.value) else self._loaders.discard)(name)
            (self._lists.add if isinstance(node.value, Written) else self._lists.discard)(name)
        else:
            self._plain -= {getattr(node, "name", "")}
            for target, value, turns in _bindings([node]):
                self._plain -= set() if self._is_plain(value) and not turns else _targets(target)
        for target, value, turns in _bindings([node]):
            roots = self.roots(value) - (self._loaders if turns else set())
            for name in _targets(target):
                for root in roots - {name}:
                    self._holds.setdefault(name, set()).add(root)
                    self._held_by.setdefault(root, set()).add(name)

    def of(self, names: Iterable[str]) -> frozenset[str]:
        """The names, and all that may share parts with one of them: what they hold, and then what holds any of that.

        What is held beside it is not changed: `losses = train(net, X)` holds both, and a change of the net leaves X.
        """
        return _closure(_closure(names, self._holds), self._held_by)

    def plain(self) -> frozenset[str]:
        """Names of what cannot be changed: a statement may bind them anew, and do nothing else to them."""
        return frozenset(self._plain)

    def _forget(self, name: str) -> None:
        for there, back in ((self._holds, self._held_by), (self._held_by, self._holds)):
            for other in there.pop(name, set()):
                back[other].discard(name)

    def _is_loader(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and (qualified(node.func, self.imports) or "").endswith(".DataLoader")

    def _may_be_loader(self, node: ast.expr) -> bool:
        """Of a name that stands for no list it is not known; `model.parameters()` is none."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        return isinstance(node, ast.Name) and node.id not in self._lists

    def _is_plain(self, node: ast.expr) -> bool:
        if isinstance(node, ast.IfExp):
            return self._is_plain(node.body) and self._is_plain(node.orelse)
        if isinstance(node, ast.Call):
            return qualified(node.func, self.imports) == "torch.device" or getattr(node.func, "id", "") in PLAIN
        if isinstance(node, ast.Compare):  # `X > 0` is a tensor, which may be written into
            return all(isinstance(op, ASKS) for op in node.ops) or all(
                map(self._is_plain, (node.left, *node.comparators))
            )
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Not) or self._is_plain(node.operand)
        return isinstance(node, ast.Constant | ast.JoinedStr) or getattr(node, "id", "") in self._plain

    def roots(self, node: ast.expr) -> set[str]:
        """Names whose things may be in the value of the expression."""
        match node:
            case ast.Name():
                return set() if node.id in self._plain or node.id in self.imports else {node.id}
            case ast.Attribute() | ast.Subscript() | ast.Starred() | ast.NamedExpr() | ast.Await():
                return self.roots(node.value)
            case ast.Call():
                return self._of_call(node)
            case ast.IfExp():
                return self.roots(node.body) | self.roots(node.orelse)
            case ast.BinOp(op=ast.Add()):
                return self.roots(node.left) | self.roots(node.right)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self._of_comprehension(node.generators, [node.elt])
            case ast.DictComp():
                return self._of_comprehension(node.generators, [node.value])
            case ast.Tuple() | ast.List() | ast.Set() | ast.BoolOp() | ast.Dict():
                return self._of_all(n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))
        return set()

    def _of_all(self, nodes: Iterable[ast.expr]) -> set[str]:
        return {name for node in nodes for name in self.roots(node)}

    def _of_comprehension(self, generators: list[ast.comprehension], results: list[ast.expr]) -> set[str]:
        inner = {n for g in generators for n in _targets(g.target)}
        results_share = self._of_all(results)
        return (results_share - inner) | (self._of_all(g.iter for g in generators) if results_share & inner else set())

    def _of_call(self, node: ast.Call) -> set[str]:
        arguments = [*node.args, *(k.value for k in node.keywords)]
        name = qualified(node.func, self.imports)
        if name is not None:
            if effect_of(name).fresh or (name in ("iter", "next") and arguments and self._may_be_loader(arguments[0])):
                return set()
            return self._of_all(arguments)
        if isinstance(node.func, ast.Attribute):  # `model.to(device)` is the model
            return set() if effect_of(f".{node.func.attr}").fresh else self.roots(node.func.value)
        return self._of_all(arguments)  # a function or class of the notebook


def _closure(names: Iterable[str], edges: Mapping[str, set[str]]) -> frozenset[str]:
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo.extend(edges.get(name, ()))
    return frozenset(found)


def drawn_on(tree: ast.AST, imports: Mapping[str, str]) -> set[str]:
    """Names that only ever stand for figures and the like: `fig, ax = plt.subplots()`, `for ax in axes.flat`."""
    values: dict[str, list[ast.expr]] = {}
    for target, value, _ in _bindings([tree]):
        for name in _targets(target):
            values.setdefault(name, []).append(value)
    found: set[str] = set()
    while new := {n for n, v in values.items() if n not in found and all(_draws(x, imports, found) for x in v)}:
        found |= new
    return found


def _draws(node: ast.expr, imports: Mapping[str, str], known: set[str]) -> bool:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        name = qualified(node, imports)
        if name is not None and "." in name and effect_of(name).display:
            return True
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id in known


def shared_inside(body: list[ast.stmt], imports: Mapping[str, str], names: Iterable[str]) -> frozenset[str]:
    """The names, and all that may share parts with them somewhere in the body of a function."""
    sharing = Sharing(imports)
    for statement in body:
        sharing.follow(ast.If(ast.Constant(True), [statement], []))  # nothing is forgotten: the order does not count
    return sharing.of(names)


def _bindings(nodes: Iterable[ast.AST]) -> Iterator[Binding]:
    """Targets and what they get, inner functions and classes left out."""
    todo = list(nodes)
    while todo:
        node = todo.pop()
        match node:
            case ast.Assign() | ast.AugAssign() | ast.NamedExpr() | ast.withitem():
                yield from ((target, value, False) for target, value in assigned(node))
            case ast.For() | ast.AsyncFor():
                yield from _turns(node.target, node.iter)
            case ast.Call(func=ast.Attribute(attr=attr)) if effect_of(f".{attr}").effect is Effect.STORES:
                yield from ((node.func, a, False) for a in [*node.args, *(k.value for k in node.keywords)])
        if not isinstance(node, Inner):
            todo.extend(ast.iter_child_nodes(node))


def _turns(target: ast.expr, source: ast.expr) -> Iterator[Binding]:
    """`for i, x in enumerate(xs)` and `for x, y in zip(xs, ys)`: part by part."""
    name = source.func.id if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) else ""
    if isinstance(source, ast.Call) and isinstance(target, ast.Tuple) and source.args:
        if name == "enumerate" and len(target.elts) == 2:
            yield from _turns(target.elts[1], source.args[0])
            return
        if name == "zip" and len(target.elts) == len(source.args):
            for part, argument in zip(target.elts, source.args, strict=True):
                yield from _turns(part, argument)
            return
    yield target, source, True


def _targets(target: ast.expr) -> set[str]:
    """Names that a target binds, or whose content it changes."""
    if isinstance(target, ast.Tuple | ast.List):
        return {n for part in target.elts for n in _targets(part)}
    while isinstance(target, ast.Attribute | ast.Subscript | ast.Starred):
        target = target.value
    return {target.id} if isinstance(target, ast.Name) else set()
