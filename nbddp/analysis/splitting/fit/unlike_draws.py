"""Batches that the ranks would not draw alike: by what each has found in its own samples of those before."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.regions import region_at, stored
from nbddp.analysis.syntax import assigned, walk
from nbddp.analysis.values import WHOLE, Extent, Obj, Split, is_uneven, loads_apart, spread
from nbddp.sentence import Sentence, sentence


def drawn_unlike(plan: Reading, split: Split) -> Sentence | None:
    """`i = replay.sample(32)`, by errors of a rank's own; `X[:20] if loss.item() < 1 else X[20:]`."""
    if any(loads_apart(plan.facts, loader) for loader in _drawn_from(plan, split)):
        return sentence("what is loaded is chosen by what a rank has found in its own samples")
    found = next((n for n in _drawn(plan, split) if _is_own(plan, n)), None)
    if found is None:
        return None
    return sentence("'%1' is drawn by what a rank has found in its own samples, so that each would draw another batch",
                    plan.program.source(found))  # fmt: skip


def _drawn_from(plan: Reading, split: Split) -> set[Obj]:
    """The loaders of the loops around."""
    loops = (loop for loop in plan.program.ancestors(split.at) if isinstance(loop, ast.For | ast.AsyncFor))
    nodes = [n for loop in loops for n in walk(loop.iter) if isinstance(n, ast.expr)]
    return {loader for node in nodes for loader in plan.facts.value(node).of("loader")}


def _drawn(plan: Reading, split: Split) -> Iterator[ast.expr]:
    """What its names are given before it is cut; by what a piece is picked that is cut where it stands."""
    region = region_at(plan, split.at)
    names = {*split.names, *(n.id for n in split.renamed if isinstance(n, ast.Name))}
    for statement in region.block[: region.block.index(region.at)]:
        for part in walk(statement):
            yield from (made for target, made in assigned(part) if stored(target) & names)
    for piece in split.inline:
        yield from (n for n in walk(piece) if isinstance(n, ast.Subscript))


def _is_own(plan: Reading, node: ast.expr) -> bool:
    """Itself, the place at which it begins or ends, or the list of places at which it stands."""
    places = [n for n in walk(node.slice) if isinstance(n, ast.expr)] if isinstance(node, ast.Subscript) else []
    values = [plan.facts.value(n) for n in (node, *places)]
    parts = (part for value in values for part in value.items or (value,))
    apart = any(spread(part) not in (Extent.SAMPLES, *WHOLE) for part in parts)
    return apart or any(value.of("list") and is_uneven(plan.facts, value) for value in values)
