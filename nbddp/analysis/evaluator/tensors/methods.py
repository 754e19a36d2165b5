"""Methods of tensors, arrays and numbers."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.evaluator.tensors.dimensions import samples_at
from nbddp.analysis.evaluator.tensors.layout import like, lined
from nbddp.analysis.evaluator.tensors.operations import of_size, operation
from nbddp.analysis.evaluator.tensors.samples import of_samples
from nbddp.analysis.library import Samples, effect_of
from nbddp.analysis.values import (
    ANYTHING,
    DRAWN,
    LAST,
    OF_WEIGHTS,
    ONE,
    PICKED,
    PLACED,
    TURNED,
    UNARY,
    WHOLE,
    Args,
    Extent,
    Keywords,
    Machine,
    Value,
    elementwise,
    sizes_known,
    spread,
    thing,
)

TILES = ("repeat", "tile", "repeat_interleave")
REPLACES = frozenset({"zero_", "fill_", "copy_"})
OF_DISTRIBUTIONS = frozenset({"log_prob", "cdf", "icdf", "entropy"})  # tensors have none of these


def tensor_method(m: Machine, base: Value, attr: str, args: Args, keywords: Keywords) -> Value:
    """Methods of tensors, arrays and numbers, by what they do to the extent."""
    base = ANYTHING if attr in OF_DISTRIBUTIONS and base.of(DRAWN) else base  # `Normal(0, 1)`, the same on all ranks
    if attr in ("sample", "rsample") and base.of(DRAWN) and args and any(v.size for v in args[0].items or args[:1]):
        return Value(extent=Extent.SAMPLES)  # `Normal(0, 1).sample((len(x), 2))`
    extent, op = spread(base), effect_of(f".{attr}")
    done = op.samples
    if (found := of_samples(m, base, attr, args, keywords, done)) is not None:
        return found
    if attr == "size":
        return _size(m, base, [*args, *(keywords[k] for k in ("dim",) if k in keywords)])
    if op.about == "kind":
        return Value(number=True)
    if op.size is not None:  # `x.new_zeros(len(x), 3)`
        extent = of_size({m.held(v) for v in (*args, *keywords.values())})
        return Value(extent=extent, const=0 if attr == "new_zeros" and extent in WHOLE else None)
    if attr == "new_tensor" and args:  # of `x` it has the kind alone
        return Value(extent=m.held(args[0]))
    if attr == "item":
        return Value(base.of(ONE), m.one_number(extent, base), number=True)
    if done is Samples.KEEPS:
        extent = UNARY[attr](base) if attr in UNARY else extent
        return lined(attr, Value(base.objs - base.of("shape"), extent, base.items, base.const), args)
    if attr in REPLACES and (attr == "copy_" or extent not in (Extent.SAMPLES, Extent.VARYING)):
        given = args[0] if args else Value(const=0)
        return given if attr == "copy_" else replace(given, number=False, size=False)
    if attr in TILES and extent in WHOLE and _first(args).size:  # `self.token.repeat(len(x), 1, 1)`
        return Value(extent=Extent.SAMPLES)
    values = (replace(v, extent=m.held(v)) if v.objs else v for v in (*args, *keywords.values()))
    found = Value(extent=elementwise([base, *values]))
    return operation(attr, [base, *args], keywords) or like(found, [base])


def _first(sizes: Args) -> Value:
    """Of `(n, 1)` in one tuple, or as several arguments."""
    return next(iter(sizes[0].items or sizes), ANYTHING) if sizes else ANYTHING


def _size(m: Machine, base: Value, args: Args) -> Value:
    if not args:
        return shape_of(m, base)
    varies = spread(base) in (Extent.SAMPLES, Extent.VARYING)
    return m.size(base) if varies and args[0].const == samples_at(base) else Value(number=True)


def shape_of(m: Machine, base: Value) -> Value:
    """`x.shape`, `x.size()`; of one sample it is that of all, where the sizes are known."""
    shape = thing("shape", _SHAPE, OF_WEIGHTS if base.of("parameter") else "")
    one = m.alone(base) or any(o.name == LAST for o in base.of(PLACED))
    apart = spread(base) in (Extent.SAMPLES, Extent.VARYING) and not (one and sizes_known(base))
    return Value(shape.objs | base.of(PICKED, PLACED, TURNED, ONE), Extent.SAMPLES) if apart else shape


_SHAPE = ast.Pass()
