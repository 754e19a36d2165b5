"""The plan of an export: the reading of a notebook, and the decisions about it that several rules share."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from nbddp.analysis.agreement import (
    Decision,
    among_samples,
    counting,
    find_decisions,
    loaders_by_sample,
    loops_by_sample,
    losses_scaled,
    perhaps_paired,
    protected,
    returned,
    sample_means,
)
from nbddp.analysis.disk import Preparation, Writing, find_preparation, find_writing
from nbddp.analysis.loaders import Epochs, ShardedReading, Share, find_epochs, sizes_shared
from nbddp.analysis.models import Wrapping, device_name, find_wrapping, passes_left_out, uses_gpu
from nbddp.analysis.reading import (
    FOUND,
    Taken,
    draws_to_keep,
    naming_for,
    settled,
    take_over,
    training_of,
)
from nbddp.analysis.slicing import Slice, backward_slice, build_flow, with_prints
from nbddp.analysis.splitting import (
    coin_loops,
    counted_evenly,
    drawing_loops,
    drawn_elsewhere,
    draws_by_share,
    joined,
    joins_means,
    losses_clear,
    split_batches,
    with_opened,
)
from nbddp.analysis.syntax import build_program, too_deep
from nbddp.analysis.training import choose_training_cell, first_causes, training_statements, with_line
from nbddp.analysis.values import Assumptions, Literal, Loop, Obj
from nbddp.deep_stack import TooDeep, with_room
from nbddp.diagnostics import CannotExport
from nbddp.notebook import Notebook
from nbddp.options import Options
from nbddp.sentence import NOTHING, Sentence, sentence
from nbddp.uncollected import uncollected

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Plan(ShardedReading):
    """Each decision is made once, when it is first asked for."""

    @cached_property
    def by_sample(self) -> frozenset[Obj]:
        """Evaluation loaders whose samples are dealt out by a sampler, rather than their batches."""
        return loaders_by_sample(self, self.preparation.first)

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        return find_decisions(self)

    @cached_property
    def epochs(self) -> Epochs:
        return find_epochs(self)

    @cached_property
    def wrapping(self) -> Wrapping:
        return find_wrapping(self)

    @cached_property
    def preparation(self) -> Preparation:
        return find_preparation(self)

    @cached_property
    def writing(self) -> Writing:
        return find_writing(self, self.preparation)

    @cached_property
    def uses_gpu(self) -> bool:
        return self.framework is not None or uses_gpu(self)


def make_plan(notebook: Notebook, options: Options, own_imports: Mapping[str, str] | None = None) -> Plan:
    """Read what the notebook means, and decide; raises CannotExport where nothing can be trained from it."""
    return planned(read(notebook, options), own_imports)


def read(notebook: Notebook, options: Options) -> Plan:
    """The notebook as it is, whatever the script will do; several plans may start from it."""
    return followed(notebook, lambda: settled(_read(notebook, options), FOUND))


def planned(
    first: Plan, own_imports: Mapping[str, str] | None = None, whole_batches: Sentence = NOTHING, *, apart: bool = False
) -> Plan:
    """`own_imports` are the names that the script imports for itself, and what they stand for; `whole_batches` is why
    only models may split them.
    """
    return followed(first.program.notebook, lambda: _plan(first, own_imports or {}, whole_batches, apart))


def followed(notebook: Notebook, work: Callable[[], T]) -> T:
    """With room for a notebook that is nested deeply, or a refusal."""
    try:
        with uncollected():
            return with_room(work)
    except TooDeep:
        raise CannotExport([too_deep(build_program(notebook))]) from None


def _plan(first: Plan, own_imports: Mapping[str, str], whole_batches: Sentence, apart: bool) -> Plan:
    plan = _with_draws(first)
    plan = plan.under(replace(plan.assumed, apart=True)) if apart else plan
    plan = plan.under(joined(plan, whole_batches)) if whole_batches else plan
    by_hand = plan.framework is None
    plan = settled(plan, (*FOUND, *DECIDED)) if by_hand else plan
    notes = passes_left_out(plan) if by_hand and not plan.options.snapshot else ()
    device = device_name(plan) if by_hand else None
    return replace(plan, naming=naming_for(plan, own_imports, device), found=(*plan.found, *notes))


def _read(notebook: Notebook, options: Options) -> Plan:
    """The notebook read for the first time: what the script will do is not known yet."""
    program = build_program(notebook)
    flow = build_flow(program)
    training = training_statements(flow)
    cell = choose_training_cell(flow, training, options)
    options = with_line(notebook, cell, options)
    found = backward_slice(flow, training_of(flow, cell))
    taken = Taken(flow, found)
    if options.snapshot:
        try:
            taken = take_over(flow, found, options.snapshot, cell)
        except CannotExport as refusal:
            raise CannotExport(first_causes(notebook, cell, refusal.diagnostics)) from None
        program, flow, found = taken.flow.program, taken.flow, taken.slice
        training = training_statements(flow)
    return Plan(
        notebook=program.notebook,
        options=options,
        program=program,
        flow=flow,
        slice=with_prints(flow, found),
        training_cell=cell,
        trains=frozenset(s.index for s in training),
        handed_over=taken.names,
        found=taken.notes,
    ).under(Assumptions())


def _with_draws(plan: Plan) -> Plan:
    """With what draws random numbers after a seed, so that what is drawn later is what the notebook draws."""

    def sliced(anyway: frozenset[int]) -> Slice:
        return backward_slice(plan.flow, training_of(plan.flow, plan.training_cell), anyway)

    anyway = frozenset[int]() if plan.options.snapshot or plan.framework else draws_to_keep(plan, sliced)
    more = replace(plan, slice=with_prints(plan.flow, sliced(anyway)))
    return settled(more.under(Assumptions()), FOUND) if anyway else plan


def _drawn_by_all(plan: Plan) -> Assumptions:
    """For the numbers of one process, or since a loader cannot be dealt out, each rank draws every batch."""
    decided = plan.assumed.alike or plan.assumed.splits or plan.assumed.unsplit
    apart = [share for share in plan.sharding.shares.values() if share.how == "unfit"]
    wanted = plan.options.exact or (apart and all(_gives_batches(plan, share) for share in apart)) or _shares_show(plan)
    if not wanted or decided or not plan.roles.training_loaders:
        return plan.assumed
    loops = [f for f in plan.roles.batch_loops if (f.loaders | f.next_of) & plan.roles.training_loaders]
    beside = frozenset(o for f in loops for o in f.loaders | f.next_of)  # evaluated by the same loop, split too
    left = {n: found for n, found in plan.assumed.mixed.items() if n not in {f.node for f in loops}}
    return replace(plan.assumed, alike=plan.roles.training_loaders | beside, mixed=left)


def _shares_show(plan: Plan) -> bool:
    """Would an evaluation get a rank's share of the training's loader, as no place names the loader to it?"""
    whole = (f for f in plan.roles.evaluation_loops if f.node in plan.assumed.whole and not f.loader_nodes)
    return any(f.loaders & plan.sharding.loaders for f in whole)


def _gives_batches(plan: Plan, share: Share) -> bool:
    """With `batch_size=None` it may give samples, one by one."""
    size = share.call.arguments.get("batch_size") if share.call else None
    return size is None or plan.facts.value(size).const is not Literal.NONE


def _whole_if_sharded(plan: Plan) -> Assumptions:
    """All ranks make equally many passes of a sharded model: no batches are dealt out, as their number may differ."""
    if not plan.options.shard or not (apart := plan.dealt - {*loops_by_sample(plan, plan.by_sample)}):
        return plan.assumed
    reason = sentence("the ranks must call a sharded model equally often")
    return replace(plan.assumed, whole={**plan.assumed.whole, **dict.fromkeys(apart, reason)})


def _whole_if_drawn(plan: Plan) -> Assumptions:
    """Where all ranks draw the batches, they draw as often: an evaluation that draws is made of all data on each.

    What Python and NumPy draw decides about any training.
    """
    alike = plan.assumed.splits or plan.assumed.joined
    drawn = drawing_loops(plan, plan.dealt) if alike else coin_loops(plan, plan.dealt)
    reason = sentence("all ranks must draw the same random numbers")
    more = {**plan.assumed.whole, **dict.fromkeys(drawn, reason)}
    return replace(plan.assumed, whole=more) if drawn else plan.assumed


def _compared_whole(plan: Plan) -> Assumptions:
    """For the numbers of one process, samples that meet others of their batch must meet all of them."""
    if not plan.assumed.splits:
        return plan.assumed
    first = next(among_samples(plan), None) if plan.options.exact else None
    if first is not None:
        return joined(plan, sentence("the samples of a batch meet each other in '%1'", plan.program.source(first)))
    steps = {loop for loop, found in plan.facts.loops.items() if found.backward}
    unclear = [call for call in plan.facts.given_unclear if plan.facts.calls[call].loops & steps]
    unclear = [call for call in unclear if plan.options.exact or not _is_drawn(plan, call, steps)]
    for call in sorted(unclear, key=plan.program.span)[:1]:
        what = plan.program.source(call)
        return joined(plan, sentence("'%1' is given what is not understood as the samples of a batch", what))
    return plan.assumed


def _is_drawn(plan: Plan, call: ast.Call, steps: Set[Loop]) -> bool:
    """Noise by the size of a share, in the step: each rank has its own, but for --exact."""
    made = {n for given in call.args for n in plan.bindings.made_of(given)}
    return any(draws_by_share(plan, f) for f in plan.facts.calls.values() if f.node in made and f.loops & steps)


def _met_in_models(plan: Plan) -> Assumptions:
    """Where models split whole batches: not those in which samples meet, or some count more than others.

    Nor those that draw noise for their samples from another stream than torch's: it would be drawn for a part alone.
    """
    if not plan.assumed.joined:
        return plan.assumed
    weighs = joins_means(plan) and any(vars(sample_means(plan)).values())
    meets = next(among_samples(plan), None) or next(perhaps_paired(plan), None)
    opens = weighs or meets is not None or bool(drawn_elsewhere(plan))
    return with_opened(plan) if opens else plan.assumed


def _agreed(plan: Plan) -> Assumptions:
    """Conditions that the ranks decide together."""
    known, tests = plan.assumed.agreed, frozenset(d.test for d in plan.decisions)
    return plan.assumed if tests <= known else replace(plan.assumed, agreed=known | tests)


# What the script will do.
DECIDED = (
    _drawn_by_all, split_batches, counted_evenly, _whole_if_sharded, _whole_if_drawn, sizes_shared, protected,
    losses_scaled, losses_clear, _compared_whole, _met_in_models, counting, returned, _agreed,
)  # fmt: skip


__all__ = ["CannotExport", "Plan", "followed", "make_plan", "planned", "read"]
