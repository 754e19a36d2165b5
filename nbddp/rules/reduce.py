"""What it does
    Puts together what the ranks counted and collected over their shares, right behind the loop that did: sums are
    added up, means averaged, lists gathered in the order of one process.

Why DDP needs it
    After a loop over its share a rank knows a part. Printed, returned or compared, it would be taken for the whole.

Before
    for x, y in test_loader:
        correct += count_correct(x, y)
    print(correct / len(test_set))

After
    for x, y in share_of(test_loader):
        correct += count_correct(x, y)
    correct = sum_over_ranks(correct)
    print(correct / len(test_set))

Declines
    What it does not understand: in an evaluation each rank then reads all of the data; in training the number is
    reported as rank 0's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.domain import Extent, spread
from nbddp.analysis.edit import Edit, after, wrap
from nbddp.analysis.facts import Reduction
from nbddp.analysis.outlets import outlets
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic

NAME = "reduce"
PARTS = {Extent.MEAN: "mean_over_ranks", Extent.SUM: "sum_over_ranks"}


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for (loop, _), reduction in sorted(plan.facts.reductions.items(), key=lambda i: (_line(i[0][0]), i[0][1])):
        if isinstance(loop, ast.For | ast.AsyncFor | ast.While):
            yield _behind(plan, loop, reduction)
    for outlet in outlets(plan):
        extent = spread(plan.facts.value(outlet.node))
        if outlet.safe and extent in PARTS:
            part = PARTS[extent]
            yield from wrap(plan.program, NAME, outlet.node, f"{plan.naming(part)}(", ")", (part,))
        else:
            yield plan.program.diagnose(
                NAME, "warning" if outlet.decides else "note", outlet.node,
                f"'{plan.program.source(outlet.node)}' is rank 0's own number, from its share of the data",
                why="what the ranks have cannot be put together here",
                help="accumulate it with += over the loop, and use it behind the loop",
            )  # fmt: skip


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _behind(plan: Plan, loop: ast.For | ast.AsyncFor | ast.While, reduction: Reduction) -> Edit:
    name = reduction.name
    if reduction.how == "gather":
        part = "gather_in_order"
        call = f"{plan.naming(part)}({name}, {_loader(plan, loop)})"
    else:
        part = f"{reduction.how}_over_ranks"
        if reduction.how == "sum" and loop in plan.sharding.mixed:
            part = "sum_over_shares"
            call = f"{plan.naming(part)}({name}, {_loader(plan, loop)})"
        else:
            call = f"{plan.naming(part)}({name})"
    target = f"{name}[:]" if reduction.in_place else name
    return after(plan.program, NAME, loop, f"{target} = {call}", (part,))


def _loader(plan: Plan, loop: ast.AST) -> str:
    """The text by which the loop names its loader."""
    nodes = plan.facts.loops[loop].loader_nodes  # type: ignore[index]
    return plan.program.source(min(nodes, key=lambda n: (n.lineno, n.col_offset)))
