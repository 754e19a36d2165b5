"""What has as many rows as a full batch, where the last batch may have fewer: no part of it is one of that."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import combinations

from nbddp.analysis.library import entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.origins import known_size, loaders_of
from nbddp.analysis.splitting.regions import Region, held, region_at, run_by
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Extent, Split, spread
from nbddp.sentence import Sentence, sentence


def longer_than_the_last(plan: Reading, split: Split) -> Sentence | None:
    """`z = torch.randn(64, 100)` beside `x = X[i : i + 64]`; where they meet the notebook has no shorter one."""
    region = region_at(plan, split.at)
    parts = [*held(plan, split)]
    fixed = [part for part in parts if _is_fixed(plan, part)]
    short = [part for part in parts if part not in fixed and _may_be_short(plan, part, fixed)]
    if not (fixed and short) or any(_meet(plan, node, fixed, short) for node in _computed(region)):
        return None
    return sentence("'%1' has as many rows as a full batch, and the last batch may have fewer",
                    plan.program.source(fixed[0]))  # fmt: skip


def _is_fixed(plan: Reading, part: ast.expr) -> bool:
    """Drawn or filled, of a size that is written with a number."""
    made = [*plan.bindings.made_by(part)] or [part]
    sized = any(isinstance(n, ast.Call) and entry_of(n, plan.flow.imports).size is not None for n in made)
    return sized and known_size(plan, part) is not None and not any(_is_slice(n) for m in made for n in walk(m))


def _may_be_short(plan: Reading, part: ast.expr, fixed: Sequence[ast.expr]) -> bool:
    size = next((int(known) for one in fixed if (known := known_size(plan, one)) is not None), 0)
    for loader in loaders_of(plan, part):
        fact = plan.facts.calls.get(loader.node) if isinstance(loader.node, ast.Call) else None
        dropped, full = (fact.args.get(n) if fact is not None else None for n in ("drop_last", "batch_size"))
        if full is not None and isinstance(full.const, int) and full.const != size:
            return False  # `torch.rand(15, 2)`, points beside the batch
        return not (dropped is not None and dropped.const is True) and not _divides(plan, loader.node, size)
    slices = (n for one in plan.bindings.made_of(part, through_calls=False) for n in walk(one) if _is_slice(n))
    return any(_written_step(n) in (None, size) and not _divides(plan, n, size) for n in slices)


def _written_step(node: ast.AST) -> object:
    """`64` of `X[i : i + 64]`."""
    step = getattr(getattr(getattr(node, "slice", None), "upper", None), "right", None)
    return step.value if isinstance(step, ast.Constant) else None


def _is_slice(node: ast.AST) -> bool:
    """`X[i : i + 64]`"""
    upper = getattr(getattr(node, "slice", None), "upper", None)
    return isinstance(upper, ast.BinOp) and isinstance(upper.op, ast.Add)


def _divides(plan: Reading, node: ast.AST, size: int) -> bool:
    """Are there as many samples as some full batches have?"""
    data = [node.value] if isinstance(node, ast.Subscript) else [n for n in walk(node) if isinstance(n, ast.expr)]
    made = [n for part in data for n in (part, *plan.bindings.made_of(part))]
    shapes = [plan.facts.value(n).shape for n in made]
    counts = [s[0] for s in shapes if isinstance(s, tuple) and s and isinstance(s[0], int)]
    return bool(size and counts) and counts[0] % size == 0


def _computed(region: Region) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a loss is given, and the two sides of an operator that goes entry by entry."""
    for node in (n for statement in region.rest for n in run_by(region.plan, statement)):
        if isinstance(node, ast.Call) and region.plan.facts.is_loss(node):
            yield from combinations(node.args, 2)
        elif isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
            sides = node.left, node.right
            if all(spread(region.plan.facts.value(side)) is Extent.SAMPLES for side in sides):
                yield sides


def _meet(
    plan: Reading, sides: tuple[ast.expr, ast.expr], fixed: Sequence[ast.expr], short: Sequence[ast.expr]
) -> bool:
    """One of them made of what has so many rows alone, the other of what may have fewer."""
    first, second = ({ast.unparse(n) for n in plan.bindings.made_of(side)} for side in sides)
    full, less = ({ast.unparse(one) for one in parts} for parts in (fixed, short))
    return any(a & full and not a & less and b & less and not b & full for a, b in ((first, second), (second, first)))
