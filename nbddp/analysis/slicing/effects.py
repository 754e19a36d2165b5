"""What a statement reads, binds, mutates and defers, in the order in which it runs."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field

from nbddp.analysis.library import Effect, effect_of, gone_through, in_place
from nbddp.analysis.syntax import bindings, qualified, walk

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass
class Effects:
    """Names of the enclosing scope that a piece of code touches."""

    reads: set[str] = field(default_factory=set)  # may be read before this code binds them
    needs: set[str] = field(default_factory=set)  # surely read, were every branch to run: must exist before
    binds: set[str] = field(default_factory=set)  # bound for sure
    may_bind: set[str] = field(default_factory=set)
    mutates: set[str] = field(default_factory=set)
    gradients: set[str] = field(default_factory=set)  # those of them that only a gradient reaches
    deferred: set[str] = field(default_factory=set)  # read when a function defined here is called
    deferred_mutates: set[str] = field(default_factory=set)
    loads: set[str] = field(default_factory=set)  # every name looked up, also after binding it
    calls: set[str] = field(default_factory=set)  # names of this scope that are called, with what they are given
    ambient: bool = False  # seeds, files, environment: changes what no name shows
    uses_globals: bool = False


@dataclass(frozen=True)
class Changes:
    """Which of its arguments a function of the notebook changes."""

    parameters: tuple[str, ...] = ()
    changed: frozenset[str] = frozenset()
    every: bool = False

    def changes(self, argument: int | str | None) -> bool:
        if self.every or argument is None:
            return self.every or bool(self.changed)
        if isinstance(argument, int):
            known = argument < len(self.parameters)
            return self.parameters[argument] in self.changed if known else bool(self.changed)
        return argument in self.changed or (argument not in self.parameters and bool(self.changed))


UNKNOWN = Changes(every=True)


class Walk(ast.NodeVisitor):
    """Runs over code once, in order of evaluation; `local` are names of inner scopes."""

    def __init__(self, imports: Mapping[str, str], own_mutators: Mapping[str, Changes] | None = None) -> None:
        self.imports = imports
        self.own = own_mutators or {}
        self.out = Effects()
        self.local: list[Set[str]] = []
        self.surely: set[str] = set()  # names of inner scopes whose things this code changes beyond doubt
        self.in_function = 0
        self.nodes: list[ast.AST] = []  # all that is looked at, where calls in it may be made for a loss

    # names -----------------------------------------------------------------
    def _is_local(self, name: str) -> bool:
        return any(name in scope for scope in self.local)

    def load(self, name: str) -> None:
        if self._is_local(name):
            return
        if self.in_function:
            self.out.deferred.add(name)
            return
        self.out.loads.add(name)
        if name not in self.out.binds:
            self.out.reads.add(name)
            if name not in self.out.may_bind:
                self.out.needs.add(name)

    def store(self, name: str) -> None:
        if not self._is_local(name) and not self.in_function:
            self.out.binds.add(name)
            self.out.may_bind.add(name)

    def mutate(self, name: str | None) -> None:
        if name is None or self._is_local(name):
            return
        self.out.gradients.discard(name)
        if name in self.imports:  # `os.environ["X"] = "1"`, `sys.path += [...]`: no name shows it
            self.out.ambient |= not effect_of(self.imports[name]).display
            return
        (self.out.deferred_mutates if self.in_function else self.out.mutates).add(name)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.load(node.id)
        elif isinstance(node.ctx, ast.Store):
            self.store(node.id)
        elif not self._is_local(node.id) and not self.in_function:
            self.load(node.id)  # `del a` takes a name away that must be there; what it stood for stays as it is
            self.out.may_bind.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.visit(node.value)
        if not isinstance(node.ctx, ast.Load):
            self.mutate(root_name(node))

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        self.visit(node.slice)
        if not isinstance(node.ctx, ast.Load):
            self.mutate(root_name(node))

    def _change_surely(self, name: str | None) -> None:
        if name is not None and self._is_local(name):
            self.surely.add(name)

    @functools.cached_property
    def differentiated(self) -> Set[str]:
        """What is called for a loss: it leaves what it is given alone."""
        return differentiated(self.nodes)

    # expressions -----------------------------------------------------------
    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.visit(node.target)

    def visit_Call(self, node: ast.Call) -> None:
        self.visit(node.func)
        for arg in [*node.args, *(k.value for k in node.keywords)]:
            self.visit(arg)
        name = None if self._is_local(root_name(node.func) or "") else qualified(node.func, self.imports)
        given = [*node.args, *(k.value for k in node.keywords)]
        if isinstance(node.func, ast.Name) and name is None:
            self._call_own(node, node.func.id)
        elif name is not None:
            self._call_library(name, given)
        elif isinstance(node.func, ast.Attribute):
            self._call_method(node.func, given)
        for changed in in_place(node, name):
            self.mutate(root_name(changed))
        if name in ("map", "filter") and len(node.args) > 1 and self._changes_each(node.args[0]):
            for source in gone_through(*node.args[1:]):
                self.mutate(root_name(source))
        if isinstance(node.func, ast.Name) and node.func.id in {"globals", "locals", "exec", "eval", "vars"}:
            self.out.uses_globals = True
            self._read_text(node)

    def _read_text(self, call: ast.Call) -> None:
        """What the statements of a text do, where it is known."""
        inside = effects(_statements_of(call), self.imports, self.own)
        for does, names in ((self.load, inside.reads), (self.mutate, inside.mutates), (self.store, inside.may_bind)):
            for name in sorted(names):
                does(name)

    def _changes_each(self, function: ast.expr) -> bool:
        """Does `map` change what it hands over to the function?"""
        if isinstance(function, ast.Name):
            return function.id in self.own and self.own[function.id].changes(0)
        if not isinstance(function, ast.Lambda):
            return False
        names = {a.arg for a in all_arguments(function.args)}
        inside = Walk(self.imports, self.own)
        inside.local.append(names)
        inside.visit(function.body)
        return bool(inside.surely & names)

    def _call_own(self, node: ast.Call, name: str) -> None:
        if not self._is_local(name):
            self.out.calls.add(name)
        if f"{name}()" in self.own:
            self.mutate(name)
            self._change_surely(name)
        own = self.own.get(name) or (Changes() if name in self.differentiated else UNKNOWN)
        for i, arg in enumerate(node.args):
            if own.changes(i):
                self.mutate(root_name(arg))
                if name in self.own or (name == "setattr" and i == 0):
                    self._change_surely(root_name(arg))
        for keyword in node.keywords:
            if own.changes(keyword.arg):
                self.mutate(root_name(keyword.value))

    def _call_library(self, name: str, given: list[ast.expr]) -> None:
        op = effect_of(name)
        self.out.ambient |= op.ambient or op.effect is Effect.UNKNOWN
        for arg in given if not (op.reads or op.ambient) else ():
            self.mutate(root_name(arg))
            if name.endswith("_"):
                self._change_surely(root_name(arg))

    def _call_method(self, func: ast.Attribute, given: list[ast.expr]) -> None:
        op = effect_of(f".{func.attr}")
        self.out.ambient |= op.ambient
        if func.attr == "backward" and self.differentiated:
            for name in self.differentiated:
                self._differentiate(name)
        elif not op.reads:
            self.mutate(root_name(func))
            surely = op.effect in (Effect.STORES, Effect.CHANGES)
            if surely or (func.attr.endswith("_") and not func.attr.endswith("__")):
                self._change_surely(root_name(func))
            for arg in given if not surely else ():  # `trainer.fit(model)`, not `losses.append(x)`
                self.mutate(root_name(arg))
        elif f".{func.attr}" in self.own:  # a method of the notebook's by that name changes what it is called on
            self.mutate(root_name(func))

    def _differentiate(self, name: str) -> None:
        """A gradient reaches what a module or a function holds; a function of a library holds nothing."""
        if not effect_of(self.imports.get(name, "")).reads:
            only = name not in self.out.mutates or name in self.out.gradients
            self.mutate(name)
            self.out.gradients |= {name} & self.out.mutates if only else set()

    def visit_Expr(self, node: ast.Expr) -> None:
        """`model.double()` on its own: a tensor's would be of no use there, a model's changes the model."""
        self.visit(node.value)
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            if effect_of(f".{node.value.func.attr}").effect is Effect.CONVERTS:
                self.mutate(root_name(node.value.func))

    def _inner(self, names: Set[str], parts: Iterable[ast.AST]) -> None:
        self.local.append(names)
        for part in parts:
            self.visit(part)
        self.local.pop()

    def _comprehension(self, generators: list[ast.comprehension], results: list[ast.expr]) -> None:
        self.visit(generators[0].iter)
        names = {n.id for g in generators for n in walk(g.target) if isinstance(n, ast.Name)}
        rest: list[ast.AST] = [c for g in generators for c in g.ifs]
        rest += [g.iter for g in generators[1:]]
        before, self.surely = self.surely, set()
        self._inner(names, [*rest, *results])
        inside, self.surely = self.surely, before | (self.surely - names)
        for generator in reversed(generators):  # `[freeze(p) for p in model.parameters()]` changes the model
            if inside & {n.id for n in walk(generator.target) if isinstance(n, ast.Name)}:
                for root in map(root_name, gone_through(generator.iter)):
                    if root in names:
                        inside.add(root)
                    else:
                        self.mutate(root)
                        self._change_surely(root)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node.generators, [node.elt])

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node.generators, [node.elt])

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node.generators, [node.elt])

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node.generators, [node.key, node.value])

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._header(node.args)
        self._body(node, [node.body])

    # definitions -----------------------------------------------------------
    def _header(self, args: ast.arguments) -> None:
        for default in [*args.defaults, *(d for d in args.kw_defaults if d)]:
            self.visit(default)
        for arg in all_arguments(args):
            if arg.annotation:
                self.visit(arg.annotation)

    def _body(self, node: Function, body: Iterable[ast.AST]) -> None:
        self.in_function += 1
        self._inner(local_names(node), body)
        self.in_function -= 1

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
        self._header(node.args)
        if node.returns:
            self.visit(node.returns)
        self._body(node, node.body)
        self.store(node.name)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]:
            self.visit(part)
        # names of the class body are seen by its statements but not by its methods
        own: set[str] = set()
        for statement in node.body:
            self.local.append(own if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) else set())
            self.visit(statement)
            self.local.pop()
            own |= bound_names([statement])
        for name in own - {node.name}:
            if not self._is_local(name):
                self.out.binds.discard(name)
                self.out.may_bind.discard(name)
        self.store(node.name)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for name, _ in bindings(node):
            self.store(name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.visit_Import(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.out.deferred_mutates.update(node.names)

    # statements in order of evaluation ---------------------------------------
    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)
            self.visit(node.target)
        self.visit(node.annotation)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.load(node.target.id)
            self.mutate(node.target.id)
        self.visit(node.value)
        self.visit(node.target)

    def _branches(self, *branches: Iterable[ast.AST]) -> None:
        """Each may run: what all of them bind is bound after."""
        before, ends = set(self.out.binds), []
        for branch in branches:
            self.out.binds = set(before)
            nodes = list(branch)
            for node in nodes:
                self.visit(node)
            if not (nodes and isinstance(nodes[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)):
                ends.append(self.out.binds)
        self.out.binds = set.intersection(*ends) if ends else before

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self._branches(node.body, node.orelse)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        self._branches([node.body], [node.orelse])

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.visit(node.values[0])
        for value in node.values[1:]:
            self._branches([value], [])

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        # A loop counts as run at least once: exploration cells would stay only for `loss` read after a loop else.
        for part in [node.iter, node.target, *node.body, *node.orelse]:
            self.visit(part)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> None:
        self.visit_For(node)

    def visit_Try(self, node: ast.Try) -> None:
        self._branches(node.body + node.orelse, *([*h.body] for h in node.handlers if h.body))
        for handler in node.handlers:
            if handler.type:
                self.visit(handler.type)
        for part in node.finalbody:
            self.visit(part)

    def visit_TryStar(self, node: ast.Try) -> None:
        self.visit_Try(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        for part in node.body:
            self.visit(part)

    def visit_With(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            self.visit(item.context_expr)
            if item.optional_vars:
                self.visit(item.optional_vars)
        for part in node.body:
            self.visit(part)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> None:
        self.visit_With(node)

    def visit_Match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        before = set(self.out.binds)
        for case in node.cases:
            for part in walk(case.pattern):
                if isinstance(part, ast.MatchAs | ast.MatchStar) and part.name:
                    self.store(part.name)
        self._branches(*(([c.guard] if c.guard else []) + c.body for c in node.cases), [])
        self.out.binds = before  # no case may match


def _statements_of(call: ast.Call) -> list[ast.stmt]:
    """Those of the text that is given, where it is known."""
    match call.args[:1]:
        case [ast.Constant(value=str(text))]:
            try:
                return ast.parse(text).body
            except SyntaxError:
                pass
    return []


def root_name(node: ast.expr) -> str | None:
    """`a` of `a.b[c].d()`; what a call chain starts from."""
    while True:
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        else:
            return None


def all_arguments(args: ast.arguments) -> list[ast.arg]:
    extra = [a for a in (args.vararg, args.kwarg) if a]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *extra]


def bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that statements bind in their own scope, not in inner functions, classes and comprehensions."""
    found: set[str] = set()
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            todo.extend(node.decorator_list)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update(name for name, _ in bindings(node))
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
            todo.extend(ast.iter_child_nodes(node))
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            found.add(node.name)
            todo.extend(ast.iter_child_nodes(node))
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            todo.extend(n for n in walk(node) if isinstance(n, ast.NamedExpr))
        elif not isinstance(node, ast.Lambda):
            todo.extend(ast.iter_child_nodes(node))
    return found


