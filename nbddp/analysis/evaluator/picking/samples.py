"""What is taken out of a batch: those samples, or others on each rank."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, reduce

from nbddp.analysis.evaluator.iteration import BATCHES, ITEM, hangs_on_place, may_be_a_tuple
from nbddp.analysis.evaluator.picking.batch_names import is_a_batch, is_a_tensor
from nbddp.analysis.evaluator.picking.order import order_of
from nbddp.analysis.evaluator.tensors import before, rows_are_samples
from nbddp.analysis.syntax import Program, walk
from nbddp.analysis.values import ANYTHING, Extent, Machine, Value, domain, spread, turned

FEW = 3


def picked(m: Machine, found: Value, base: Value, index: Value, node: ast.Subscript) -> Value:
    """Of what is taken out of a batch: those samples, or others on each rank."""
    if isinstance(node.slice, ast.Slice) and base.of(domain.STATISTIC) and node.slice.step is None:
        return domain.marked(found, domain.PICKED)  # `torch.argsort(losses)[:k]`
    of_each = base.of(domain.EACH) or any(_is_numbered(m, o.node) for o in base.of("dict")) or domain.of_pieces(base)
    if of_each and found.extent is Extent.SAMPLES and isinstance(index.const, int):
        return domain.marked(found, domain.PLACED)  # `list(x)[0]`
    if m.alone(base) or not found.extent is base.extent is Extent.SAMPLES:
        return domain.placed(found, domain.TURNED) if _picks_columns(m, base, node) else found
    if any(o.name in (BATCHES, ITEM) for o in index.of("counter")):
        return found.with_extent(Extent.VARYING)  # `x[i]` of batch i: of a rank's share it is another sample
    if any(item.of(domain.PLACES) for item in (index.items or ())[1:2]):
        return domain.placed(
            found
        )  # `x[lengths - 1, torch.arange(len(y))]`: of each sample one, wherever they are counted
    found, at = _where(m, found, base, index, node)
    loop = None if at is None or may_be_a_tuple(m, node.value) else _turn_of(m, at)
    if at is None or loop is not None:
        return found if loop is None else domain.single(found, loop)
    place = m.facts.value(at)
    if m.context.forward:
        _note_rows(m, at, place, node)
    by_place = _is_some(m, at, base) or (
        not m.context.forward and (_is_first_few(m, at) or (_is_cut_off(at) and is_a_batch(m, node)))
    )
    if isinstance(place.const, int) and is_a_batch(m, node):
        return domain.marked(found, domain.PLACED, domain.FIRST)
    if not m.context.forward and (order := order_of(m, at, place, tensor=is_a_batch(m, node))):
        found = reduce(domain.marked, order, found)
        known = place.of(domain.MOVED)
        return replace(found, objs=found.objs - found.of(domain.MOVED) | known) if known else found
    rows = place if index.items else index
    if not rows.of(domain.MASK, domain.PICKED) and not by_place:
        return found.with_extent(Extent.VARYING) if _is_another(place) else found
    found = domain.marked(found, domain.PLACED) if by_place else found
    found = replace(found, objs=found.objs | (rows.of(domain.PLACED) if rows.of(domain.MASK) else frozenset()))
    by_mask = rows.of(domain.MASK) and spread(rows) is Extent.SAMPLES and not rows.of(domain.PLACED)
    if by_mask and not [*base.of(domain.PICKED), *rows.of(domain.PICKED)]:
        found = domain.marked(found, domain.BY_MASK)
    return domain.marked(found, domain.PICKED)


def _is_another(place: Value) -> bool:
    """`x[i - 1]`, in a loop over samples; the one of a turn itself has been found before."""
    return place.number and bool(place.of(domain.PLACED))


def _picks_columns(m: Machine, base: Value, node: ast.Subscript) -> bool:
    """`W[:, labels]`, of what is no batch: a column for each sample."""
    match node.slice:
        case ast.Tuple(elts=[ast.Slice(lower=None, upper=None, step=None), labels, *_]):
            of_samples = spread(m.facts.value(labels)) is Extent.SAMPLES and not isinstance(labels, ast.Slice)
            return spread(base) in domain.WHOLE and of_samples and not (base.items or base.of("list", "dict"))
    return False


def at_own_places(m: Machine, target: ast.Subscript, key: Value) -> bool:
    """`seen[idx] = k`, `queue[:, at : at + n] = k`: where the samples of the share say."""
    ends = (n for part in walk(target.slice) if isinstance(part, ast.Slice) for n in (part.lower, part.upper) if n)
    return key.varies or any(spread(m.facts.value(n)) is Extent.VARYING for n in ends)


def puts_back(m: Machine, target: ast.Subscript, container: Value, value: Value) -> bool:
    """`out[rows] = layer(x[rows])`, `out[i] = layer(x[i])`: what is made of picked samples, in their places."""
    if _sets_its_row(m, target, container, value):
        return True
    if not value.of(domain.BY_MASK) or value.of(domain.MOVED, domain.PLACED):
        return False
    loads = (n for n in walk(m.program.statement_of(target)) if isinstance(n, ast.Subscript) and n is not target)
    masks = {ast.unparse(at) for at in map(_rows_of, loads) if m.facts.value(at).of(domain.MASK)}
    return masks == {ast.unparse(_rows_of(target))} and spread(container) is spread(value) is Extent.SAMPLES


def _rows_of(node: ast.Subscript) -> ast.expr:
    """`mask` of `x[mask]` and of `x[mask, 0]`."""
    return node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice


def _sets_its_row(m: Machine, target: ast.Subscript, container: Value, value: Value) -> bool:
    """In a loop over the samples, that of the turn."""
    at = _rows_of(target)
    loop = _turn_of(m, at) if spread(container) is Extent.SAMPLES and not container.of(domain.TURNED) else None
    own = not value.varies or any(one.node is loop for one in domain.ones([value]))
    made = getattr(m.program.statement_of(target), "value", target)
    return loop is not None and own and not hangs_on_place(m, loop, made)


def _turn_of(m: Machine, at: ast.expr) -> ast.AST | None:
    """In which `x[i]`, `x[i : i + 1]` is one sample: `for i in range(len(x))`, `for i, row in enumerate(x)`."""
    match at:
        case ast.Slice(
            lower=ast.Name() as place, upper=ast.BinOp(left=first, op=ast.Add(), right=ast.Constant(value=1))
        ):
            at = place if ast.unparse(first) == place.id else at
    if not isinstance(at, ast.Name):
        return None
    loops = (a.fact.node for a in reversed(m.loops) if isinstance(a.fact.node, ast.For | ast.comprehension))
    loop = next((o for o in loops if any(isinstance(n, ast.Name) and n.id == at.id for n in walk(o.target))), None)
    counted = loop.iter.args if loop and isinstance(loop.iter, ast.Call) and m.facts.counts(loop.iter) else []
    sized = len(counted) == 1 and m.facts.value(counted[0]).size
    value = m.facts.value(at)
    if value.of(domain.PLACES) and value.of(domain.ONE):
        return next(one.node for one in value.of(domain.ONE))
    return loop if sized or value.of(domain.PLACES) else None


def _is_numbered(m: Machine, made: ast.AST) -> bool:
    """`dict(enumerate(x))`."""
    match made:
        case ast.Call(args=[ast.Call(args=[rows, *_]) as numbered]):
            return spread(m.facts.value(rows)) is Extent.SAMPLES and is_a_tensor(m, rows, numbered)
    return False


def cut_to_size(m: Machine, base: Value, node: ast.Subscript) -> int | None:
    """In which dimension `table[: len(x)]`, `states[:, : len(x)]` is cut: with a share it goes with other samples.

    So does `weights[seen : seen + len(x)]`, behind as many as the rank has seen. Unless all in the tensor is the same.
    """
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    cut = end_by_size(m, parts[:2])
    made = _set_to(m.program).get(ast.unparse(node.value), [])
    if cut is None or base.of("list", "dict", "shape") or base.items or (made and all(map(_is_filled, made))):
        return None
    return next(at for at, part in enumerate(parts) if getattr(part, "upper", None) is cut)


def end_by_size(m: Machine, parts: Sequence[ast.expr]) -> ast.expr | None:
    """`len(x)` of `[: len(x)]`."""
    ends = (p.upper for p in parts if isinstance(p, ast.Slice) and p.upper and _begins_anew(m, p))
    return next((end for end in ends if m.facts.value(end).size), None)


def _begins_anew(m: Machine, part: ast.Slice) -> bool:
    """At the first one, or at a number that each rank counts for itself."""
    number = m.facts.value(part.lower) if part.lower is not None else Value(const=0)
    return number.const == 0 or spread(number) in (Extent.SUM, Extent.VARYING)


@lru_cache(maxsize=4)
def _set_to(program: Program) -> Mapping[str, Sequence[ast.expr]]:
    """What names and fields are set to, by their text wherever that stands."""
    found = defaultdict[str, list[ast.expr]](list)
    for node in (n for n in program.nodes if isinstance(n, ast.Assign)):
        for target in node.targets:
            found[ast.unparse(target)].append(node.value)
    return found


def _is_filled(node: ast.expr) -> bool:
    """`torch.ones(64, 1)`, `torch.full((64,), 0.9, device=device)`, moved or changed in its type."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    word = node.func.attr.removeprefix("new_").removesuffix("_like")
    return word in ("zeros", "ones", "full", "fill_") or _is_filled(node.func.value)


