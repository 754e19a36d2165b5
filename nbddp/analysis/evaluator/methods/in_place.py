"""What a method changes in its place."""

from __future__ import annotations

import ast

from nbddp.analysis.evaluator.tensors import REPLACES
from nbddp.analysis.evaluator.writes import hand_over, taint, was_there
from nbddp.analysis.library import Effect, effect_of
from nbddp.analysis.values import WHOLE, Args, Extent, Machine, Value, note_gradient_put, spread

LEAVES_VALUES = frozenset({"requires_grad_", "retain_grad_", "share_memory_", "__"})


def change_in_place(m: Machine, node: ast.Call, func: ast.Attribute, base: Value, result: Value, given: Args) -> None:
    """`total.add_(x)`, `meter.update(loss)`: what goes in makes what it stands for differ between ranks."""
    hand_over(m, node, given, {})
    note_gradient_put(m, node, base, given)
    moves = effect_of(f".{func.attr}").effect is Effect.REORDERS and isinstance(m.program.parents.get(node), ast.Expr)
    if moves and spread(base) is Extent.SAMPLES and not m.alone(base):  # `boxes.reverse()`
        taint(m, func.value, Extent.VARYING)
    for obj in base.of("list") if moves and m.held(base) in (Extent.MEAN, Extent.SUM) else ():
        m.put(obj, "[]", m.elements(base).with_extent(Extent.VARYING))  # `best.sort()`: each rank by its own numbers
    if func.attr.endswith("_") and func.attr not in LEAVES_VALUES and (result.varies or base.varies):
        taint(m, func.value, spread(result))
    elif (any(m.held(v) not in WHOLE for v in given) or _counts_turns(m, func, base)) and not base.varies:
        taint(m, func.value, Extent.VARYING)
        for obj in base.of("instance"):  # of a list's class, or a dictionary's
            m.put(obj, "[]", Value(extent=Extent.VARYING))
    elif base.const is not None and func.attr.endswith("_") and func.attr not in LEAVES_VALUES | REPLACES:
        taint(m, func.value, spread(base))  # `hot = torch.zeros(n, 3); hot.scatter_(1, y, 1)`: no zeros any more


def _counts_turns(m: Machine, func: ast.Attribute, base: Value) -> bool:
    """`seen.add_(1)` for each batch of an evaluation, of which a rank has a part."""
    again = func.attr.endswith("_") and not func.attr.endswith("__") and func.attr not in LEAVES_VALUES | REPLACES
    return again and bool(base.arrays) and was_there(m, func.value, lambda a: a.deals)
