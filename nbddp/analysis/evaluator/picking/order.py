"""What is taken by places, and in which order."""

from __future__ import annotations

import ast

from nbddp.analysis.values import Extent, Machine, Value, domain, spread


def order_of(m: Machine, node: ast.expr, index: Value, *, tensor: bool) -> tuple[str, ...]:
    """What is taken by places, `x[order]`, `x[[2, 0, 1]]`, `x[::-1]`; nothing where the samples stay in order."""
    if isinstance(node, ast.Slice):
        return (domain.MOVED if _is_all(node) else domain.PICKED, domain.PLACED) if node.step else ()
    if index.of(domain.PLACES, domain.MASK, domain.PICKED) or index.number or index.const is not None:
        return ()
    if m.facts.counts(node):  # `logp[range(len(y)), y]`, `x[range(len(x) - 1, -1, -1)]`
        if isinstance(node, ast.Call) and node.args and all(isinstance(a, ast.Constant) for a in node.args):
            return domain.PICKED, domain.PLACED  # `x[torch.arange(2)]`
        back = isinstance(node, ast.Call) and [ast.unparse(a) for a in node.args[2:]] == ["-1"]
        stepped = isinstance(node, ast.Call) and len(node.args) > 2
        return (domain.MOVED,) if back else (domain.MOVED, domain.PICKED, domain.PLACED) if stepped else ()
    if spread(index) is Extent.SAMPLES or index.of(domain.STATISTIC):
        ordered = index.of(domain.STATISTIC, domain.MOVED, domain.PLACED) or not tensor
        one = (domain.PICKED, domain.PLACED) if index.of(domain.STATISTIC) and index.of(domain.PLACED) else ()
        return (domain.MOVED, *one) if ordered else (domain.MOVED, domain.PICKED, domain.PLACED)  # by what they are
    if spread(index) is Extent.VARYING:
        beside = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)  # `x[i - 1]`
        return (domain.MOVED, domain.PICKED, domain.PLACED) if beside else (domain.MOVED, domain.PICKED)
    listed = index.of("list") or any(not m.facts.counts(array.node) for array in index.arrays)
    return (domain.MOVED, domain.PICKED, domain.PLACED) if listed else ()


def _is_all(node: ast.Slice) -> bool:
    """`x[::-1]`."""
    return node.lower is node.upper is None and ast.unparse(node.step or node) == "-1"
