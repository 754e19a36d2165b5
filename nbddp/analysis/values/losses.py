"""How a loss adds up over the samples of a batch, and over the ranks."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, reduce

from nbddp.analysis.library import effect_of
from nbddp.analysis.syntax import Program, keywords_of
from nbddp.analysis.values.domain import (
    KEPT,
    LINE,
    MARKS,
    MOVED,
    PICKED,
    PLACED,
    PLACES,
    RATED,
    SORTED,
    STATISTIC,
    UNLIKE,
    WEIGHTED,
    WHOLE,
    Extent,
    Obj,
    Value,
    join_extent,
    marked,
    of_gradient,
    ones,
    spread,
)
from nbddp.analysis.values.machine import Machine

WEIGHTS = ("weight", "pos_weight")
OF_SEQUENCES = ("RNN", "LSTM", "GRU", "Transformer", "Attention", "attention")  # the first dimension may be time


def reduced(values: list[Value], keywords: dict[str, Value]) -> Extent:
    """By the `reduction` argument; the mean where it is not given."""
    if not any(v.varies for v in values):
        return reduce(join_extent, map(spread, values), Extent.UNIFORM)
    if ones(values):
        return Extent.SAMPLES
    if any(spread(keywords[n]) not in (*WHOLE, Extent.SAMPLES) for n in WEIGHTS if n in keywords):
        return Extent.VARYING  # weights that a rank has counted in its share
    if any(v.of(KEPT) for v in values):
        return Extent.VARYING  # of several batches, of which a rank has its own number of samples
    how = keywords["reduction"].const if "reduction" in keywords else "mean"
    if "size_average" in keywords and keywords["size_average"].const is False:
        how = "sum"
    if "reduce" in keywords and keywords["reduce"].const is False:
        how = "none"
    known = {"mean": Extent.MEAN, "sum": Extent.SUM, "batchmean": Extent.MEAN, "none": Extent.SAMPLES}
    return known.get(how, Extent.VARYING) if isinstance(how, str) else Extent.VARYING


def goes_along_sequences(m: Machine) -> bool:
    """Does something that may have time in the first dimension?"""
    return any(layer in m.program.text for layer in OF_SEQUENCES) and not _samples_come_first(m.program)


@lru_cache(maxsize=4)
def _samples_come_first(program: Program) -> bool:
    """Every layer that goes through time is told so."""
    made = [n for n in program.nodes if isinstance(n, ast.Call) and _goes_through_time(n)]
    first = [keywords_of(n).get("batch_first") for n in made]
    return bool(made) and all(isinstance(f, ast.Constant) and f.value is True for f in first)


def _goes_through_time(made: ast.Call) -> bool:
    word = made.func.attr if isinstance(made.func, ast.Attribute) else getattr(made.func, "id", "")
    return bool(effect_of(f"torch.nn.{word}").sequence)


def note_of_its_batch(m: Machine, loss: ast.AST, name: str, given: Sequence[Value]) -> None:
    """A loss is given, for each sample, what other samples would have made another: `x / len(x)`, `x + x.std(0)`.

    Or it takes the samples for classes, `cross_entropy(output.squeeze(), y)`.
    """
    line = any(v.shape == (None,) and v.of(LINE) and not m.alone(v) for v in given[:1])
    if any(map(_hangs_on_others, given[:2])) or (line and effect_of(name).by_class):
        _note_first(m, loss)


def note_given(m: Machine, call: ast.AST, given: Iterable[Value]) -> None:
    """`model(x + x.mean(0))`: a model is given samples with a statistic of their batch in them.

    In a model a layer is: `self.out(h / len(h))`, `self.places(torch.arange(len(x)))`.
    """
    given = [*given]
    moved = any(v.of(MOVED) for v in given)  # in the order of their lengths, which are beside them
    of_batch = any(
        v.extent is Extent.VARYING and v.of(STATISTIC, WEIGHTED) and not (moved and _is_sorted(v)) for v in given
    )
    if (of_batch and m.sharing()) or (m.context.forward and (of_batch or any(map(_is_told_apart, given)))):
        _note_first(m, call)


def _is_sorted(value: Value) -> bool:
    return {o.name for o in value.of(STATISTIC)} == {SORTED}


def with_statistics(m: Machine, node: ast.expr, made: Value) -> Value:
    """In a forward that trains, what is made of a statistic of the batch, or of the number of its samples, is one too.

    In a step what is made of a statistic.

    `2.0 if x.max() > 1 else 1.0`, `math.sqrt(len(x))`, `torch.inverse(x.T @ x + eye)`; not what has such a size.
    """
    if not m.context.grad or spread(made) is not Extent.VARYING or made.of(STATISTIC):
        return made
    values = [m.facts.value(part) for part in _parts(node)]
    if not m.context.forward:
        of_batch = m.sharing() and any(v.extent is Extent.VARYING and v.of(STATISTIC) for v in values)
        return marked(made, STATISTIC) if of_batch else made
    sized = isinstance(node, ast.Call) and not made.number
    hangs = (
        _is_of_batch(v) or spread(v) is Extent.SUM or v.of(RATED, WEIGHTED) for v in values if not (sized and v.number)
    )
    found = any(hangs)
    return marked(made, STATISTIC) if found else made


def _parts(node: ast.expr) -> Sequence[ast.AST]:
    """What is computed with."""
    match node:
        case ast.Call(func=ast.Attribute(value=base), args=args, keywords=named):
            return [base, *args, *(k.value for k in named)]
        case ast.Call(args=args, keywords=named):
            return [*args, *(k.value for k in named)]
        case ast.IfExp() | ast.BinOp() | ast.Compare() | ast.UnaryOp() | ast.BoolOp():
            return [*ast.iter_child_nodes(node)]
    return []


def _is_told_apart(value: Value) -> bool:
    return value.extent is Extent.SAMPLES and bool(value.of(RATED) or (value.of(PLACED) and not value.of(PICKED)))


def _note_first(m: Machine, call: ast.AST) -> None:
    """Reported only where nothing is, at what did it."""
    if m.context.grad and not (m.facts.given_statistic or goes_along_sequences(m)):
        m.facts.given_statistic.add(call)


def _hangs_on_others(value: Value) -> bool:
    if value.of(PLACED) and not value.of(PICKED, PLACES):
        return True
    if spread(value) in (Extent.MEAN, Extent.SUM) and not value.number:
        return True  # `mse_loss(real.mean(0), fake.mean(0))`
    if spread(value) is Extent.VARYING:  # `mse_loss(torch.cov(real.T), torch.cov(fake.T))`; not what nobody knows
        return value.objs == value.of(*MARKS)
    return spread(value) is Extent.SAMPLES and bool(value.of(RATED, WEIGHTED))


def backward_of(call: ast.Call) -> ast.expr | None:
    """What a call of `backward` differentiates: `loss.backward()`, `torch.autograd.backward(loss)`."""
    if not isinstance(call.func, ast.Attribute):
        return call.args[0] if call.args else None
    plain = isinstance(call.func.value, ast.Attribute) and call.func.value.attr == "autograd"
    return call.args[0] if plain and call.args else call.func.value


def loss_extent(m: Machine, obj: Obj, values: list[Value]) -> Extent:
    keywords = {n: v for n in ("reduction", "size_average", "reduce", *WEIGHTS) if (v := m.get(obj, n)) is not None}
    return Extent.VARYING if m.is_behind(values) else reduced(values, keywords)


def as_mean(m: Machine, node: ast.expr, value: Value) -> Value:
    """What the rule `loss` multiplies by the number of ranks."""
    if node not in m.assumed.scaled:
        return value
    unlike = value.equal and m.assumed.splits  # a count: those of unequal shares are not one Nth of that of the batch
    if spread(value) is not Extent.SUM or unlike or m.deals():  # of an evaluation the ranks have whole batches
        m.facts.not_sums.add(node)
        return value
    return replace(value, extent=Extent.MEAN, items=None, equal=False, number=False)


def tell_unlike(m: Machine, result: Value, *terms: tuple[ast.expr, Value]) -> Value:
    """Notes in what comes of `a + b` which of the two is a sum where the other one is none."""
    if result.extent is not Extent.VARYING:
        return result
    (_, first), (_, second) = terms
    sums = [node for node, value in terms if spread(value) is Extent.SUM and node in m.program.parents]
    known = all(spread(v) in (Extent.SUM, Extent.MEAN, *WHOLE) for v in (first, second))
    if len(sums) != 1 or not known:
        return result
    return replace(result, objs=result.objs | {Obj(UNLIKE, sums[0])})


def note_statistic(m: Machine, node: ast.BinOp | ast.AugAssign | ast.Compare, left: Value, right: Value) -> None:
    """`x - x.mean(0)`, `x > x.mean()`: noted each time, as what else comes here may hide it."""
    compares = isinstance(node, ast.Compare)
    if not (isinstance(node, ast.Compare) or isinstance(node.op, ast.Sub | ast.Mult | ast.Div)):
        return  # a mean that is only added stays one
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
        return  # `lengths is not None`
    for one, other in ((left, right), (right, left)):
        asked = compares and not one.varies and m.in_forward()  # `x.mean() > 0`
        by_size = asked and other.size and _is_many(one) and isinstance(node, ast.Compare) and _orders(node)
        if by_size:  # `len(x) > 15`
            m.facts.against_statistic.add(node)
        if _is_of_batch(other) and (asked or (one.extent is Extent.SAMPLES and (compares or not other.number))):
            m.facts.against_statistic.add(node)


def _is_many(value: Value) -> bool:
    """Not of one or two samples, which a batch may be asked for in any way."""
    return isinstance(value.const, int | float) and value.const > 2


def _orders(node: ast.Compare) -> bool:
    return isinstance(node.ops[0], ast.Gt | ast.GtE | ast.Lt | ast.LtE)


def note_statistic_given(m: Machine, node: ast.AST, into: Value, given: Iterable[Value]) -> None:
    """`torch.where(x > 0, x, x.mean())`, `z[:, 0] = x.max()`: what goes to the model has a statistic in it."""
    values = (into, *given)
    if m.context.grad and m.sharing() and any(v.extent is Extent.SAMPLES for v in values):
        if any(map(_is_of_batch, values)):
            m.facts.against_statistic.add(node)


def note_gradient_put(m: Machine, node: ast.AST, into: Value, given: Iterable[Value]) -> None:
    """`x.data.add_(-0.1 * x.grad)`, `x.data = x + x.grad`: by how many samples its loss is a mean of."""
    if m.sharing() and spread(into) is Extent.SAMPLES and any(map(of_gradient, given)):
        m.facts.against_statistic.add(node)


def _is_of_batch(value: Value) -> bool:
    return value.extent is Extent.MEAN or (value.extent is Extent.VARYING and bool(value.of(STATISTIC)))


def note_divisor(m: Machine, divisor: ast.expr, value: Value) -> None:
    """`(losses * mask).sum() / mask.sum()`, `criterion(output, y) / len(y)`: both add up over the ranks."""
    if spread(value) is not Extent.VARYING or not _comes_together(m):
        (m.facts.divided if _comes_together(m) else m.facts.divided_apart).add(divisor)


def as_total(m: Machine, node: ast.expr, value: Value) -> Value:
    """What the rule `loss` adds up over the ranks."""
    if spread(value) is not Extent.SUM or not _comes_together(m):
        m.facts.divided_apart.add(node)
        return value
    return replace(value, extent=Extent.UNIFORM, items=None, equal=False)


def as_average(m: Machine, node: ast.expr, value: Value) -> Value:
    """What the rule `loss` averages over the ranks where a gradient is taken; of all data it is that already."""
    if not (m.context.grad or m.context.perhaps_grad):
        return value
    if spread(value) not in (Extent.MEAN, *WHOLE) or m.deals() or m.context.varying or m.left or m.context.perhaps_grad:
        m.facts.divided_apart.add(node)
        return value
    return replace(value, extent=Extent.UNIFORM, items=None, equal=False)


def _comes_together(m: Machine) -> bool:
    return m.sharing() and not (m.deals() or m.context.varying or m.left or m.context.forward)
