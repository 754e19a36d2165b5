"""How a loop changes a name, where the name was set afresh before, and whether it is read after."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from nbddp.analysis.library import effect_of
from nbddp.analysis.slicing.effects import effects
from nbddp.analysis.slicing.names import Effects
from nbddp.analysis.slicing.scopes import Function, all_arguments, local_names, root_name
from nbddp.analysis.slicing.starts import block_of, sets
from nbddp.analysis.syntax import Program, is_name, names_in, walk

Inner = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
JOINING = ("cat", "concatenate", "append", "vstack", "hstack", "concat")


def inside(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Nodes of the same scope, inner functions left out."""
    for root in nodes:
        left_out = 0
        for node in walk(root):
            if left_out:
                left_out -= 1
                continue
            yield node
            left_out = len(walk(node)) - 1 if isinstance(node, Inner) else 0


def changed_names(body: list[ast.stmt]) -> set[str]:
    """Names that the body binds, or whose content it changes."""
    found, of_comprehensions = set(), set[ast.AST]()
    for node in inside(body):
        if isinstance(node, ast.comprehension):
            of_comprehensions.update(walk(node.target))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in of_comprehensions:
            found.add(node.id)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            found.add(root_name(node) or "")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if not effect_of(f".{node.func.attr}").reads:
                found.add(root_name(node.func) or "")
    return found - {""}


def forms(body: list[ast.stmt], name: str) -> set[str]:
    """The ways in which the body changes the name: add, append, extend, cat, item, set."""
    found: set[str] = set()
    for node in inside(body):
        if isinstance(node, ast.AugAssign) and is_name(node.target, name):
            found.add("add" if isinstance(node.op, ast.Add | ast.Sub) else "set")
        elif isinstance(node, ast.AugAssign) and root_name(node.target) == name:
            found.add("item" if isinstance(node.op, ast.Add | ast.Sub) and _one_deep(node.target) else "set")
        elif isinstance(node, ast.Assign):
            found |= {_assigned(node, t, name) for t in node.targets} - {""}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and root_name(node.func) == name:
            found |= {_called(node.func, name)} - {""}
        elif isinstance(node, ast.For | ast.AsyncFor) and name in names_in(node.target):
            found.add("set")
        elif isinstance(node, ast.NamedExpr) and is_name(node.target, name):
            found.add("set")
        elif isinstance(node, ast.withitem) and node.optional_vars and name in names_in(node.optional_vars):
            found.add("set")
    return found


def _called(func: ast.Attribute, name: str) -> str:
    itself = is_name(func.value, name)
    if func.attr in ("append", "extend") and (itself or _one_deep(func.value)):
        return func.attr if itself else "item append"
    if itself and func.attr in ("add_", "sub_"):
        return "add"
    return "" if effect_of(f".{func.attr}").reads else "set"


@lru_cache(maxsize=64)  # asked for each name that a loop leaves
def carried_reads(loop: ast.For | ast.AsyncFor | ast.While) -> frozenset[str]:
    """Names that a turn of the loop reads as the turns before have left them, other than to add to them."""
    return frozenset((changed_names(loop.body) - fresh_names(loop)) & read_names(loop.body))


def fresh_names(loop: ast.AST) -> set[str]:
    """Names that each turn sets before it reads them."""
    if isinstance(loop, ast.While):
        return _set_first(loop.body)
    return _set_first(loop.body) | names_in(loop.target) if isinstance(loop, ast.For | ast.AsyncFor) else set()


def read_names(body: list[ast.stmt]) -> set[str]:
    """But for the places where a name is only added to, or shown on a bar."""
    found, whole = set(), dict[ast.AST, str]()
    todo: list[tuple[ast.AST, frozenset[str]]] = [(statement, frozenset()) for statement in body]
    while todo:
        node, added = todo.pop()
        added -= {whole.get(node, "")}
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in added:
            found.add(node.id)
        if isinstance(node, Inner) or (isinstance(node, ast.Call) and _is_bar(node)):
            continue
        name, parts = _added_to(node)
        whole.update(dict.fromkeys(parts, name))
        todo.extend((child, added | {name} if name else added) for child in ast.iter_child_nodes(node))
    return found


def _is_bar(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and bool(effect_of(f".{call.func.attr}").bar)


def _added_to(node: ast.AST) -> tuple[str, list[ast.AST]]:
    """The name that a statement or call only adds to, and the parts of it in which that would be read all the same."""
    match node:
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.BinOp(left=ast.Name(id=left), op=ast.Add(), right=right)
        ):
            return (name, [right]) if name == left else ("", [])
        case ast.Assign(targets=[ast.Name(id=name) as target], value=ast.Call()):
            return (name, []) if _assigned(node, target, name) == "cat" else ("", [])
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=key)]):
            return (name, [key, added]) if (added := _added_to_item(node)) is not None else ("", [])
        case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name), slice=key), value=added):
            return name, [key, added]
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend" | "add_" | "sub_")):
            return name, [*node.args, *node.keywords]
    return "", []


def _set_first(body: list[ast.stmt]) -> set[str]:
    """Names that each turn sets before it reads them."""
    found = effects(body, {})
    return found.binds - found.reads


