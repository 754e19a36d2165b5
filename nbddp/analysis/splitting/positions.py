"""`probs[torch.arange(n), labels]`: of each sample what its label says, where n counts all samples of the batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.regions import region_at
from nbddp.analysis.syntax import qualified
from nbddp.analysis.values import Split

COUNTING = ("torch.arange", "numpy.arange")
Picked = tuple[ast.expr, ast.expr]  # how many samples are gone through, and the labels, of which there are as many


def numbered(plan: Reading, split: Split) -> Iterator[Picked]:
    """On a rank there are as many as it has labels."""
    for statement in region_at(plan, split.at).rest:
        for node in ast.walk(statement):
            if (found := of_each(plan, node)) is not None and plan.facts.value(found[1]).varies:
                yield found


def of_each(plan: Reading, node: ast.AST) -> Picked | None:
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple) or len(node.slice.elts) != 2:
        return None
    places, labels = node.slice.elts
    named = isinstance(labels, ast.Name | ast.Attribute | ast.Subscript)
    return (places.args[0], labels) if named and isinstance(places, ast.Call) and _counts(plan, places) else None


def _counts(plan: Reading, call: ast.Call) -> bool:
    """From 0, one by one."""
    name = qualified(call.func, plan.flow.imports)
    plain = name in COUNTING or (isinstance(call.func, ast.Name) and call.func.id == "range")
    return plain and len(call.args) == 1 and not {k.arg for k in call.keywords} & {"start", "end", "step", "stop"}
