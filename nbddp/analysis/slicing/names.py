"""Which names a piece of code reads, binds and changes, in the order in which it runs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field

from nbddp.analysis.library import effect_of, gone_through
from nbddp.analysis.slicing.scopes import Function, bound_names, local_names, root_name
from nbddp.analysis.syntax import bindings, walk


@dataclass
class Effects:
    """Names of the enclosing scope that a piece of code touches."""

    reads: set[str] = field(default_factory=set)  # may be read before this code binds them
    binds: set[str] = field(default_factory=set)  # bound for sure
    may_bind: set[str] = field(default_factory=set)
    mutates: set[str] = field(default_factory=set)
    gradients: set[str] = field(default_factory=set)  # those of them that only a gradient reaches
    deferred: set[str] = field(default_factory=set)  # read when a function defined here is called
    deferred_mutates: set[str] = field(default_factory=set)
    loads: set[str] = field(default_factory=set)  # every name looked up, also after binding it
    calls: set[str] = field(default_factory=set)  # names of this scope that are called, with what they are given
    ambient: bool = False  # seeds, files, environment: changes what no name shows
    hands_on: bool = False  # a function that does, which it does not call itself: `seed = torch.manual_seed`
    uses_globals: bool = False


class Names(ast.NodeVisitor):
    """Runs over code once, in order of evaluation; `local` are names of inner scopes."""

    def __init__(self, imports: Mapping[str, str]) -> None:
        self.imports = imports
        self.out = Effects()
        self.local: list[Set[str]] = []
        self.changed_inside: set[str] = set()  # names of inner scopes
        self.in_function = 0

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

    def store(self, name: str) -> None:
        if not self._is_local(name) and not self.in_function:
            self.out.binds.add(name)
            self.out.may_bind.add(name)

    def mutate(self, name: str | None) -> None:
        if name is None or self._is_local(name):
            self.changed_inside |= {name} if name else set()
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
        self._visit_part(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._visit_part(node)

    def _visit_part(self, node: ast.Attribute | ast.Subscript) -> None:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            self.mutate(root_name(node))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.visit(node.target)

    def _inner(self, names: Set[str], parts: Iterable[ast.AST]) -> set[str]:
        """Which of the inner names stand for things that the parts change."""
        before, self.changed_inside = self.changed_inside, set()
        self.local.append(names)
        for part in parts:
            self.visit(part)
        self.local.pop()
        changed, self.changed_inside = self.changed_inside & names, before | (self.changed_inside - names)
        return changed

    def _comprehension(self, generators: list[ast.comprehension], results: list[ast.expr]) -> None:
        self.visit(generators[0].iter)
        names = {n.id for g in generators for n in walk(g.target) if isinstance(n, ast.Name)}
        rest: list[ast.AST] = [c for g in generators for c in g.ifs]
        rest += [g.iter for g in generators[1:]]
        inside = self._inner(names, [*rest, *results])
        for generator in reversed(generators):  # `[freeze(p) for p in model.parameters()]` changes the model
            if inside & {n.id for n in walk(generator.target) if isinstance(n, ast.Name)}:
                for root in map(root_name, gone_through(generator.iter)):
                    if root in names:
                        inside.add(root)
                    else:
                        self.mutate(root)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> None:
        self._comprehension(node.generators, [node.elt])

    visit_SetComp = visit_GeneratorExp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node.generators, [node.key, node.value])

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.args)
        self._body(node, [node.body])

    def _body(self, node: Function, body: Iterable[ast.AST]) -> None:
        self.in_function += 1
        self._inner(local_names(node), body)
        self.in_function -= 1

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for part in [*node.decorator_list, node.args, *([node.returns] if node.returns else [])]:
            self.visit(part)
        self._body(node, node.body)
        self.store(node.name)

    visit_AsyncFunctionDef = visit_FunctionDef

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

    visit_ImportFrom = visit_Import

    def visit_Global(self, node: ast.Global) -> None:
        self.out.deferred_mutates.update(node.names)

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

    visit_AsyncFor = visit_For

    def visit_Try(self, node: ast.Try) -> None:
        self._branches(node.body + node.orelse, *([*h.body] for h in node.handlers if h.body))
        for part in [*(h.type for h in node.handlers if h.type), *node.finalbody]:
            self.visit(part)

    visit_TryStar = visit_Try

    def visit_Match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        before = set(self.out.binds)
        for case in node.cases:
            for part in walk(case.pattern):
                if isinstance(part, ast.MatchAs | ast.MatchStar) and part.name:
                    self.store(part.name)
        self._branches(*(([c.guard] if c.guard else []) + c.body for c in node.cases), [])
        self.out.binds = before  # no case may match
