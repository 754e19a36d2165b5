"""What a turn of a loop over samples hangs on besides its sample: its place, and what the turns before have left."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from functools import lru_cache

from nbddp.analysis.evaluator.iteration.turns import Definition
from nbddp.analysis.slicing import all_arguments, changed_names, fresh_names, inside, local_names, root_name
from nbddp.analysis.syntax import names_in, walk
from nbddp.analysis.values import PLACES, WHOLE, Extent, Machine, spread

Loops = ast.For | ast.comprehension


def hangs_on_place(m: Machine, loop: ast.AST, node: ast.AST) -> bool:
    """Would it be another one for the same sample at another place, as of a share it has?"""
    if not isinstance(loop, Loops):
        return False
    left = _left_by_earlier(loop) if isinstance(loop, ast.For) else frozenset[str]()
    left |= {n.id for n in walk(loop.target) if isinstance(n, ast.Name) and _tells_place(m, n)}
    read = [n for part in (node, *_asked_around(m, loop, node)) for n in _read(m, part)]
    names = {n.id for n in read if isinstance(n, ast.Name) and not m.facts.value(n).of("library", "function")}
    return bool(names & left) or any(_remembers(m, n) for n in read)


def _tells_place(m: Machine, target: ast.Name) -> bool:
    """The `i` of `range(len(x))` and of `enumerate(x)`, the weight of `zip(x, weights)`."""
    value = m.lookup(target.id)
    return value is not None and (spread(value) in WHOLE or bool(value.of(PLACES)))


@lru_cache(maxsize=256)
def _left_by_earlier(loop: ast.For) -> Set[str]:
    """Names that turns change, and those that are set from them."""
    found = frozenset(changed_names(loop.body) - fresh_names(loop))
    while True:
        more = {name for part in inside(loop.body) for name in _set_from(part, found)} - found
        if not more:
            return found
        found |= more


def _set_from(node: ast.AST, names: Set[str]) -> Set[str]:
    """What an assignment that reads one of the names sets, and all that is set where one of them decides."""
    match node:
        case ast.Assign(targets=targets, value=value) if names_in(value) & names:
            return {name for target in targets for name in names_in(target)}
        case ast.AnnAssign(target=target, value=ast.expr() as value) if names_in(value) & names:
            return names_in(target)
        case ast.For(target=target, iter=value) if names_in(value) & names:
            return names_in(target)
        case ast.If(test=test) | ast.While(test=test) if names_in(test) & names:
            return changed_names(node.body + node.orelse)
    return frozenset()


def _asked_around(m: Machine, loop: ast.AST, node: ast.AST) -> Iterator[ast.expr]:
    for around in m.program.ancestors(node):
        if around is loop:
            return
        if isinstance(around, ast.If | ast.While):
            yield around.test


def _read(m: Machine, node: ast.AST) -> Iterator[ast.AST]:
    """But for what picks a sample: `y[i]`."""
    todo = [node]
    while todo:
        part = todo.pop()
        yield part
        if isinstance(part, ast.Subscript) and spread(m.facts.value(part.value)) is Extent.SAMPLES:
            todo.append(part.value)
        else:
            todo.extend(ast.iter_child_nodes(part))


def _remembers(m: Machine, node: ast.AST) -> bool:
    """`next(numbers)`, and a function of the notebook that changes more than names of its own."""
    waiting, seen = [node], set[ast.AST]()
    while waiting:
        call = waiting.pop()
        if not isinstance(call, ast.Call):
            continue
        if isinstance(call.func, ast.Name) and call.func.id == "next":
            return True
        run = {o.node for o in m.facts.value(call.func).of("function", "method")} - seen
        for body in (b for b in run if isinstance(b, Definition)):
            if any(not _is_library(m, name) for name in _changed_of_others(body)):
                return True
            waiting += walk(body)
        seen |= run
    return False


def _is_library(m: Machine, name: str) -> bool:
    """`random`, of `random.shuffle(…)`."""
    value = m.globals.get(name)
    return value is not None and bool(value.of("library"))


@lru_cache(maxsize=256)
def _changed_of_others(body: Definition) -> Set[str]:
    own = local_names(body)
    made = own - {a.arg for a in all_arguments(body.args)}
    places = (n for n in inside(body.body) if isinstance(n, ast.Attribute | ast.Subscript))
    stored = {root_name(n) or "" for n in places if isinstance(n.ctx, ast.Store)}
    return changed_names(body.body) - own | stored - made
