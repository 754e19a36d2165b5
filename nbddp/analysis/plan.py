"""The plan of an export: the reading of a notebook, and the decisions about it that several rules share."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from nbddp.analysis.agreement import (
    Decision,
    add_up,
    adds_up,
    divisors,
    find_decisions,
    loaders_by_sample,
    loops_by_sample,
    protecting,
    unlike_terms,
)
from nbddp.analysis.disk import Preparation, Writing, find_preparation, find_writing
from nbddp.analysis.loaders import Epochs, ShardedReading, find_epochs, shared_numbers, whole_numbers
from nbddp.analysis.models import Wrapping, device_name, find_wrapping, passes_left_out, uses_gpu
from nbddp.analysis.reading import (
    Naming,
    Taken,
    draws_to_keep,
    find_roles,
    interpret,
    naming_for,
    take_over,
    training_of,
)
from nbddp.analysis.slicing import Flow, Slice, backward_slice, build_flow, with_prints
from nbddp.analysis.splitting import (
    first_split,
    in_columns,
    is_unclear,
    samples_in,
    unclear_dim,
    unfit,
    unshared,
    with_masks,
    with_places,
    with_states,
    with_what_meets,
)
from nbddp.analysis.syntax import build_program, too_deep
from nbddp.analysis.training import choose_training_cell, first_causes, training_statements, with_line
from nbddp.analysis.values import Assumptions, Facts, Obj, Split
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

    unsplit: Sentence = NOTHING  # why the batches of a training without a loader stay whole
    unsaid: bool = False  # since it is not clear which dimension counts the samples: the user may say it

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
    """Read what the notebook means; raises CannotExport where nothing can be trained from it.

    `own_imports` are the names that the script imports for itself, and what they stand for.
    """
    return followed(notebook, lambda: _plan(notebook, options, own_imports or {}))


def followed(notebook: Notebook, work: Callable[[], T]) -> T:
    """With room for a notebook that is nested deeply, or a refusal."""
    try:
        with uncollected():
            return with_room(work)
    except TooDeep:
        raise CannotExport([too_deep(build_program(notebook))]) from None


def _plan(notebook: Notebook, options: Options, own_imports: Mapping[str, str]) -> Plan:
    plan = _with_draws(_read(notebook, options, own_imports), own_imports)
    if plan.framework is not None:
        return plan
    plan = _with_batches_split(plan)
    plan = replace(plan, naming=replace(plan.naming, device=device_name(plan)))
    plan = _with_whole_evaluations(plan)
    if shares := shared_numbers(plan):
        plan = _again(plan, replace(plan.assumed, whole_sizes=whole_numbers(plan), shares=shares))
    if own := protecting(plan):
        plan = _again(plan, replace(plan.assumed, own=own))
    plan = _with_divisors(_with_sums_scaled(plan))
    while not (tests := frozenset(d.test for d in plan.decisions)) <= plan.assumed.agreed:
        plan = _again(plan, replace(plan.assumed, agreed=plan.assumed.agreed | tests))
    return plan if options.snapshot else replace(plan, found=(*plan.found, *passes_left_out(plan)))


def _read(notebook: Notebook, options: Options, own_imports: Mapping[str, str]) -> Plan:
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
    found = with_prints(flow, found)
    facts, naming = _followed(flow, found, own_imports)
    return Plan(
        notebook=program.notebook,
        options=options,
        program=program,
        flow=flow,
        slice=found,
        training_cell=cell,
        trains=frozenset(s.index for s in training),
        facts=facts,
        roles=find_roles(program, facts),
        naming=naming,
        handed_over=taken.names,
        found=taken.notes,
    )


def _with_batches_split(plan: Plan) -> Plan:
    """Where no loader feeds a step: each rank takes its samples of a batch that all of them have drawn."""
    found = plan
    if plan.options.exact:
        found = _again(plan, replace(plan.assumed, alike=plan.roles.training_loaders))
    while calls := unshared(found):
        first = first_split(found, calls[0])
        if reason := unfit(found, first):
            return replace(plan, unsplit=reason)
        assert isinstance(first, Split)
        dim = samples_in(found, first)
        if not isinstance(dim, int):
            return replace(plan, unsplit=dim, unsaid=True)
        before, found = found, _completed(found, replace(first, dim=dim))
        if dim == 0 and in_columns(found):
            found = _completed(before, replace(first, dim=1))
        if reason := unclear_dim(found, found.assumed.splits[-1]):
            return replace(plan, unsplit=reason, unsaid=True)
        if reason := is_unclear(found, found.assumed.splits[-1]):
            return replace(plan, unsplit=reason)
        if calls[0] in unshared(found):
            return replace(plan, unsplit=sentence("it is not clear which loop trains on it"))
    return found


def _with_whole_evaluations(plan: Plan) -> Plan:
    """All ranks make equally many passes of a sharded model: no batches are dealt out, as their number may differ."""
    reason = sentence("the ranks must call a sharded model equally often")
    while plan.options.shard and (apart := plan.dealt - {*loops_by_sample(plan, plan.by_sample)}):
        plan = _again(plan, replace(plan.assumed, whole={**plan.assumed.whole, **dict.fromkeys(apart, reason)}))
    return plan


def _completed(plan: Plan, split: Split) -> Plan:
    """The split with what turns out to meet it."""
    others = plan.assumed.splits
    while True:
        plan = _again(plan, replace(plan.assumed, splits=(*others, split)))
        more = with_masks(plan, with_places(plan, with_states(plan, with_what_meets(plan, split))))
        if vars(more) == vars(split):
            return plan
        split = more


def _with_draws(plan: Plan, own_imports: Mapping[str, str]) -> Plan:
    """With what draws random numbers after a seed, so that what is drawn later is what the notebook draws."""

    def sliced(anyway: frozenset[int]) -> Slice:
        return backward_slice(plan.flow, training_of(plan.flow, plan.training_cell), anyway)

    anyway = frozenset[int]() if plan.options.snapshot or plan.framework else draws_to_keep(plan, sliced)
    if not anyway:
        return plan
    found = with_prints(plan.flow, sliced(anyway))
    facts, naming = _followed(plan.flow, found, own_imports)
    return replace(plan, slice=found, facts=facts, roles=find_roles(plan.program, facts), naming=naming)


def _followed(flow: Flow, found: Slice, own_imports: Mapping[str, str]) -> tuple[Facts, Naming]:
    kept = [flow.program.statements[i] for i in found.kept]
    nodes: list[ast.stmt] = [s.node for s in kept]
    return interpret(flow.program, flow.imports, kept), naming_for(flow.program, nodes, flow.imports, own_imports)


def _with_divisors(plan: Plan) -> Plan:
    """Where a loss is divided by a sum over a share: by that of all ranks, where that makes a sum of it."""
    found, sums = plan, frozenset[ast.expr]()
    while not adds_up(found) and (more := divisors(found) - sums):
        sums |= more
        found = _divided_by(plan, sums)
    if not sums or not adds_up(found):
        return plan
    for one in sorted(sums, key=plan.program.span):
        fewer = _divided_by(plan, found.assumed.summed - {one})
        found = fewer if adds_up(fewer) else found  # it is no loss that is divided by it
    return found


def _divided_by(plan: Plan, sums: frozenset[ast.expr]) -> Plan:
    return _with_sums_scaled(_again(plan, replace(plan.assumed, summed=sums)))


def _with_sums_scaled(plan: Plan) -> Plan:
    """Where a loss adds a sum to something else: as it is where that does not make a mean of it."""
    found = plan
    while not (terms := unlike_terms(found)) <= found.assumed.scaled:
        found = _again(found, replace(found.assumed, scaled=found.assumed.scaled | terms))
    return found if add_up(found) else plan


def _again(plan: Plan, assumed: Assumptions) -> Plan:
    """Follow the notebook once more, with what has been found about it."""
    facts = interpret(plan.program, plan.flow.imports, plan.kept, assumed)
    return replace(plan, assumed=assumed, facts=facts, roles=find_roles(plan.program, facts))


__all__ = ["CannotExport", "Plan", "followed", "make_plan"]
