"""What a variable of the code may hold: followed through assignments, arguments and what functions return."""

from __future__ import annotations

import ast
from collections.abc import Iterator

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
ASSIGNS = (ast.Assign, ast.AnnAssign)
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module:
    """One file, whose variables can be asked for the texts that they may hold."""

    def __init__(self, tree: ast.Module) -> None:
        self.parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self.tree = tree
        self.calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        self.functions = {node.name: node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)}

    def texts(self, node: ast.expr) -> tuple[str, ...]:
        """The forms of the sentences that it may be."""
        return tuple(dict.fromkeys(form for call in self.values(node, frozenset()) if (form := form_of(call))))

    def words(self, node: ast.expr) -> tuple[str, ...]:
        """The strings that it may be."""
        found = (n.value for n in self.values(node, frozenset()) if isinstance(n, ast.Constant))
        return tuple(dict.fromkeys(word for word in found if isinstance(word, str)))

    def values(self, node: ast.expr, seen: frozenset[ast.expr]) -> Iterator[ast.expr]:
        """The calls of `sentence` and the constants that may arrive here."""
        if node in seen:
            return
        if form_of(node) or isinstance(node, ast.Constant):
            yield node
            return
        for source in self._sources(node):
            yield from self.values(source, seen | {node})

    def _sources(self, node: ast.expr) -> Iterator[ast.expr]:
        match node:
            case ast.IfExp(body=body, orelse=other):
                yield from (body, other)
            case ast.BoolOp(values=values) | ast.Tuple(elts=values):
                yield from values
            case ast.Subscript(value=inner) | ast.Starred(value=inner):
                yield inner
            case ast.Dict(values=values):
                yield from values
            case ast.Name(id=name):
                yield from self._bound(node, name)
            case ast.Call(func=ast.Name(id=name)) if name in self.functions:
                inside = ast.walk(self.functions[name])
                yield from (n.value for n in inside if isinstance(n, ast.Return) and n.value is not None)

    def _bound(self, node: ast.expr, name: str) -> Iterator[ast.expr]:
        """What the variable is assigned in its function, or given by its callers, or in the module."""
        function = self.function_of(node)
        assigned = list(self._assigned(node, name, function)) if function else []
        if name in defaults(function):
            calls = [call for call in self.calls if function and name_of(call.func) == function.name]
            passed = [{**defaults(function), **arguments(function, call)}.get(name) for call in calls]
            assigned += [value for value in passed if value is not None]
        elif not assigned:
            top = [n for n in self.tree.body if isinstance(n, ASSIGNS)]
            assigned = [value for statement in top for value in assigned_to(statement, name)]
        yield from assigned

    def _assigned(self, node: ast.expr, name: str, function: Function) -> Iterator[ast.expr]:
        """Before the node; what stands in a block around it takes the place of what stood before."""
        around, blocks = self.parents.get(node), []
        while around is not None:
            blocks.append(around)
            around = self.parents.get(around)
        held: list[ast.expr] = []
        for statement in sorted((n for n in ast.walk(function) if isinstance(n, ASSIGNS)), key=lambda n: n.lineno):
            values = list(assigned_to(statement, name)) if statement.lineno <= node.lineno else []
            held = values if values and self.parents[statement] in blocks else held + values
        yield from held

    def function_of(self, node: ast.AST) -> Function | None:
        while (around := self.parents.get(node)) is not None:
            if isinstance(around, FUNCTIONS):
                return around
            node = around
        return None


def form_of(node: ast.AST) -> str:
    """The text with its places, where the node is a call of `sentence`."""
    if isinstance(node, ast.Call) and name_of(node.func) == "sentence" and isinstance(node.args[0], ast.Constant):
        return str(node.args[0].value)
    return ""


def name_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def defaults(function: Function | None) -> dict[str, ast.expr | None]:
    """Each parameter, with its default where it has one."""
    if function is None:
        return {}
    plain = [*function.args.posonlyargs, *function.args.args]
    have = [None] * (len(plain) - len(function.args.defaults)) + function.args.defaults
    pairs = [*zip(plain, have, strict=True), *zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)]
    return {parameter.arg: value for parameter, value in pairs}


def arguments(function: Function | None, call: ast.Call) -> dict[str, ast.expr]:
    """What this call gives to each parameter."""
    order = [name for name in defaults(function) if name != "self"]
    return dict(zip(order, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}


def assigned_to(statement: ast.Assign | ast.AnnAssign, name: str) -> Iterator[ast.expr]:
    """The part of the value that the name gets, also of a tuple."""
    value = statement.value
    values = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value] if value else []
    for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
        if isinstance(target, ast.Name) and target.id == name:
            yield from values
        for part in values:
            if isinstance(target, ast.Tuple) and isinstance(part, ast.Tuple):
                pairs = zip(target.elts, part.elts, strict=False)
                yield from (one for place, one in pairs if isinstance(place, ast.Name) and place.id == name)
