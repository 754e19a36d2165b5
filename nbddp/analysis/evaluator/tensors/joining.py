"""Pieces of a batch, and batches put together."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.evaluator.iteration import written_elements
from nbddp.analysis.evaluator.tensors.dimensions import along_of, at_times, over_samples, samples_at
from nbddp.analysis.values import (
    ANYTHING,
    BY_MASK,
    EACH,
    FLAT,
    JOINED,
    KEPT,
    OF_EACH,
    ONE,
    PICKED,
    PIECES,
    PLACED,
    RAGGED,
    TURNED,
    Args,
    AsMany,
    Extent,
    Keywords,
    Machine,
    Several,
    Value,
    marked,
    ones,
    turned,
)


def pieces(m: Machine, base: Value, along: Value) -> Value:
    """`x.chunk(2)`, `torch.split(x, 4)`: of a batch some samples by their places; of several, those batches."""
    if not (over_samples(base, along if along is not ANYTHING else Value(const=0)) or at_times(m, base, along)):
        return Value(base.objs, base.extent, shape=Several(()))
    plain = Value(base.objs - base.of(JOINED), base.extent)
    return plain if base.of(JOINED) else marked(marked(plain, PICKED), PLACED, PIECES)


def joined(m: Machine, node: ast.Call, word: str, given: Value, args: Args, keywords: Keywords) -> Value:
    """`torch.cat([a, b])`, `torch.stack(outputs)`: where the samples of all are then."""
    parts = written_elements(m, given) or [m.elements(given)]
    found = Value(given.of(*OF_EACH).union(*(p.of(*OF_EACH, TURNED, FLAT) for p in parts)), Extent.SAMPLES)
    along = along_of(word, args, keywords)
    at = 0 if along is ANYTHING or word in ("vstack", "hstack") else along.const
    each = bool(given.of(EACH)) or (_is_cut(m, node.args[0]) and not given.of("list"))
    ragged = word != "stack" and at in (0, 1) and (ones(parts) or each)
    if ragged and not all(_is_a_row(p, at) for p in parts):
        found = marked(marked(found, PICKED, RAGGED), BY_MASK)
    if ragged and at == 1 and not m.alone(*parts):  # `torch.cat([pairs of each], 1)`
        return turned(replace(found, objs=found.objs - found.of(ONE)))
    if ones(parts):
        return found if m.alone(*parts) else replace(found, objs=found.objs - found.of(ONE))  # of each sample
    if word == "stack" and not (each or given.of(PICKED) or found.of(TURNED) or m.context.varying):
        return turned(found) if at == 0 else found
    if m.assumed.splits and at == samples_at(found) and not m.context.forward and _grows(m, node):
        found = marked(found, KEPT)
    over = word not in ("stack", "hstack") and at == samples_at(found) and not (m.context.varying or _grows(m, node))
    if over and any(_is_besides(m, n) for n in _written(node)) and any(p.varies for p in parts):
        return Value(extent=Extent.VARYING)  # some rows besides, on each rank
    return marked(found, JOINED) if over and len(parts) > 1 and all(p.varies for p in parts) else found


def of_unlike(m: Machine, word: str, args: Args, keywords: Keywords) -> Value:
    """`torch.cat([pairs + begin of each], 1)`: what they are is not known, nor how many there are in a rank's batch."""
    along = word != "stack" and along_of(word, args[1:], keywords).const == 1
    grown = args[0].of("list") and not written_elements(m, args[0])
    if m.context.forward or not along or m.held(args[0]) is not Extent.VARYING or not grown:
        return ANYTHING
    return marked(marked(marked(ANYTHING, TURNED), PICKED), PLACED)


def _is_cut(m: Machine, batch: ast.expr) -> bool:
    """A list of a batch's samples, of which a rank takes some: `xs[mine]`."""
    name = ast.unparse(batch)
    return any(name in s.names and name not in s.lists | s.nested | s.dicts for s in m.assumed.splits)


def _is_a_row(part: Value, at: object) -> bool:
    """`x.unsqueeze(0)` of a sample, `torch.tensor([label])`: of others there may be more than one."""
    if isinstance(part.shape, tuple):
        return part.shape[at : at + 1] == (1,) if isinstance(at, int) else False
    return at == 0 and isinstance(part.shape, AsMany) and part.shape.first == 1


def _written(node: ast.Call) -> list[ast.expr]:
    return getattr(node.args[0], "elts", [])


def _grows(m: Machine, node: ast.Call) -> bool:
    """`seen = torch.cat([seen, output])`."""
    match m.program.parents.get(node):
        case ast.Assign(targets=[target]):
            return ast.unparse(target) in map(ast.unparse, _written(node))
    return False


def _is_besides(m: Machine, node: ast.expr) -> bool:
    """`torch.zeros(1, 3)`, `self.weight[:2]`: no samples; of a name it may be those that were there before."""
    if isinstance(node, ast.Name) or m.facts.value(node).varies:
        return False
    sizes = node.args if isinstance(node, ast.Call) else []
    none = any(ast.unparse(s) in ("0", "[]") for s in sizes)
    return not none and not (isinstance(node, ast.Call) and (m.context.forward or not sizes))
