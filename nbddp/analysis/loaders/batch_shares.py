"""A rank's share of the batch size as text, and the batch sizes that are known when the processes start."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.loaders.batch_sizes import Size, sizes
from nbddp.analysis.loaders.sharding import ShardedReading

PLAIN = ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Constant
Binds = ast.BinOp | ast.UnaryOp | ast.Attribute | ast.Subscript | ast.Await


def around(plan: ShardedReading, node: ast.expr) -> tuple[str, str]:
    """What makes the share of a number: the text before and the text behind it."""
    inner = ("", "") if isinstance(node, PLAIN) else ("(", ")")
    parent = plan.program.parents.get(node)
    outer = ("(", ")") if isinstance(parent, Binds) and getattr(parent, "slice", None) is not node else ("", "")
    return outer[0] + inner[0], f"{inner[1]} // {plan.world_size(node)}{outer[1]}"


def sizes_at_start(plan: ShardedReading) -> tuple[str | int, ...]:
    """Of the batches that are split: names of parameters, and numbers that stand in the notebook."""
    if plan.options.batch_per_rank or plan.framework is not None:
        return ()
    return tuple(dict.fromkeys(known for size in sizes(plan) for known in _known(plan, size)))


def known_at_start(plan: ShardedReading, size: Size) -> bool:
    return bool(size.sources) and len(list(_known(plan, size))) == len(size.sources)


def _known(plan: ShardedReading, size: Size) -> Iterator[str | int]:
    for source in sorted(size.sources, key=lambda n: getattr(n, "lineno", 0)):
        statement = plan.top_level(source)
        node = statement.node if statement is not None else None
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if statement is not None and statement.cell.mark == "parameters" and isinstance(target, ast.Name):
            yield target.id
        elif isinstance(source, ast.Constant) and type(source.value) is int and source.value > 1:
            yield source.value
