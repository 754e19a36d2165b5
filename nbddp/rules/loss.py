"""What it does
    Multiplies a loss that is a sum over the batch by the number of ranks before `backward()`.

Why DDP needs it
    DDP averages gradients over the ranks. The mean of the ranks' means is the mean over the batch; the mean of their
    sums is only 1/N of the sum: the training would take steps N times too small, and say nothing.

Before
    loss = F.mse_loss(output, x, reduction="sum")
    loss.backward()

After
    loss = F.mse_loss(output, x, reduction="sum")
    (world_size * loss).backward()

Declines
    Means over the batch, which need nothing. A loss that is neither a plain mean nor a plain sum is reported, and so
    are means weighted by class, and losses that compare the samples of a batch with each other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.domain import Extent, spread
from nbddp.analysis.edit import Edit, wrap
from nbddp.analysis.imports import qualified
from nbddp.analysis.losses import backward_of
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic

NAME = "loss"
WEIGHTED = ("torch.nn.CrossEntropyLoss", "torch.nn.NLLLoss", "torch.nn.functional.cross_entropy",
            "torch.nn.functional.nll_loss")  # fmt: skip
PAIRS = ("torch.cdist", "torch.pdist", "torch.nn.functional.pdist")
PRODUCTS = ("torch.mm", "torch.matmul")


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    training = {f.node for f in plan.roles.batch_loops}
    for call in sorted(plan.facts.backward, key=lambda c: (c.lineno, c.col_offset)):
        loss = backward_of(call) if plan.facts.calls[call].loops & training else None
        extent = spread(plan.facts.value(loss)) if loss else None
        if loss and extent is Extent.SUM:
            yield from wrap(plan.program, NAME, loss, f"({_ranks(plan, call)} * ", ")", ("dist",))
        elif loss and extent in (Extent.VARYING, Extent.SAMPLES):
            yield plan.program.diagnose(
                NAME, "warning", loss, "it is not clear how this loss adds up over the samples of a batch",
                why="DDP averages over the ranks: that is right for a mean over the batch, and too small for a sum",
                help="compute it as a mean over the batch, or check the numbers with 'nbddp verify'",
            )  # fmt: skip
    yield from _weighted(plan)
    yield from _among_samples(plan)
    yield from _gradients_of_samples(plan)


def _ranks(plan: Plan, node: ast.AST) -> str:
    inside = plan.program.function_of(node) is not None
    return f"{plan.naming('dist')}.get_world_size()" if inside else plan.naming("world_size")


def _weighted(plan: Plan) -> Iterator[Diagnostic]:
    for call in plan.calls(*WEIGHTED):
        named = {k.arg: k.value for k in call.node.keywords}
        given = [named[n] for n in ("weight", "ignore_index") if n in named]
        sums = isinstance(how := named.get("reduction"), ast.Constant) and how.value != "mean"
        if any(not (isinstance(v, ast.Constant) and v.value is None) for v in given) and not sums:
            yield plan.program.diagnose(
                NAME, "note", call.node,
                "this mean counts some samples more than others, so the ranks' mean is not quite that over the batch",
                why="a rank divides by what the samples of its own share count",
            )  # fmt: skip


def _among_samples(plan: Plan) -> Iterator[Diagnostic]:
    for node in plan.nodes():
        if isinstance(node, ast.BinOp | ast.Call) and _compares_samples(plan, node):
            yield plan.program.diagnose(
                NAME, "warning", node, "the samples of a batch are compared with each other here, and a rank sees only "
                "those of its share", why="N ranks compare N times fewer pairs: another training",
                help="choose a batch size N times as large, or export with --batch-per-rank",
            )  # fmt: skip


def _compares_samples(plan: Plan, node: ast.BinOp | ast.Call) -> bool:
    """`a @ b.T`, `torch.cdist(a, b)` with a sample in each row of both."""
    if isinstance(node, ast.BinOp):
        parts, turned = [node.left, node.right], isinstance(node.op, ast.MatMult) and _is_turned(node.right)
    else:
        name = qualified(node.func, plan.flow.imports) or ""
        parts = list(node.args[:2])
        turned = name in PAIRS or (name in PRODUCTS and len(parts) > 1 and _is_turned(parts[1]))
    return turned and bool(parts) and all(spread(plan.facts.value(p)) is Extent.SAMPLES for p in parts)


def _is_turned(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        ends = [a.value for a in node.args if isinstance(a, ast.Constant)]
        return node.func.attr == "t" or (node.func.attr == "transpose" and sorted(map(str, ends)) == ["0", "1"])
    return isinstance(node, ast.Attribute) and node.attr == "T"


def _gradients_of_samples(plan: Plan) -> Iterator[Diagnostic]:
    for found in plan.calls("torch.autograd.grad"):
        wanted = found.args.get(0), found.args.get(1)
        if all(wanted) and [spread(v) for v in wanted if v] == [Extent.MEAN, Extent.SAMPLES]:
            yield plan.program.diagnose(
                NAME, "warning", found.node, "the gradient of a batch's mean by its samples depends on the batch size",
                why="a rank's share is smaller than the batch, so its samples get larger gradients",
                help="take the gradient of the sum over the samples instead",
            )  # fmt: skip
