"""The log of writes and reads: who puts what into a name, a field, a list or a dictionary, as the run has met it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass

from nbddp.analysis.slicing import Function, forms, inside, local_names
from nbddp.analysis.syntax import Program, handed, increment, walk
from nbddp.analysis.values import Facts, Loop, Obj

LOOKS = ("items", "values", "keys", "get", "copy", "index", "count")


@dataclass(frozen=True)
class Write:
    """Of a statement that puts something into a place: a name, or a field."""

    place: ast.Name | ast.Attribute
    taken: tuple[ast.expr, ...]  # what goes in, and under which keys
    keeps: bool = True  # what was there before goes on to count


def write_of(statement: ast.stmt) -> Write | None:
    """`total *= n`, `table[row] = n`, `table.loc[row] = n`, `history["loss"].append(n)`, `self.log.append(n)`."""
    if (added := increment(statement)) and isinstance(added.place, ast.Name):
        return Write(added.place, (added.value,))
    match statement:
        case ast.Assign(targets=[ast.Name() as name], value=value):
            return Write(name, (value,), any(is_place(n, name.id) for n in walk(value)))
        case (
            ast.Assign(targets=[ast.Subscript() as item], value=value)
            | ast.AugAssign(target=ast.Subscript() as item, value=value)
        ):
            whole = item.value
            if isinstance(whole, ast.Attribute) and whole.attr in ("loc", "at", "iloc"):
                whole = whole.value
            return Write(whole, (item.slice, value)) if isinstance(whole, ast.Name) else None
        case ast.Expr(ast.Call(ast.Attribute(value=place, attr="append" | "extend"), given, keywords=[])):
            keys = [n.slice for n in walk(place) if isinstance(n, ast.Subscript)]
            while isinstance(place, ast.Subscript):
                place = place.value
            return Write(place, (*keys, *given)) if isinstance(place, ast.Name | ast.Attribute) else None
    return None


def is_place(node: ast.AST, place: str) -> bool:
    """Is it the name, or `self.log` for a text with a dot?"""
    if isinstance(node, ast.Name):
        return node.id == place
    return isinstance(node, ast.Attribute) and "." in place and ast.unparse(node) == place


@dataclass(frozen=True)
class Uses:
    """Of a name, in a part of the program."""

    bound: tuple[ast.AST, ...] = ()  # what binds it
    put: tuple[ast.expr, ...] = ()  # `loss` of `row["loss"] = loss`
    read: tuple[ast.Name, ...] = ()

    @property
    def made(self) -> ast.expr | None:
        """What it is bound to, where that is done in one place."""
        match self.bound:
            case (ast.Assign(targets=[ast.Name()], value=value),):
                return value
        return None


def uses(program: Program, nodes: Iterable[ast.AST], name: str) -> Uses:
    places = [n for n in nodes if isinstance(n, ast.Name) and n.id == name]
    put = {n: value for n in places if (value := _put(program, n)) is not None}
    bound = [program.parents[n] for n in places if isinstance(n.ctx, ast.Store)]
    read = [n for n in places if isinstance(n.ctx, ast.Load) and n not in put]
    return Uses(tuple(bound), tuple(put.values()), tuple(read))


def _put(program: Program, name: ast.Name) -> ast.expr | None:
    item = program.parents[name]
    match program.parents[item]:
        case ast.Assign(targets=[ast.Subscript(value=whole) as target], value=value) if whole is name:
            return value if target is item else None
    return None


def fillings(facts: Facts, things: Set[Obj]) -> Iterator[ast.expr]:
    """What may change which items these lists and dictionaries have, by whatever name: calls of methods, items."""
    for call in facts.calls.values():
        if call.receivers & things and getattr(call.node.func, "attr", "") not in LOOKS:
            yield call.node
    yield from (item for item, into in facts.stores.items() if into & things)


def handed_on(facts: Facts, loop: Loop) -> dict[str, set[str]]:
    """Containers that functions fill, `loss = score(output, y, metrics)`: in which ways, by their names here."""
    found: dict[str, set[str]] = {}
    for node in inside([loop]):
        for body in facts.calls[node].bodies if isinstance(node, ast.Call) and node in facts.calls else ():
            if isinstance(node, ast.Call) and isinstance(body, ast.FunctionDef):
                for parameter, value in handed(node, body):
                    if isinstance(value, ast.Name) and (ways := forms(body.body, parameter)):
                        found.setdefault(value.id, set()).update(ways)
    return found


def read_by_called(facts: Facts, loop: Loop, place: str) -> bool:
    """By a function that the loop calls: it finds a share there, and would find the whole behind the loop."""
    bodies = {body for call in facts.calls.values() if loop in call.loops for body in call.bodies}
    return any(_reads(body, place) for body in bodies)


def _reads(body: ast.AST, place: str) -> bool:
    """Of another's: a name that the function does not bind, or a field of that name."""
    _, dot, attribute = place.rpartition(".")
    if dot:
        return any(isinstance(n, ast.Attribute) and n.attr == attribute for n in walk(body))
    own = isinstance(body, Function) and place in local_names(body)
    return not own and any(isinstance(n, ast.Name) and n.id == place for n in walk(body))