def _note_rows(m: Machine, at: ast.expr, place: Value, node: ast.Subscript) -> None:
    """`v - v[:1]`, `o[0]`, `o[::2]` in a forward that trains."""
    if m.context.grad and _is_by_place(at, place) and is_a_tensor(m, node.value, node):
        if rows_are_samples(m, node.value):
            m.facts.against_statistic.add(node)


def note_rows_set(m: Machine, target: ast.Subscript, container: Value, value: Value) -> None:
    """`x[0] = 1`, `weights[:3] *= 2`, `x[i] = x[i] * i`, `x[i + 1] = y[i]`, of a tensor with the samples of a batch."""
    at = _rows_of(target)
    place = m.facts.value(at)
    by_turn = _is_another(place) and bool(value.of(domain.PLACED) or not place.of(domain.PLACES))
    some = by_turn or _is_by_place(at, place) or _is_some(m, at, container)
    if not m.context.grad or container.of(domain.TURNED) or not some:
        return
    if by_turn:
        m.facts.against_statistic.add(target)
    elif rows_are_samples(m, target.value) if m.context.forward else is_a_tensor(m, target.value, target):
        m.facts.against_statistic.add(target)


def _is_by_place(at: ast.expr, place: Value) -> bool:
    stepped = isinstance(at, ast.Slice) and at.step is not None
    return isinstance(place.const, int) or _is_cut_off(at) or stepped


