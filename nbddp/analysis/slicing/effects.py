"""What a statement reads, binds, mutates and defers, in the order in which it runs; what calls in it change."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from nbddp.analysis.library import MOVES, Effect, effect_of, gone_through, in_place
from nbddp.analysis.slicing.gradients import differentiated
from nbddp.analysis.slicing.names import Effects, Names
from nbddp.analysis.slicing.scopes import all_arguments, root_name
from nbddp.analysis.syntax import qualified, walk

MOVE_ON = ("__next__", "__setitem__", "__delitem__", "send")
HAND_ON = ("next", "iter", "list", "tuple", "dict", "reversed", "getattr", "zip", "enumerate")
GIVE_PARTS = ("parameters", "named_parameters", "children", "named_children", "modules", "named_modules", "buffers",
              "named_buffers", "state_dict", "values", "items", "get")  # fmt: skip


@dataclass(frozen=True)
class Changes:
    """Which of its arguments a function of the notebook changes."""

    parameters: tuple[str, ...] = ()
    changed: frozenset[str] = frozenset()
    every: bool = False
    defaults: tuple[tuple[str, str], ...] = ()  # parameters, and the names that stand for them where nothing is given

    def changes(self, argument: int | str | None) -> bool:
        if self.every or argument is None:
            return self.every or bool(self.changed)
        if isinstance(argument, int):
            known = argument < len(self.parameters)
            return self.parameters[argument] in self.changed if known else bool(self.changed)
        return argument in self.changed or (argument not in self.parameters and bool(self.changed))


UNKNOWN = Changes(every=True)


class Walk(Names):
    """What is called may change what it is called on, and what it is given."""

    def __init__(self, imports: Mapping[str, str], own_mutators: Mapping[str, Changes] | None = None) -> None:
        super().__init__(imports)
        self.own = own_mutators or {}
        self.called: set[ast.AST] = set()  # where they stand, and what they are read from
        self.shown: ast.AST | None = None  # the expression at the end of a cell
        self.nodes: list[ast.AST] = []  # all that is looked at, where calls in it may be made for a loss

    @functools.cached_property
    def differentiated(self) -> Set[str]:
        """What is called for a loss: it leaves what it is given alone."""
        return differentiated(self.nodes)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._hand_on(node)
        self.called.add(node.value)
        super().visit_Attribute(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.called.add(node.value)  # `os.environ["HOME"]`
        super().visit_Subscript(node)

    def visit_Name(self, node: ast.Name) -> None:
        self._hand_on(node)
        super().visit_Name(node)

    def _hand_on(self, node: ast.Name | ast.Attribute) -> None:
        """`seed = torch.manual_seed`, `add = rows.append`, `map(rows.append, found)`: called by another name."""
        if node in self.called or not isinstance(node.ctx, ast.Load):
            return
        name = None if self._is_local(root_name(node) or "") else qualified(node, self.imports)
        if name is not None:
            self.out.hands_on |= effect_of(name).ambient
            self.out.ambient |= self.out.hands_on
        elif isinstance(node, ast.Attribute) and _changes_its_own(node.attr):
            self.mutate(root_name(node))
            if not self._is_local(root := root_name(node) or ""):
                self.out.deferred_mutates.add(root)

    def visit_Call(self, node: ast.Call) -> None:
        self.called.add(node.func)
        self.generic_visit(node)
        name = None if self._is_local(root_name(node.func) or "") else qualified(node.func, self.imports)
        given = [*node.args, *(k.value for k in node.keywords)]
        if isinstance(node.func, ast.Name) and name is None:
            self._call_own(node, node.func.id)
        elif name is not None:
            self._call_library(name, given)
        elif isinstance(node.func, ast.Attribute):
            self._call_method(node.func, given)
        elif root_name(node.func) not in self.differentiated:  # `steps["fit"](model)`, `partial(fit, model)()`
            self.out.calls |= {root_name(node.func) or ".__call__"}  # `table["seed"](7)`, `Seeder(7)()`
            self._call_made(node.func, given)
        for changed in in_place(node, name):
            self.mutate(root_name(changed))
        self._run_given(given)
        if name == "functools.partial" and node.args:
            self._call_later(node)
        if name == "print":
            self._print_to([k.value for k in node.keywords if k.arg == "file"])
        if isinstance(node.func, ast.Name) and node.func.id in {"globals", "locals", "exec", "eval", "vars"}:
            self.out.uses_globals = True
            self._read_text(node)

    def _run_given(self, given: list[ast.expr]) -> None:
        """`frame.apply(lambda row: rows.append(row))`, `map(fill, rows)`, `sorted(rows, key=lambda r: r.pop())`."""
        for root in sorted(
            {n for g in given if isinstance(g, ast.Lambda) for n in self._changed_inside(g).out.mutates}
        ):
            self.mutate(root)
        for function in filter(self._changes_each, given):
            for source in gone_through(*(g for g in given if g is not function)):
                self._change(source)

    def _print_to(self, files: list[ast.expr]) -> None:
        for file in (f for f in files if root_name(f) not in self.imports):  # not `sys.stderr`
            self._change(file)

    def _call_later(self, node: ast.Call) -> None:
        """`partial(torch.mul, x, out=x)`: what it changes when it is called."""
        self.in_function += 1
        Walk.visit_Call(self, ast.Call(node.args[0], node.args[1:], node.keywords))
        self.in_function -= 1

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
        return bool(self._changed_inside(function).changed_inside & {a.arg for a in all_arguments(function.args)})

    def _changed_inside(self, function: ast.Lambda) -> Walk:
        inside = Walk(self.imports, self.own)
        inside.local += [*self.local, {a.arg for a in all_arguments(function.args)}]
        inside.visit(function.body)
        return inside

    def _call_own(self, node: ast.Call, name: str) -> None:
        if not self._is_local(name):
            self.out.calls.add(name)
        if f"{name}()" in self.own:
            self.mutate(name)
        own = self.own.get(name) or (Changes() if name in self.differentiated else UNKNOWN)
        for i, arg in enumerate(node.args):
            if own.changes(i):
                self._change_given(arg)
        for keyword in node.keywords:
            if own.changes(keyword.arg):
                self._change_given(keyword.value)
        told = {*own.parameters[: len(node.args)], *(k.arg for k in node.keywords)}
        for parameter, root in own.defaults:
            if own.changes(parameter) and parameter not in told:
                self.mutate(root)

    def _change_given(self, node: ast.expr) -> None:
        """`x`, `x[0]`; what a library makes of it, `torch.from_numpy(x)`, may be a part of it."""
        name = qualified(node.func, self.imports) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and name is not None and effect_of(name).reads:
            for given in (*node.args, *(k.value for k in node.keywords)) if not effect_of(name).fresh else ():
                self._change_given(given)
        else:
            self.mutate(root_name(node))

    def _change(self, node: ast.expr) -> None:
        """`x`, `x[0].data`; `next(net.parameters()).data`, `dict(net.named_parameters())["bias"]`, `[x, y][0]`."""
        while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
            node = node.value
        parts = node.elts if isinstance(node, ast.List | ast.Tuple) else []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            parts = [node.func.value] if node.func.attr in GIVE_PARTS else []
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            parts = node.args if node.func.id in HAND_ON else []
        for part in parts:
            self._change(part)
        self.mutate(root_name(node))

    def _call_library(self, name: str, given: list[ast.expr]) -> None:
        op = effect_of(name)
        self.out.ambient |= op.ambient or op.effect is Effect.UNKNOWN
        held = (part for arg in given for part in (arg.elts if isinstance(arg, ast.List | ast.Tuple) else [arg]))
        for arg in held if not (op.reads or op.ambient) else ():
            self.mutate(root_name(arg))
            if name.endswith("_"):
                self._change(arg)

    def _call_method(self, func: ast.Attribute, given: list[ast.expr]) -> None:
        op = effect_of(f".{func.attr}")
        self.out.ambient |= op.ambient
        self.out.calls.add(f".{func.attr}")
        if func.attr == "backward" and self.differentiated:
            for name in self.differentiated:
                self._differentiate(name)
        elif not op.reads:
            self._change(func)
            if isinstance(func.value, ast.Call) and isinstance(func.value.func, ast.Name):
                if func.value.func.id != "super" and func.attr not in MOVES:  # `super(Net, self).__init__()`
                    self._call_made(func.value, [])  # `Trainer(model).run()`
            left = op.effect in (Effect.STORES, Effect.CHANGES) or func.attr in MOVES  # `losses.append(x)`, `t.to(d)`
            for arg in given if not left else ():  # `trainer.fit(model)`
                self._change_given(arg)
        elif f".{func.attr}" in self.own:  # a method of the notebook's by that name changes what it is called on
            self.mutate(root_name(func))

    def _call_made(self, made: ast.expr, given: list[ast.expr]) -> None:
        """Whatever an expression gives may change what it is given, and what it was made of."""
        held = [*made.args, *(k.value for k in made.keywords)] if isinstance(made, ast.Call) else []
        for arg in (*given, *held):
            self._change_given(arg)

    def _differentiate(self, name: str) -> None:
        """A gradient reaches what a module or a function holds; a function of a library holds nothing."""
        if not effect_of(self.imports.get(name, "")).reads:
            only = name not in self.out.mutates or name in self.out.gradients
            self.mutate(name)
            self.out.gradients |= {name} & self.out.mutates if only else set()

    def visit_withitem(self, node: ast.withitem) -> None:
        """`with scaled(x):`, of a class of the notebook, may change what it was made of when it is entered."""
        self.generic_visit(node)
        self.out.calls |= {".__enter__", ".__exit__"}
        match node.context_expr:
            case ast.Call(func=ast.Name(id=name)) as made if name not in self.imports:
                self._call_made(made, [])

    def visit_Expr(self, node: ast.Expr) -> None:
        """`model.double()` on its own: a tensor's would be of no use there, a model's changes the model.

        So would be what a library computes, where it does not stand at the end of a cell to be shown.
        """
        self.visit(node.value)
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            if effect_of(f".{node.value.func.attr}").effect is Effect.CONVERTS:
                self.mutate(root_name(node.value.func))
        name = qualified(node.value.func, self.imports) if isinstance(node.value, ast.Call) else None
        op = effect_of(name or "")
        if isinstance(node.value, ast.Call) and _computes(name or "") and node is not self.shown:
            said = any(in_place(node.value, name)) or op.display or op.out or op.bar or op.draws
            for given in node.value.args if op.reads and not said else ():
                self.mutate(root_name(given))


def _changes_its_own(method: str) -> bool:
    """`rows.append`, `x.mul_`, `rng.permutation`, `turns.__next__`."""
    op = effect_of(f".{method}")
    changes = op.effect in (Effect.STORES, Effect.CHANGES, Effect.REORDERS)
    stores = changes or bool(op.draws) or method in MOVE_ON
    return stores or (method.endswith("_") and not method.endswith("__"))


def _computes(name: str) -> bool:
    """A function of a library for numbers; not `time.sleep(delay)`, `torch.cuda.synchronize(device)`."""
    library, dot, _ = name.partition(".")
    return bool(dot) and library not in sys.stdlib_module_names and not name.startswith("torch.cuda.")


def _statements_of(call: ast.Call) -> list[ast.stmt]:
    """Those of the text that is given, where it is known."""
    match call.args[:1]:
        case [ast.Constant(value=str(text))]:
            try:
                return ast.parse(text).body
            except SyntaxError:
                pass
    return []


def effects(
    nodes: Iterable[ast.AST],
    imports: Mapping[str, str],
    own_mutators: Mapping[str, Changes] | None = None,
    shown: ast.AST | None = None,
) -> Effects:
    walk, nodes = Walk(imports, own_mutators), list(nodes)
    walk.nodes, walk.shown = nodes, shown
    for node in nodes:
        walk.visit(node)
    return walk.out


def displays_only(node: ast.stmt, found: Effects, imports: Mapping[str, str]) -> bool:
    """Shows something and changes nothing: a bare expression, a print, a plot."""
    if found.ambient or found.may_bind or found.mutates - _plot_names(node, imports):
        return False
    return isinstance(node, ast.Expr | ast.If | ast.For | ast.With)


def _plot_names(node: ast.stmt, imports: Mapping[str, str]) -> set[str]:
    return {n.id for n in walk(node) if isinstance(n, ast.Name) and effect_of(imports.get(n.id, n.id)).display}
