"""What is computed number by number with the samples, and has no dimension for them: the same on every rank."""

from __future__ import annotations

import ast

from nbddp.analysis.evaluator import from_the_last
from nbddp.analysis.reading import Reading
from nbddp.analysis.slicing import Function
from nbddp.analysis.syntax import handed, is_name, walk
from nbddp.analysis.values import AsMany, CallFact, Extent, Place, Value, spread


def on_top(plan: Reading, *operands: ast.expr) -> list[ast.expr]:
    """Not what has too few dimensions to have one for the samples: `(out - x) * weights`, a weight for each feature."""
    values = [plan.facts.value(o) for o in operands]
    places = [from_the_last(v) for v in values if spread(v) is Extent.SAMPLES]
    return [o for o, v in zip(operands, values, strict=True) if not places or not all(_has_fewer(v, p) for p in places)]


def is_put_on_top(plan: Reading, call: CallFact, given: ast.expr) -> bool:
    """Does a function of the notebook put it on top of the samples only, and it has no dimension for them?"""
    bodies = [body for body in call.bodies if isinstance(body, Function)]
    names = [(body, name) for body in bodies for name, one in handed(call.node, body) if one is given]
    reads = [n for body, name in names for n in walk(body) if is_name(n, name) and isinstance(n.ctx, ast.Load)]
    around = [(n, plan.program.parents[n]) for n in reads]
    return bool(reads) and all(isinstance(b, ast.BinOp) and n not in on_top(plan, b.left, b.right) for n, b in around)


def _has_fewer(value: Value, place: Place) -> bool:
    """Dimensions than this one is from the last."""
    many = value.shape if isinstance(value.shape, AsMany) else None
    if isinstance(place, tuple) and many is not None:
        return many.of == place[0] and many.more < place[1]
    return isinstance(place, int) and value.rank is not None and value.rank < place
