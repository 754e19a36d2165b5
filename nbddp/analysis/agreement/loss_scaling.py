"""Losses of unlike parts, `sum + mean`: a sum times the number of ranks adds up like a mean."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.reading import Reading
from nbddp.analysis.values import UNLIKE, Extent, Value, backward_of, spread


def unlike_terms(plan: Reading) -> frozenset[ast.AST]:
    """Sums in losses that hold something else as well."""
    return frozenset(o.node for loss in _losses(plan) for o in loss.of(UNLIKE) if spread(loss) is Extent.VARYING)


def add_up(plan: Reading) -> bool:
    """Is each loss a mean over the share, now that such sums are scaled, and was each of them a sum at every time?"""
    return not plan.facts.not_sums and all(
        spread(loss) is Extent.MEAN for loss in _losses(plan) if loss.of(UNLIKE) or spread(loss) is Extent.VARYING
    )


def _losses(plan: Reading) -> Iterator[Value]:
    for call in plan.facts.backward:
        loss = backward_of(call)
        if loss is not None and plan.facts.calls[call].loops:
            yield plan.facts.value(loss)
