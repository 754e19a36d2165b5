"""A mean of which it is not seen where it comes about."""

from __future__ import annotations

import ast

from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.means.born import (
    holds_mean,
    is_born,
    means_in,
    runs,
    scales,
)
from nbddp.analysis.splitting.means.found import means_of
from nbddp.analysis.splitting.regions import definitions, region_at
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Split, backward_of


def uncounted(plan: Reading, split: Split) -> ast.expr | None:
    """A mean in a loss of the step of which it is not seen where it comes about, so that it cannot be weighed."""
    region, means = region_at(plan, split.at), means_of(plan, split)
    if means.unseen:
        return means.unseen[0]
    known = {*means.born, *plan.assumed.scaled, *(inner.node for inner in means.inner)}
    summed_up = {call for call in {n for s in region.rest for n in walk(s)} if is_born(plan, call)} - {*means.born}
    named = {name for _, name in means.unpacked}
    inside = {n for s in region.rest for n in walk(s)}
    for call in sorted(plan.facts.backward & inside, key=plan.program.span):
        waiting, seen = [backward_of(call), *plan.assumed.averaged], set[ast.AST]()
        while waiting:
            node = waiting.pop()
            if node is None or node in seen or node in known | summed_up or not holds_mean(plan, node):
                continue
            inner_means = means_in(plan, node) if runs(plan, node) else set()
            if (inner_means or scales(plan, node)) and inner_means <= known:
                continue
            seen.add(node)
            made = list(definitions(region, node)) if isinstance(node, ast.Name) and node.id not in named else []
            inner = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
            below = [n for n in (*inner, *made) if holds_mean(plan, n)]
            if not below and not (isinstance(node, ast.Name) and node.id in named):
                return node
            waiting += below
    return None
