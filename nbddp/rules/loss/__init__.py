"""What it does
    Multiplies a loss that is a sum over the batch by the number of ranks before `backward()`, and writes a mean over
    some of its samples, or by their weights, as that over the samples of all ranks. Where a loss makes more of means
    than a mean, as a root does, these are averaged over the ranks first.

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
    is reported, and so are losses that compare the samples of a batch with each other, and means over samples that a
    rank chooses from its share, or to which not all ranks come.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from nbddp.analysis import Plan
from nbddp.analysis.agreement import (
    among_samples,
    is_paired,
    over_ranks,
    padded_inputs,
    padded_losses,
    perhaps_paired,
    sample_means,
)
from nbddp.analysis.combining import fillings
from nbddp.analysis.models import kept_of_shares
from nbddp.analysis.slicing import carried_reads, moves_data_alone
from nbddp.analysis.splitting import means_in, means_of
from nbddp.analysis.values import ANYTHING, ASSUMED, ITEMS, CallFact, Extent, Loop, Value, backward_of, contents, spread
from nbddp.diagnostics import Diagnostic, Level
from nbddp.edits import Edit, wrap
from nbddp.rules.loss.whole_means import over_samples
from nbddp.sentence import sentence

NAME = "loss"
HOOKS = ("register_hook", "register_full_backward_hook", "register_backward_hook")  # on gradients


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    if plan.framework is not None:  # which has its own way to bring the gradients together
        yield from _among_samples(plan)
        return
    training = {f.node for f in plan.roles.batch_loops}
    for call in sorted(plan.facts.backward, key=lambda c: (c.lineno, c.col_offset)):
        loss = backward_of(call) if plan.facts.calls[call].loops & training else None
        value = plan.facts.value(loss) if loss else ANYTHING
        if loss and spread(value) is Extent.SUM and moves_data_alone(plan.program, call):
            continue
        read = [*_carried(plan, loss, plan.facts.calls[call].loops & training)] if loss else []
        if loss and spread(value) is Extent.SUM and not value.of(ASSUMED):
            yield from wrap(plan.program, NAME, loss, f"({plan.world_size(call)} * ", ")", ("dist",))
        elif loss and spread(value) in (Extent.VARYING, Extent.SAMPLES, Extent.SUM):
            bank = next((n.id for n in read if plan.facts.value(n).varies and not plan.facts.value(n).objs), None)
            yield _unclear(plan, loss, bank)
        elif loss and (replayed := next((n.id for n in read if _is_list_of_samples(plan, n)), None)):
            yield _unclear(plan, loss, replayed)
    yield from _divided(plan)
    yield from _scaled(plan)
    yield from _averaged(plan)
    yield from _weighted(plan) if not plan.assumed.joined else ()
    yield from _hooked(plan)
    yield from _among_samples(plan)
    yield from _kept_in_buffers(plan)
    yield from _gradients_of_samples(plan)


def _carried(plan: Plan, loss: ast.expr, steps: Set[Loop]) -> Iterator[ast.Name]:
    """`bank`, of `bank[i] = z.detach()` or `bank = torch.cat((z, bank))`, of which the next loss is made."""
    carried = {n for loop in steps if isinstance(loop, ast.For | ast.While) for n in carried_reads(loop)}
    yield from (n for n in plan.bindings.made_of(loss) if isinstance(n, ast.Name) and n.id in carried)


def _is_list_of_samples(plan: Plan, read: ast.Name) -> bool:
    """`seen`, of `seen.append(x)`; not the last of them, which are those of the batch before."""
    around = plan.program.parents[read]
    last = isinstance(around, ast.Subscript) and plan.facts.value(around.slice).const == -1
    lists = plan.facts.value(read).of("list")
    held = contents(plan.facts, Value(lists), ITEMS)
    grows = not last and next(fillings(plan.facts, lists), None) is not None
    return grows and any(v.extent in (Extent.SAMPLES, Extent.VARYING) for v in held)


def _unclear(plan: Plan, loss: ast.expr, memory: str | None) -> Diagnostic:
    if memory is not None:
        return plan.program.diagnose(
            NAME, "warning", loss,
            sentence("'%1' has what this rank's samples have put into it, and not what those of the others have",
                     memory),
            why=sentence("each rank's loss compares with something else"),
            help=sentence("export with --exact, or let all ranks put everything into it"),
        )  # fmt: skip
    if (unread := plan.unread(loss)) is not None:
        return plan.program.diagnose(
            NAME, "error" if _draws_own_batches(plan) else "warning", loss,
            sentence("the code of '%1' is not read, and it is not clear whether this is a mean over the samples of a "
                     "batch", unread),
            why=sentence("DDP averages gradients over the ranks, which is right for a mean; and what is compared "
                         "there with other samples of its batch meets those of its rank only"),
            help=sentence("define it in a cell, export with --exact, or check the numbers with 'nbddp verify'"),
        )  # fmt: skip
    return plan.program.diagnose(
        NAME, "warning", loss,
        sentence("it is not clear whether this loss is a mean or a sum over the samples of a batch"),
        why=sentence("DDP averages gradients over the ranks, which is right for a mean over the batch but "
                     "too small for a sum"),
        help=sentence("compute it as a mean over the batch, or check the numbers with 'nbddp verify'"),
    )  # fmt: skip


def _scaled(plan: Plan) -> Iterator[Edit]:
    """`reconstruction_sum + kl_mean`: the mean over the ranks is right for the second, and for N times the first."""
    for node in sorted(plan.assumed.scaled, key=plan.program.span):
        bare = isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
        before, after = ("", "") if bare else ("(", ")")
        yield from wrap(plan.program, NAME, node, f"{plan.world_size(node)} * {before}", after, ("dist",))


def _divided(plan: Plan) -> Iterator[Edit]:
    """`(losses * mask).sum() / mask.sum()`: by the sum of all ranks it stays a sum."""
    for node in sorted(plan.assumed.summed, key=plan.program.span):
        text = over_ranks(plan, node, "sum_over_ranks")
        yield from wrap(plan.program, NAME, node, text.before, text.after, text.uses)


def _averaged(plan: Plan) -> Iterator[Edit]:
    """`mse.sqrt()`: the root of the whole mean."""
    for node in sorted(plan.assumed.averaged, key=plan.program.span):
        start, end = plan.program.span(node)
        brackets = (plan.program.text[start - 1 : start], plan.program.text[end : end + 1]) == ("(", ")")
        around = isinstance(plan.program.parents.get(node), ast.Attribute) and brackets
        first = Edit(NAME, start - 1, start - 1, plan.naming("mean_of_batch"), "open", ("mean_of_batch",))
        before, after = f"{plan.naming('mean_of_batch')}(", ")"
        yield from [first] if around else wrap(plan.program, NAME, node, before, after, ("mean_of_batch",))


def _weighted(plan: Plan) -> Iterator[Edit | Diagnostic]:
    """A mean by weights, or over selected samples: as that of all ranks where it can be written so."""
    found = sample_means(plan)
    level: Level = "warning" if plan.options.exact else "note"
    for call in found.weighted:
        yield plan.program.diagnose(
            NAME, level, call,
            sentence("this mean weights some samples more than others, so averaged over the ranks it differs a "
                     "little from the mean over the whole batch"),
            why=sentence("each rank divides by the total weight of its own samples only, and has no mean where none of "
                         "them counts"),
        )  # fmt: skip
    for call in padded_losses(plan):
        yield plan.program.diagnose(
            NAME, "note", call,
            sentence("this is a mean over places that are filled up too, so averaged over the ranks it is not the mean "
                     "over the whole batch"),
            why=sentence("each rank fills up to the longest of its own samples"),
            help=sentence("leave out what is filled up, as with ignore_index, or use --exact"),
        )  # fmt: skip
    for call in padded_inputs(plan):
        yield plan.program.diagnose(
            NAME, "note", call,
            sentence("the model is given sequences that are filled up to the longest of their batch, and those "
                     "of a rank may be shorter"),
            why=sentence("where what it gives for a sample depends on the places that are filled up, numbers differ a "
                         "little from those of one process"),
            help=sentence("tell the model where each sequence ends, as by pack_padded_sequence(), or use --exact"),
        )  # fmt: skip
    for call in found.picked:
        yield plan.program.diagnose(
            NAME, level, call,
            sentence("this is a mean over selected samples of the batch, and the ranks may have different "
                     "numbers of them"),
            why=sentence("averaged over the ranks it differs a little from the mean over the whole batch, and a "
                         "rank with none of them has no mean"),
        )  # fmt: skip
    for fact, mean in found.written.items():
        yield from over_samples(plan, fact, mean)
    yield from _mixed(plan, {fact.node for fact in found.written})


def _mixed(plan: Plan, written: set[ast.Call]) -> Iterator[Diagnostic]:
    """`loss = loss_of(x, y)`, which adds a mean over all samples up to one by weights: the parts count alike."""
    for split in plan.assumed.splits:
        for node in means_of(plan, split).born:
            inner = means_in(plan, node)
            if inner & written and inner - written:
                yield plan.program.diagnose(
                    NAME, "warning", node,
                    sentence("a function gives means over all samples and over some of them in one, and a rank's part "
                             "of the batch counts as much as a larger one"),
                    why=sentence("averaged over the ranks the result differs a little from that of the whole batch"),
                    help=sentence("compute the means in the step itself"),
                )  # fmt: skip


def _by_place(plan: Plan) -> list[CallFact]:
    return sorted(plan.facts.calls.values(), key=lambda c: (c.node.lineno, c.node.col_offset))


def _hooked(plan: Plan) -> Iterator[Diagnostic]:
    for fact in _by_place(plan):
        func = fact.node.func
        hooks = isinstance(func, ast.Attribute) and func.attr in HOOKS
        samples = isinstance(func, ast.Attribute) and spread(plan.facts.value(func.value)) is Extent.SAMPLES
        if hooks and (samples or any(o.kind in ("parameter", "model", "submodule") for o in fact.receivers)):
            yield plan.program.diagnose(
                NAME, "warning", fact.node,
                sentence("this hook sees the gradient of one rank's share of the batch, before the average over the "
                         "ranks"),
                why=sentence("anything that is not linear (clipping, noise, a norm) gives a different gradient than "
                             "on the whole batch"),
                help=sentence("change the gradients between backward() and step() instead"),
            )  # fmt: skip


def _draws_own_batches(plan: Plan) -> bool:
    """As the episodes of few-shot learning: of them no part will do, where samples are compared."""
    return not plan.options.exact and any(s.how == "own batches" for s in plan.sharding.shares.values())


def _among_samples(plan: Plan) -> Iterator[Diagnostic]:
    level: Level = "error" if _draws_own_batches(plan) else "warning"
    for node in among_samples(plan):
        of_its_batch = node in plan.facts.among_samples
        if node in plan.facts.out_of_proportion:
            yield plan.program.diagnose(
                NAME, level, node,
                sentence("what this backward() gives is not in proportion to the gradient that it is given, and that "
                         "of a sample is larger in a rank's share of the batch"),
                why=sentence("with N ranks the loss is the mean of N times fewer samples, and gradients are averaged "
                             "over the ranks only behind this"),
                help=sentence("export with --exact, or change the gradients between backward() and step() instead"),
            )  # fmt: skip
        elif of_its_batch and plan.facts.is_loss(node):
            yield plan.program.diagnose(
                NAME, level, node,
                sentence("what this loss is given for a sample depends on the other samples of its batch, and a rank "
                         "sees only its share of the batch"),
                why=sentence("with N ranks each sample meets N times fewer others, which changes the training"),
                help=sentence("compute what is given to the loss from each sample alone"),
            )  # fmt: skip
        elif of_its_batch and isinstance(node, ast.Subscript):
            yield plan.program.diagnose(
                NAME, level, node,
                sentence("samples are told apart by their place in the batch here, and a rank has only its share of "
                         "it"),
                why=sentence("with N ranks other samples stand there, which changes the training"),
                help=sentence("tell samples apart by what they are, or choose a batch size N times as large"),
            )  # fmt: skip
        elif of_its_batch:
            yield plan.program.diagnose(
                NAME, level, node,
                sentence("each sample is compared with a statistic of its batch here, and a rank sees only its "
                         "share of the batch"),
                why=sentence("with N ranks the statistic covers N times fewer samples, which changes the training"),
                help=sentence("compute the statistic within each sample, or once over the whole data before the "
                              "training, or choose a batch size N times as large"),
            )  # fmt: skip
        elif is_paired(plan, node) and plan.facts.is_loss(node):
            yield plan.program.diagnose(
                NAME, level, node,
                sentence("this loss is given two shapes that pair each sample of a batch with all others, and a rank "
                         "sees only its share of the batch"),
                why=sentence("with N ranks each sample meets N times fewer others, which changes the training"),
                help=sentence("give the loss two tensors of the same shape, by squeeze(1) or view_as(), unless all "
                              "pairs are meant"),
            )  # fmt: skip
        else:
            yield plan.program.diagnose(
                NAME, level, node,
                sentence("the samples of a batch are compared or mixed with each other here, and a rank sees only its "
                         "share of the batch"),
                why=sentence("with N ranks each sample meets N times fewer others, which changes the training"),
                help=sentence("choose a batch size N times as large, or export with --batch-per-rank"),
            )  # fmt: skip
    for node in perhaps_paired(plan) if plan.options.exact and plan.assumed.splits else ():
        yield plan.program.diagnose(
            NAME, "note", node,
            sentence("nothing shows that these have as many dimensions: unless they do, each sample meets all others "
                     "here, and a rank sees only its share of the batch"),
            help=sentence("bring them to the same shape, by view_as()"),
        )  # fmt: skip


def _kept_in_buffers(plan: Plan) -> Iterator[Diagnostic]:
    for statement in kept_of_shares(plan):
        if isinstance(statement, ast.Assign) and plan.facts.value(statement.value).of("parameter"):
            yield plan.program.diagnose(
                NAME, "error", statement,
                sentence("this parameter of the model is made anew from the rank's own part of the data, and the ranks "
                         "go on with unlike models"),
                why=sentence("DDP keeps those parameters alike that are there when it wraps the model"),
                help=sentence("keep it in a buffer, by register_buffer() and copy_(): DDP sends rank 0's to all ranks"),
            )  # fmt: skip
            continue
        yield plan.program.diagnose(
            NAME, "warning", statement,
            sentence("this buffer of the model is updated from the rank's own part of the data, and all ranks "
                     "continue with that of rank 0"),
            why=sentence("with N ranks the statistic covers N times fewer samples, which changes the training"),
            help=sentence("choose a batch size N times as large, and check the numbers with 'nbddp verify'"),
        )  # fmt: skip


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
