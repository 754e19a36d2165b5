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
    What it does not understand: in an evaluation each rank then reads all of the data. In training what goes into a
    product, a square or an item is put together in each step; where that cannot be, the number is told as rank 0's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.accumulators import inside
from nbddp.analysis.domain import ASSUMED, Extent
from nbddp.analysis.edit import Edit, after, before, wrap
from nbddp.analysis.facts import Reduction
from nbddp.analysis.outlets import as_a_whole, outlets
from nbddp.analysis.plan import Plan
from nbddp.analysis.written_out import always_displayed
from nbddp.diagnostics import Diagnostic, Level
from nbddp.sentence import sentence

NAME = "reduce"
PARTS = {Extent.MEAN: "mean_over_ranks", Extent.SUM: "sum_over_ranks"}


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for (loop, _), reduction in sorted(plan.facts.reductions.items(), key=lambda i: (_line(i[0][0]), i[0][1])):
        if isinstance(loop, ast.For | ast.AsyncFor | ast.While):
            yield _behind(plan, loop, reduction)
            yield from _on_leaving(plan, loop, reduction)
            if reduction.assumed:
                yield _assumed(plan, loop, reduction.name)
    for node, part in dict.fromkeys(p for found in plan.facts.at_source.values() for p in found):
        yield from wrap(plan.program, NAME, node, f"{plan.naming(part)}(", ")", (part,))
    told: set[str] = set()
    for outlet in outlets(plan):
        extent = as_a_whole(plan.facts.value(outlet.node))
        if outlet.safe and extent in PARTS:
            part = PARTS[extent]
            if plan.facts.value(outlet.node).of(ASSUMED):
                yield _assumed(plan, outlet.node, plan.program.source(outlet.node))
            yield from wrap(plan.program, NAME, outlet.node, f"{plan.naming(part)}(", ")", (part,))
        elif outlet.steers and outlet.safe:
            yield from wrap(plan.program, NAME, outlet.node, f"{plan.naming('from_rank_0')}(", ")", ("from_rank_0",))
            yield _own(plan, outlet.node, "warning")
        else:
            told.update(n.id for n in ast.walk(outlet.node) if isinstance(n, ast.Name))
            yield _own(plan, outlet.node, "warning" if outlet.decides else "note")
    left = (key for key in plan.facts.unreduced if not plan.facts.at_source.get(key))
    for loop, name in sorted(left, key=lambda i: (_line(i[0]), i[1])):
        places = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == name and name not in told]
        if places and not always_displayed(plan, places[0]):
            yield _own(plan, max(places, key=_line), "note")


def _own(plan: Plan, node: ast.expr, level: Level) -> Diagnostic:
    return plan.program.diagnose(
        NAME, level, node, sentence("'%1' is rank 0's own, from its share of the data", plan.program.source(node)),
        why=sentence("what the ranks have cannot be put together here"),
        help=sentence("accumulate it with += over the loop, and use it behind the loop"),
    )  # fmt: skip


def _assumed(plan: Plan, node: ast.stmt | ast.expr, what: str) -> Diagnostic:
    return plan.program.diagnose(
        NAME, "note", node, sentence("'%1' is put together as if it were made of means over each batch", what),
        why=sentence("it is weighted by the size of the batch, and where it comes from is not known"),
    )  # fmt: skip


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _on_leaving(plan: Plan, loop: ast.For | ast.AsyncFor | ast.While, reduction: Reduction) -> Iterator[Edit]:
    """`return losses` in the midst of the loop: what a list holds counts as put together from the loop on."""
    for leaving in [n for n in inside(loop.body) if isinstance(n, ast.Return)]:
        read = [n for n in ast.walk(leaving) if isinstance(n, ast.Name) and n.id == reduction.name]
        if any(plan.facts.value(n).of("list", "dict") for n in read):
            line, part = _put_together(plan, loop, reduction)
            yield before(plan.program, NAME, leaving, line, (part,))


def _behind(plan: Plan, loop: ast.For | ast.AsyncFor | ast.While, reduction: Reduction) -> Edit:
    line, part = _put_together(plan, loop, reduction)
    return after(plan.program, NAME, loop, line, (part,))


def _put_together(plan: Plan, loop: ast.For | ast.AsyncFor | ast.While, reduction: Reduction) -> tuple[str, str]:
    name = reduction.name
    if reduction.how == "gather":
        part = "gather_in_order"
        call = f"{plan.naming(part)}({name}, {_loader(plan, loop)})"
    elif reduction.how.startswith("gather"):
        part = reduction.how
        call = f"{plan.naming(part)}({name})"
    else:
        part = f"{reduction.how}_over_ranks"
        if reduction.how == "sum" and loop in plan.sharding.mixed:
            part = "sum_over_shares"
            call = f"{plan.naming(part)}({name}, {_loader(plan, loop)})"
        else:
            call = f"{plan.naming(part)}({name})"
    line = f"{name} = {call}"
    if reduction.in_place:
        line = f"{name}.update({call})" if _is_dict(plan, loop, name) else f"{name}[:] = {call}"
    return line, part


def _is_dict(plan: Plan, loop: ast.AST, name: str) -> bool:
    return any(plan.facts.value(n).of("dict") for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == name)


def _loader(plan: Plan, loop: ast.AST) -> str:
    """The text by which the loop names its loader."""
    nodes = plan.facts.loops[loop].loader_nodes  # type: ignore[index]
    return plan.program.source(min(nodes, key=lambda n: (n.lineno, n.col_offset)))
