"""Hashes of text, and with them the order of sets: another in each process, for Python seeds them anew."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.reading import Reading
from nbddp.analysis.syntax import bindings
from nbddp.analysis.values import is_foreign

MAKES, HASH = ("set", "frozenset"), "hash"
UNORDERED = ("sorted", "len", "min", "max", "any", "all")
ORDERS = ("list", "tuple", "enumerate", "iter", "zip", "map", "join", "array", "fromkeys")


def may_order_sets(plan: Reading) -> bool:
    """Is there a set, a hash, or a module that may have one?"""
    imports = (n for n in plan.nodes() if isinstance(n, ast.Import | ast.ImportFrom))
    known = not any(is_foreign(f"{target}.*") for node in imports for _, target in bindings(node))
    named = (n for n in plan.nodes() if isinstance(n, ast.Name) and n.id in (*MAKES, HASH))  # also in `map(set, lines)`
    made = (n for n in plan.nodes() if isinstance(n, ast.expr) and _makes(n))
    return not known or any(_has_an_order(plan, n) for n in (*named, *made))


def _has_an_order(plan: Reading, node: ast.expr) -> bool:
    """May the order be seen? Not where all that is done with the set is `sorted(list(set(text)))`, `len(…)`, `in`."""
    parent = plan.program.parents.get(node)
    if isinstance(node, ast.Name) and isinstance(parent, ast.Call) and parent.func is node and node.id in MAKES:
        return _has_an_order(plan, parent)
    match parent:
        case ast.Call(func=ast.Name(id=name)) if name in UNORDERED and node in parent.args:
            return False
        case ast.Call(func=ast.Name(id="list" | "tuple")) if node in parent.args:
            return _has_an_order(plan, parent)
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[right]) if right is node:
            return False
    return True


def put_in_order(plan: Reading) -> Iterator[ast.expr]:
    """`enumerate(set(words))`, `for word in words` where `words = set(text)`: one as it comes; and `hash(word)`."""
    named = {t.id for n in plan.nodes() if isinstance(n, ast.Assign) and _makes(n.value)
             for t in n.targets if isinstance(t, ast.Name)}  # fmt: skip
    for node in plan.nodes():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == HASH:
            yield node
        for source in _gone_through(node):
            if _makes(source) or (isinstance(source, ast.Name) and source.id in named):
                yield source


def _gone_through(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.For | ast.comprehension):
        return [node.iter]
    if isinstance(node, ast.Call) and (getattr(node.func, "id", "") or getattr(node.func, "attr", "")) in ORDERS:
        return list(node.args)
    return []


def _makes(node: ast.expr) -> bool:
    """One that may hold text."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=[_, *_]) if name in MAKES:
            return True
        case ast.BinOp(left=left, op=ast.BitOr() | ast.BitAnd() | ast.Sub()):
            return _makes(left)
        case ast.Set(elts=elements):
            return not all(isinstance(e, ast.Constant) and isinstance(e.value, int | float) for e in elements)
    return isinstance(node, ast.SetComp)
