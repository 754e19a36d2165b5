"""What it does
    Multiplies a loss that is a sum over the batch by the number of ranks before `backward()`.

Why DDP needs it
    DDP averages gradients over the ranks. The average of means is the mean over the whole batch, but the average of
    sums is only 1/N of the whole sum: the steps would be N times too small, without any error message.

Before
    loss = F.mse_loss(output, x, reduction="sum")
    loss.backward()

After
    loss = F.mse_loss(output, x, reduction="sum")
    (world_size * loss).backward()

Declines
    Means over the batch, which need no change; in a total of both, only the sum is multiplied. A loss that is neither
    is reported, and so are means weighted by class and losses that compare the samples of a batch with each other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.agreement import compares_samples, weighted_losses
from nbddp.analysis.library import MEAN_NAMES, is_mean_loss
from nbddp.analysis.models import kept_of_shares
from nbddp.analysis.values import PICKED, STATISTIC, CallFact, Extent, Loop, Value, backward_of, spread
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, wrap
from nbddp.sentence import sentence

NAME = "loss"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    training = {f.node for f in plan.roles.batch_loops}
    for call in sorted(plan.facts.backward, key=lambda c: (c.lineno, c.col_offset)):
        loss = backward_of(call) if plan.facts.calls[call].loops & training else None
        extent = spread(plan.facts.value(loss)) if loss else None
        if loss and extent is Extent.SUM:
            yield from wrap(plan.program, NAME, loss, f"({plan.world_size(call)} * ", ")", ("dist",))
        elif loss and extent in (Extent.VARYING, Extent.SAMPLES):
            yield plan.program.diagnose(
                NAME, "warning", loss,
                sentence("it is not clear whether this loss is a mean or a sum over the samples of a batch"),
                why=sentence("DDP averages gradients over the ranks, which is right for a mean over the batch but "
                             "too small for a sum"),
                help=sentence("compute it as a mean over the batch, or check the numbers with 'nbddp verify'"),
            )  # fmt: skip
    yield from _scaled(plan)
    yield from _weighted(plan)
    yield from _picked(plan, training)
    yield from _hooked(plan)
    yield from _among_samples(plan)
    yield from _kept_in_buffers(plan)
    yield from _gradients_of_samples(plan)


def _scaled(plan: Plan) -> Iterator[Edit]:
    """`reconstruction_sum + kl_mean`: the mean over the ranks is right for the second, and for N times the first."""
    for node in sorted(plan.assumed.scaled, key=plan.program.span):
        bare = isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
        before, after = ("", "") if bare else ("(", ")")
        yield from wrap(plan.program, NAME, node, f"{plan.world_size(node)} * {before}", after, ("dist",))


def _weighted(plan: Plan) -> Iterator[Diagnostic]:
    for call in weighted_losses(plan):
        yield plan.program.diagnose(
            NAME, "note", call,
            sentence("this mean weights some samples more than others, so averaged over the ranks it differs a "
                     "little from the mean over the whole batch"),
            why=sentence("each rank divides by the total weight of its own samples only"),
        )  # fmt: skip


def _picked(plan: Plan, training: set[Loop]) -> Iterator[Diagnostic]:
    """`criterion(output[mask], y[mask])`, `losses[mask].mean()`."""
    for fact in _by_place(plan):
        if (
            fact.loops & training
            and fact.grad
            and _is_mean(plan, fact)
            and any(v.of(PICKED) for v in _given(plan, fact))
        ):
            yield plan.program.diagnose(
                NAME, "note", fact.node,
                sentence("this is a mean over selected samples of the batch, and the ranks may have different "
                         "numbers of them"),
                why=sentence("averaged over the ranks it differs a little from the mean over the whole batch, and a "
                             "rank with none of them has no mean"),
            )  # fmt: skip


def _by_place(plan: Plan) -> list[CallFact]:
    return sorted(plan.facts.calls.values(), key=lambda c: (c.node.lineno, c.node.col_offset))


def _is_mean(plan: Plan, fact: CallFact) -> bool:
    func = fact.node.func
    named = any(is_mean_loss(n) or n in MEAN_NAMES for n in fact.names) or bool(plan.facts.value(func).of("loss"))
    method = isinstance(func, ast.Attribute) and func.attr == "mean"
    return (named or method) and plan.facts.value(fact.node).extent is Extent.MEAN


def _given(plan: Plan, fact: CallFact) -> list[Value]:
    func = fact.node.func
    return [*fact.args.values(), *([plan.facts.value(func.value)] if isinstance(func, ast.Attribute) else [])]


def _hooked(plan: Plan) -> Iterator[Diagnostic]:
    for fact in _by_place(plan):
        func = fact.node.func
        hooks = isinstance(func, ast.Attribute) and func.attr == "register_hook"
        if hooks and any(o.kind == "parameter" for o in fact.receivers):
            yield plan.program.diagnose(
                NAME, "warning", fact.node,
                sentence("this hook sees the gradient of one rank's share of the batch, before the average over the "
                         "ranks"),
                why=sentence("anything that is not linear (clipping, noise, a norm) gives a different gradient than "
                             "on the whole batch"),
                help=sentence("change the gradients between backward() and step() instead"),
            )  # fmt: skip


def _among_samples(plan: Plan) -> Iterator[Diagnostic]:
    told: set[ast.AST] = set()
    for node in plan.nodes():
        of_its_batch = isinstance(node, ast.BinOp) and _of_its_batch(plan, node)
        compares = isinstance(node, ast.BinOp | ast.Call | ast.Compare) and compares_samples(plan, node)
        if not (of_its_batch or compares) or any(a in told or a in plan.dealt for a in plan.program.ancestors(node)):
            continue
        if of_its_batch:
            told.add(node)
            yield plan.program.diagnose(
                NAME, "warning", node,
                sentence("each sample is compared with a statistic of its batch here, and a rank sees only its "
                         "share of the batch"),
                why=sentence("with N ranks the statistic covers N times fewer samples, which changes the training"),
                help=sentence("compute the statistic within each sample, or once over the whole data before the "
                              "training, or choose a batch size N times as large"),
            )  # fmt: skip
        else:
            yield plan.program.diagnose(
                NAME, "warning", node,
                sentence("the samples of a batch are compared or mixed with each other here, and a rank sees only its "
                         "share of the batch"),
                why=sentence("with N ranks each sample meets N times fewer others, which changes the training"),
                help=sentence("choose a batch size N times as large, or export with --batch-per-rank"),
            )  # fmt: skip


def _kept_in_buffers(plan: Plan) -> Iterator[Diagnostic]:
    for statement in kept_of_shares(plan):
        yield plan.program.diagnose(
            NAME, "warning", statement,
            sentence("this buffer of the model is updated from the rank's own part of the data, and all ranks "
                     "continue with that of rank 0"),
            why=sentence("with N ranks the statistic covers N times fewer samples, which changes the training"),
            help=sentence("choose a batch size N times as large, and check the numbers with 'nbddp verify'"),
        )  # fmt: skip


def _of_its_batch(plan: Plan, node: ast.BinOp) -> bool:
    """`x - x.mean(0)`; a mean that is only added stays one."""
    left, right = plan.facts.value(node.left), plan.facts.value(node.right)
    for one, other in ((left, right), (right, left)):
        of_batch = other.extent is Extent.MEAN or (other.extent is Extent.VARYING and other.of(STATISTIC))
        if one.extent is Extent.SAMPLES and of_batch and not other.number:
            return isinstance(node.op, ast.Sub | ast.Mult | ast.Div)
    return False


def _gradients_of_samples(plan: Plan) -> Iterator[Diagnostic]:
    for found in plan.calls("torch.autograd.grad"):
        wanted = found.args.get(0), found.args.get(1)
        if all(wanted) and [spread(v) for v in wanted if v] == [Extent.MEAN, Extent.SAMPLES]:
            yield plan.program.diagnose(
                NAME, "warning", found.node,
                sentence("the gradient of a batch mean with respect to the samples depends on the batch size"),
                why=sentence("a rank's share is smaller than the batch, so its samples get larger gradients"),
                help=sentence("take the gradient of the sum over the samples instead"),
            )  # fmt: skip
