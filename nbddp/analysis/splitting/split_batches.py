"""Which batches the ranks split that come from no loader, step by step: a run shows what the next one may assume."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.dimension import samples_in, with_masks, with_places, with_states
from nbddp.analysis.splitting.find import first_split, unshared
from nbddp.analysis.splitting.fit import (
    behind_steps,
    cut_by_size,
    drawn_elsewhere,
    drawn_unlike,
    given_whole,
    goes_on_in_models,
    in_columns,
    is_an_object,
    is_unclear,
    left_whole,
    longer_than_the_last,
    met_whole,
    nothing_cut,
    to_open,
    unclear_dim,
    unclear_loss,
    unfit,
    unjoined,
    with_what_meets,
)
from nbddp.analysis.splitting.means import means_of
from nbddp.analysis.splitting.regions import held, region_at, run_by
from nbddp.analysis.splitting.single_samples import made_one
from nbddp.analysis.values import Assumptions, Obj, Split
from nbddp.sentence import NOTHING, Sentence, sentence

UNNAMED = sentence("it is not seen which variables hold the batch that the model is given")


def split_batches(plan: Reading) -> Assumptions:
    """Where no loader feeds a step: each rank takes its samples of a batch that all of them have drawn."""
    assumed = plan.assumed
    if assumed.joined:
        if (more := _evaluated_whole(plan)) is not assumed or not unjoined(plan):
            return more
        opened = with_opened(plan)
        return opened if opened is not assumed else _whole(plan, assumed.joined)
    if assumed.unsplit:
        return assumed
    return _last(plan, *assumed.splits) or _next(plan)


def counted_evenly(plan: Reading) -> Assumptions:
    """Numbers of samples beside a mean that has been weighed: a rank counts as if it had an even share."""
    means = [means_of(plan, split) for split in plan.assumed.splits]
    even = frozenset(node for one in means for node in (*one.counts, *one.beside))
    if even - plan.assumed.even:
        return replace(plan.assumed, even=plan.assumed.even | even)
    unclear = plan.assumed.even and plan.assumed.even != even
    return joined(plan, sentence("it is not clear which numbers of samples are counted")) if unclear else plan.assumed


def losses_clear(plan: Reading) -> Assumptions:
    """Once it is known what is added up of the losses: no split where one of them is no mean and no sum."""
    unclear = (r for split in plan.assumed.splits if (r := unclear_loss(plan, split)))
    reason = next(unclear, NOTHING)
    if plan.assumed.splits and plan.options.exact:
        reason = reason or drawn_elsewhere(plan) or given_whole(plan) or behind_steps(plan)
    return joined(plan, reason) if reason else plan.assumed


def _last(plan: Reading, *splits: Split) -> Assumptions | None:
    """With what turns out to meet it, or its samples in the other dimension; nothing where it is as it should be."""
    if not splits:
        return None
    *others, split = splits
    turned = split.dim == 0 and in_columns(plan)
    more = replace(split, dim=1) if turned else with_what_meets(plan, split)
    more = more if turned else with_masks(plan, with_places(plan, with_states(plan, more)))
    if vars(more) != vars(split):
        return replace(plan.assumed, splits=(*others, more))
    if reason := unclear_dim(plan, split):
        return _whole(plan, reason, unsaid=True)
    reason = _why_not(plan, split)
    single = made_one(region_at(plan, split.at), split) is not None or goes_on_in_models(plan)  # no model splits these
    return (_whole if single else joined)(plan, reason) if reason else None


def _why_not(plan: Reading, split: Split) -> Sentence | None:
    return (
        nothing_cut(split)
        or _of_an_object(plan, split)
        or drawn_unlike(plan, split)
        or is_unclear(plan, split)
        or cut_by_size(plan, split)
        or met_whole(plan, split)
        or left_whole(plan, split)
        or longer_than_the_last(plan, split)
    )


def _of_an_object(plan: Reading, split: Split) -> Sentence | None:
    for node in (n for n in held(plan, split) if is_an_object(plan, n)):
        return sentence("'%1' is an object, which does not show what of it are samples", plan.program.source(node))
    return None


def _next(plan: Reading) -> Assumptions:
    """The first of a step that has none yet."""
    calls = unshared(plan)
    if not calls:
        return plan.assumed
    first = first_split(plan, calls[0])
    if reason := unfit(plan, first):
        return joined(plan, UNNAMED) if not first and plan.assumed.alike else _whole(plan, reason)
    assert isinstance(first, Split)
    if first.step in {s.step for s in plan.assumed.splits}:
        return joined(plan, sentence("it is not clear which loop trains on it"))
    dim = samples_in(plan, first)
    if not isinstance(dim, int):
        return _whole(plan, dim, unsaid=True)
    return replace(plan.assumed, splits=(*plan.assumed.splits, replace(first, dim=dim)))


def joined(plan: Reading, reason: Sentence) -> Assumptions:
    """Where the step cannot be split, its models alone: with --exact."""
    if not plan.options.exact or plan.options.shard or plan.assumed.joined:
        return _whole(plan, reason)
    return replace(_anew(plan.assumed), joined=reason)


def with_opened(plan: Reading) -> Assumptions:
    """The models that split whole batches compute with them: those inside of them split. As it was, without any."""
    more = to_open(plan)
    return replace(_anew(plan.assumed), opened=plan.assumed.opened | more) if more else plan.assumed


def _evaluated_whole(plan: Reading) -> Assumptions:
    """Models that compute with whole batches do so in evaluations too, of which each rank has all then."""
    dealt = [loop for loop in plan.dealt if not plan.facts.loops[loop].backward] if plan.assumed.opened else []
    reason = sentence("the model computes with all samples of a batch")
    more = dict.fromkeys((loop for loop in dealt if _runs(plan, loop, plan.assumed.opened)), reason)
    return replace(plan.assumed, whole={**plan.assumed.whole, **more}) if more else plan.assumed


def _runs(plan: Reading, loop: ast.AST, models: frozenset[Obj]) -> bool:
    calls = (plan.facts.calls.get(n) for n in run_by(plan, loop) if isinstance(n, ast.Call))
    return any(fact.called & models for fact in calls if fact is not None)


def _anew(assumed: Assumptions) -> Assumptions:
    """Without what has been decided for parts of a batch."""
    nothing = frozenset[ast.expr]()
    assumed = replace(assumed, splits=(), returned={}, summed=nothing, averaged=nothing)
    return replace(assumed, scaled=nothing, agreed=nothing, even=nothing)


def _whole(plan: Reading, reason: Sentence, *, unsaid: bool = False) -> Assumptions:
    return replace(plan.assumed, alike=frozenset(), splits=(), joined=NOTHING, unsplit=reason, unsaid=unsaid)
