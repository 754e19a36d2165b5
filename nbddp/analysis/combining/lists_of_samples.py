"""Lists that a loop over batches fills in a loop over the samples of each."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.evaluator import iterate
from nbddp.analysis.slicing import inside
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import PICKED, Extent, Loop, Machine, alike, spread


def fills_by_sample(m: Machine, loop: ast.For | ast.AsyncFor | ast.While, name: str) -> bool | None:
    """With one item for each of them; False where it may be another number, None where it does no such thing."""
    found = [_by_sample(m, call, loop) for call in _appends(loop, name)]
    if all(one is None for one in found):
        return None
    return all(found) and len(found) == 1


def _appends(loop: ast.For | ast.AsyncFor | ast.While, name: str) -> Iterator[ast.Call]:
    for node in inside(loop.body):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr="append")) if found == name:
                yield node


def _by_sample(m: Machine, call: ast.Call, loop: ast.AST) -> bool | None:
    fact = m.facts.calls.get(call)
    if fact is None or not fact.varying_control:
        return None
    loops: list[Loop] = []
    for node in m.program.ancestors(call):
        if node is loop:
            break
        if isinstance(node, ast.If) and not alike(m.facts.value(node.test)):
            return False
        if isinstance(node, ast.For):
            loops.append(node)
    return len(loops) == 1 and isinstance(loops[0], ast.For) and _goes_through_samples(m, loops[0])


def _goes_through_samples(m: Machine, loop: ast.For) -> bool:
    """`for p, t in zip(predicted, y)`, `for i in range(len(y))`."""
    match loop.iter:
        case ast.Call(func=ast.Name(id="range"), args=[size]):
            counted = m.facts.value(size)
            return spread(counted) is Extent.SUM and counted.equal
    if any(m.facts.value(n).of(PICKED) for n in walk(loop.iter) if isinstance(n, ast.expr)):
        return False
    return spread(iterate(m, m.facts.value(loop.iter), loop)) is Extent.SAMPLES