def _one_deep(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)


def _assigned(node: ast.Assign, target: ast.expr, name: str) -> str:
    value = node.value
    if is_name(target, name):
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and is_name(value.left, name):
            return "add"
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in JOINING:
            return "cat" if name in names_in(value) else "set"
        return "set"
    if isinstance(target, ast.Subscript) and root_name(target) == name:
        return "item" if _added_to_item(node) is not None and _one_deep(target) else "set"
    return "set" if isinstance(target, ast.Tuple | ast.List) and name in names_in(target) else ""


def _added_to_item(node: ast.Assign) -> ast.expr | None:
    """`n` of `counts[key] = counts.get(key, 0) + n`."""
    match node:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=key) as item],
                        value=ast.BinOp(left=left, op=ast.Add(), right=right)):  # fmt: skip
            before = [ast.unparse(item), *(f"{name}.get({ast.unparse(key)}, {zero})" for zero in ("0", "0.0"))]
            return right if ast.unparse(left) in before else None
    return None


def fresh_start(program: Program, loop: ast.stmt, name: str) -> ast.stmt | None:
    """The statement that sets the name anew each time before the loop, with no other loop adding to it between."""
    node: ast.AST = loop
    while True:
        parent = program.parents.get(node)
        if parent is None:
            return None
        block = block_of(parent, node)
        for statement in reversed(block[: block.index(node)] if node in block else []):
            if sets(statement, name):
                return statement
            if isinstance(statement, ast.For | ast.While | ast.If | ast.With) and name in changed_names([statement]):
                return None
        behind = isinstance(parent, ast.For | ast.AsyncFor | ast.While) and node in parent.orelse
        if behind and name in changed_names(parent.body):  # type: ignore[attr-defined]
            return None
        if not behind and isinstance(parent, ast.For | ast.AsyncFor | ast.While | Function | ast.ClassDef | ast.Module):
            return None
        node = parent


def read_after(
    program: Program,
    imports: Mapping[str, str],
    loop: ast.stmt,
    name: str,
    kept: set[ast.stmt],
    *,
    at_end: bool = False,
) -> bool:
    """Is the name read after the loop, or at the next turn of a loop around it, before it is set again? And where
    neither, does it have what the loop has left `at_end` of what is kept of the cells?
    """
    node: ast.AST = loop
    while (parent := program.parents.get(node)) is not None:
        block = block_of(parent, node)
        if block and isinstance(node, ast.stmt):
            following = block[block.index(node) + 1 :]
            if isinstance(parent, ast.Module):
                following = [s for s in following if s in kept]
            found = _effects_of((*following,), frozenset(imports.items()))
            if name in found.reads | found.deferred:
                return True
            if name in found.binds:
                return False
        if isinstance(parent, ast.For | ast.AsyncFor | ast.While):
            first = parent.test if isinstance(parent, ast.While) else parent.target
            if name in _effects_of((first, *parent.body), frozenset(imports.items())).reads:
                return True
        if isinstance(parent, Function):
            return _reaches_out(parent, imports, loop, name)
        if isinstance(parent, ast.ClassDef):
            return False
        node = parent
    return at_end


@lru_cache(maxsize=256)  # asked for each name that a loop leaves
def _effects_of(nodes: tuple[ast.AST, ...], imports: frozenset[tuple[str, str]]) -> Effects:
    return effects(nodes, dict(imports))


def is_outer(program: Program, loop: ast.stmt, name: str, number: bool) -> bool:
    """Is it another's thing that the loop fills, so that a new one under its name would be of no use, or an error?

    A tensor that is given is added to in its place, a number is not.
    """
    function = program.function_of(loop)
    if function is None or fresh_start(program, loop, name) is not None:
        return False
    declared = {n for d in walk(function) if isinstance(d, ast.Global | ast.Nonlocal) for n in d.names}
    given = name in {a.arg for a in all_arguments(function.args)}
    fills = bool(forms([loop], name) & {"item", "append", "extend", "item append", *([] if number else ["add"])})
    fills |= fills_items(loop, name)
    return name not in declared and (fills if given else name not in local_names(function))


def fills_items(loop: ast.stmt, name: str) -> bool:
    """`losses[step] = loss`: a thing that stays, whoever else holds it."""
    stores = (n for n in inside([loop]) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store))
    return any(root_name(n) == name for n in stores)


def may_skip_end(program: Program, loop: ast.stmt, name: str) -> bool:
    """Is it another's, and does a `return` in the loop leave it as it is then?"""
    function = program.function_of(loop)
    if function is None or not any(isinstance(n, ast.Return) for n in inside([loop])):
        return False
    return name in {a.arg for a in all_arguments(function.args)} or name not in local_names(function)


def _reaches_out(function: Function, imports: Mapping[str, str], loop: ast.stmt, name: str) -> bool:
    """Does what the loop puts into the name show outside of the function: `def train(losses): losses.append(...)`?"""
    given = name in {a.arg for a in all_arguments(function.args)}
    anew = any(isinstance(n, ast.Assign) and sets(n, name) for n in inside([loop]))
    return (given or name not in local_names(function)) and not anew and name in effects([loop], imports).mutates