def _where(m: Machine, found: Value, base: Value, index: Value, node: ast.Subscript) -> tuple[Value, ast.expr | None]:
    """Where the samples are then, and what of the index is about them: of `x[:, 0]` the first part."""
    given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    whole = [isinstance(e, ast.Constant) and e.value is ... for e in given]
    if whole[0] or (any(whole) and base.of(domain.TURNED)):
        return found, None
    news = [m.facts.value(e).const is domain.Literal.NONE or ast.unparse(e).endswith(".newaxis") for e in given]
    old = [e for e, new in zip(given, news, strict=True) if not new]
    if base.of(domain.TURNED):
        found, at = _of_columns(m, found, base, index, node), old[1] if len(old) > 1 else None
        return (found.with_extent(Extent.VARYING), None) if any(news[:2]) else (found, at)
    if news[0]:
        return before(domain.marked(found, domain.LINE) if base.of(domain.LINE) else found), old[0] if old else None
    column = [isinstance(e, ast.Slice) for e in given] == [True, False] and _is_column(index)
    line = column or (len(given) == 1 and bool(base.of(domain.LINE)))
    return domain.marked(found, domain.LINE) if line else found, given[0]


def _is_column(index: Value) -> bool:
    """`x[:, 0]`."""
    return index.items is not None and isinstance(index.items[-1].const, int)


def _is_some(m: Machine, node: ast.expr, base: Value) -> bool:
    """`x[: len(x) // 2]`; of `torch.cat([a, b])` that is the one of the two."""
    bounds = [m.facts.value(b) for b in (node.lower, node.upper) if b] if isinstance(node, ast.Slice) else []
    return not base.of(domain.JOINED) and any(spread(b) not in domain.WHOLE and not b.size for b in bounds)


def _is_cut_off(node: ast.expr) -> bool:
    """`x[1:]`, `x[:-1]`."""
    bounds = (node.lower, node.upper) if isinstance(node, ast.Slice) else ()
    return any(isinstance(b, ast.Constant | ast.UnaryOp) for b in bounds)


def _of_columns(m: Machine, found: Value, base: Value, index: Value, node: ast.Subscript) -> Value:
    """Of a batch with its samples in the second dimension: a place in time, or some places."""
    place, *_ = index.items or (index,)
    first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
    called = m.facts.value(node.value.func) if isinstance(node.value, ast.Call) else ANYTHING
    one = not (called.of("model", "submodule") or isinstance(first, ast.Slice))  # `self.lstm(x)[0]`: what it gives
    one = one and (isinstance(place.const, int) or place.number or bool(place.of("counter")))
    if base.of(domain.LINE):
        return domain.placed(found, domain.LINE) if one else domain.marked(turned(found), domain.LINE)
    return found if one else replace(found, objs=found.objs | base.of(domain.TURNED))


def _is_first_few(m: Machine, node: ast.expr) -> bool:
    """`output[:16]`; smaller numbers are mostly places in a tuple, or steps in time."""
    bounds = [m.facts.value(b).const for b in (node.lower, node.upper) if b] if isinstance(node, ast.Slice) else []
    return any(isinstance(bound, int) and abs(bound) > FEW for bound in bounds)
