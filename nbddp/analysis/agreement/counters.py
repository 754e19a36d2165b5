"""Objects that count over a training loop and give what nobody can put together later: `hits / (hits + misses + 1e-8)`.

Behind the loop, what they have counted becomes that of all ranks: `scores.hits = sum_over_ranks(scores.hits)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from nbddp.analysis.reading import Reading
from nbddp.analysis.slicing import Function, all_arguments, block_of, inside, zeros_behind, zeros_of
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Assumptions, CallFact, Counting, Extent, Loop, Obj, spread


def counting(plan: Reading) -> Assumptions:
    training = [f.node for f in plan.roles.batch_loops if not (f.watched or f.perhaps)]
    shared = [node for node in (*training, *plan.dealt) if isinstance(node, ast.For | ast.AsyncFor | ast.While)]
    found = {node: [*_objects(plan, node)] for node in shared}
    loops: dict[Obj, set[Loop]] = {}
    for node, objects in found.items():
        for one in objects:
            loops.setdefault(one.obj, set()).add(node)
    clear = {o for o, nodes in loops.items() if _counts_in(plan, o) <= nodes and _is_read_so(plan, o, nodes)}
    known, added = plan.assumed.counting, dict[Loop, tuple[Counting, ...]]()
    for node, objects in found.items():
        if node not in known and (more := tuple(one for one in objects if one.obj in clear)):
            added[node] = more
    return replace(plan.assumed, counting={**known, **added}) if added else plan.assumed


def _objects(plan: Reading, loop: ast.For | ast.AsyncFor | ast.While) -> Iterator[Counting]:
    """That stand at zero where the loop begins, and of which it calls methods, by one name."""
    body = [*inside([loop])]
    if any(isinstance(n, ast.Return) for n in body):
        return
    called = [getattr(n.func, "value", n.func) for n in body if isinstance(n, ast.Call)]  # `scores.add(…)`, `scores(…)`
    for place in {ast.unparse(n): n for n in called if isinstance(n, ast.Name | ast.Attribute)}.values():
        things = plan.facts.value(place).objs
        obj = next(iter(things)) if len(things) == 1 else None
        if obj is not None and obj.kind == "instance" and obj in plan.facts.classes:
            zeros = _zero_before(plan, loop, ast.unparse(place), obj)
            if zeros and _goes_by(plan, obj, ast.unparse(place)):
                yield Counting(ast.unparse(place), obj, zeros)


def _zero_before(plan: Reading, loop: ast.stmt, place: str, obj: Obj) -> frozenset[str]:
    """Which fields the statement before the loop sets so that makes the object, or calls its `reset()`."""
    for statement in _before(plan, loop):
        match statement:
            case ast.Assign(targets=[target], value=made) if ast.unparse(target) == place:
                return zeros_of(plan.facts.classes[obj], made) if made is obj.node else frozenset()
            case ast.Expr(ast.Call(func=ast.Attribute(value=on, attr=name))) if ast.unparse(on) == place:
                return zeros_behind(plan.facts.classes[obj], name)
        nodes = [n for n in walk(statement) if isinstance(n, ast.expr)]
        if any(ast.unparse(n) == place for n in nodes) or ("." in place and any(_runs(plan, n) for n in nodes)):
            return frozenset()  # by which it may count too
    return frozenset()


def _runs(plan: Reading, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and node in plan.facts.calls and bool(plan.facts.calls[node].bodies)


def _before(plan: Reading, node: ast.stmt) -> Iterator[ast.stmt]:
    """What is always run before it, the last first."""
    around = plan.program.parents[node]
    block = block_of(around, node)
    yield from reversed(block[: block.index(node)])
    if isinstance(around, ast.With):
        yield from _before(plan, around)


def _goes_by(plan: Reading, obj: Obj, place: str) -> bool:
    """Is it called, and asked for things, by this name only, but by its own methods: so it is no list of such?"""
    return all(ast.unparse(n) == place or _is_self(plan, n, obj) for n in _asked(plan, obj))


def _asked(plan: Reading, obj: Obj) -> Iterator[ast.expr]:
    around = (getattr(n, "func" if isinstance(n, ast.Call) else "value") for n in plan.nodes()
              if isinstance(n, ast.Attribute | ast.Call))  # fmt: skip
    return (n for n in around if obj in plan.facts.value(n).objs)


def _calls(plan: Reading, obj: Obj) -> Iterator[CallFact]:
    """Of its methods, and of itself."""
    for node in _asked(plan, obj):
        parent = plan.program.parents[node]
        call = plan.program.parents[parent] if isinstance(parent, ast.Attribute) else parent
        if isinstance(call, ast.Call) and call.func in (node, parent) and call in plan.facts.calls:
            yield plan.facts.calls[call]


def _is_self(plan: Reading, node: ast.expr, obj: Obj) -> bool:
    method = plan.program.function_of(node)
    own = isinstance(method, Function) and plan.program.parents[method] is plan.facts.classes[obj]
    first = next((a.arg for a in all_arguments(method.args)), "") if own and isinstance(method, Function) else ""
    return isinstance(node, ast.Name) and node.id == first


def _counts_in(plan: Reading, obj: Obj) -> set[Loop]:
    """Loops over a share in which it is called, directly or not."""
    shares = {f.node for f in plan.roles.batch_loops} | plan.dealt
    return {loop for c in _calls(plan, obj) for loop in c.loops & shares}


def _is_read_so(plan: Reading, obj: Obj, loops: set[Loop]) -> bool:
    """Does what it gives behind its loops, or what that is used in, differ in a way that is not understood?

    Or is it shown itself, or handed on?
    """
    if any(_is_handed_on(plan, n, obj) for n in plan.nodes()):
        return True
    for call in _calls(plan, obj):
        if not call.loops & loops:
            inner = (n for body in call.bodies for n in walk(body) if isinstance(n, ast.expr))
            around = (n for n in plan.program.ancestors(call.node) if isinstance(n, ast.expr))
            if any(spread(plan.facts.value(n)) is Extent.VARYING for n in (call.node, *inner, *around)):
                return True
    return False


def _is_handed_on(plan: Reading, node: ast.AST, obj: Obj) -> bool:
    around = plan.program.parents.get(node)
    given = isinstance(around, ast.FormattedValue) or (isinstance(around, ast.Call) and node in around.args)
    return given and isinstance(node, ast.expr) and obj in plan.facts.value(node).objs