@functools.lru_cache(maxsize=1024)
def local_names(node: Function) -> frozenset[str]:
    """Names that a function keeps to itself; asked for again and again, of every name in reach."""
    names = frozenset(a.arg for a in all_arguments(node.args))
    if isinstance(node, ast.Lambda):
        return names
    outer = {n for s in walk(node) if isinstance(s, ast.Global | ast.Nonlocal) for n in s.names}
    return (names | bound_names(node.body)) - outer


def effects(
    nodes: Iterable[ast.AST], imports: Mapping[str, str], own_mutators: Mapping[str, Changes] | None = None
) -> Effects:
    walk, nodes = Walk(imports, own_mutators), list(nodes)
    walk.nodes = nodes
    for node in nodes:
        walk.visit(node)
    return walk.out


def differentiated(nodes: Iterable[ast.AST]) -> Set[str]:
    """The names by which a gradient's loss is computed: `model` and `criterion` of `loss = criterion(model(x), y)`."""
    calls, assigned = list[ast.Call](), list[ast.Assign]()
    for part in (part for node in nodes for part in walk(node)):
        if isinstance(part, ast.Call):
            calls.append(part)
        elif isinstance(part, ast.Assign):
            assigned.append(part)
    made: list[ast.AST] = [n for n in calls if isinstance(n.func, ast.Attribute) and n.func.attr == "backward"]
    names = set[str]()
    while new := {n.id for m in made for n in walk(m) if isinstance(n, ast.Name)} - names:
        names |= new
        made += [a.value for a in assigned if any(isinstance(n, ast.Name) and n.id in new for n in _targets(a))]
    return {n.func.id for m in made for n in walk(m) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}


def _targets(node: ast.Assign) -> Iterator[ast.AST]:
    return (n for target in node.targets for n in walk(target))


def displays_only(node: ast.stmt, found: Effects, imports: Mapping[str, str]) -> bool:
    """Shows something and changes nothing: a bare expression, a print, a plot."""
    if found.ambient or found.may_bind or found.mutates - _plot_names(node, imports):
        return False
    return isinstance(node, ast.Expr | ast.If | ast.For | ast.With)


def _plot_names(node: ast.stmt, imports: Mapping[str, str]) -> set[str]:
    return {n.id for n in walk(node) if isinstance(n, ast.Name) and effect_of(imports.get(n.id, n.id)).display}
