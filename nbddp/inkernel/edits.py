"""What is put between the lines of a cell that trains in the kernel: the script's own words, but for those on ranks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from nbddp.analysis import Plan
from nbddp.analysis.loaders import SetEpoch, sampler_name, while_counter
from nbddp.analysis.models import find_home
from nbddp.analysis.reading import Model, Naming
from nbddp.edits import Edit, after, first_in, wrap
from nbddp.rules import report

RULE = "in-kernel"
NAME = "__nbddp__"  # by which the cell reaches what tells how far it is; gone when the cell has ended


@dataclass(frozen=True)
class _Prefixed(Naming):
    """Parts of a script are attributes of one thing here."""

    def __call__(self, name: str) -> str:
        return f"{NAME}.{name}"


def prefixed(plan: Plan) -> Naming:
    return _Prefixed(plan.naming.taken, plan.naming.imported, plan.naming.own)


def edits_for(plan: Plan, *, parallel: bool) -> list[Edit]:
    """Of the training cell, and of the functions that it calls; with `parallel` for nn.DataParallel."""
    models = list(_models(plan)) if parallel else []
    return [*_samplers(plan), *models, *_reports(plan), *_epochs(plan), *_epoch_numbers(plan)]


def _reports(plan: Plan) -> Iterator[Edit]:
    """What a run on processes has hung into its tree at these places."""
    for statement, watch in report.watched(plan):
        values = [f"{name}={text}" for name, text in watch.values]
        if isinstance(statement, ast.For | ast.While) and watch.kind == "numbers":
            if isinstance(statement.body[-1], ast.Continue | ast.Break | ast.Return | ast.Raise):
                continue
            yield after(plan.program, RULE, statement.body[-1], f"{NAME}.report_epoch({', '.join(values)})")
        else:
            given = [watch.batches or "None", f"({''.join(f'{name}, ' for name in watch.batch)})"]
            yield after(plan.program, RULE, statement, f"{NAME}.report_step({', '.join([*given, *values])})")


def _epochs(plan: Plan) -> Iterator[Edit]:
    for fact in plan.roles.epoch_loops:
        if isinstance(fact.node, ast.For):
            yield from wrap(plan.program, RULE, fact.node.iter, f"{NAME}.epochs(", ")")
        elif isinstance(fact.node, ast.While):
            yield from _counting(plan, fact.node)


def _counting(plan: Plan, loop: ast.While) -> Iterator[Edit]:
    counter = while_counter(plan.program, loop)
    if counter is not None and not loop.orelse:
        yield first_in(plan.program, RULE, loop, f"{NAME}.epoch_begins({counter.begun()})")
        yield after(plan.program, RULE, loop.body[-1], f"if {NAME}.epoch_done():\n    break")


def _epoch_numbers(plan: Plan) -> Iterator[Edit]:
    for found in plan.epochs.set_epoch:
        loader = _loader(plan, found)
        if loader is None:
            continue
        seed = f", {found.seed}" if found.seed else ""
        line = f"{NAME}.set_epoch({loader}, {found.number}{seed})"
        if isinstance(found.place, ast.For | ast.While):
            yield first_in(plan.program, RULE, found.place, line)
        else:
            yield after(plan.program, RULE, found.place, line)


def _loader(plan: Plan, found: SetEpoch) -> str | None:
    """The loader whose sampler is to know the number."""
    if found.sampler.endswith(".sampler"):
        return found.sampler.removesuffix(".sampler")
    calls = [s.call for s in plan.sharding.shares.values() if s.call is not None and s.call.name]
    return next((c.name for c in calls if sampler_name(plan, c) == found.sampler), None)


def _samplers(plan: Plan) -> Iterator[Edit]:
    """Where a loader is built that nobody tells the epoch's number."""
    for share in plan.sharding.shares.values():
        call = share.call
        if call is None:
            continue
        if share.how == "sampler" and share.obj in plan.epochs.reshuffled:
            part = "sharded" if share.obj in plan.epochs.rebuilt else "reshuffled"
            seed = f", {plan.epochs.seeds[share.obj]})" if share.obj in plan.epochs.seeds else ")"
            yield from wrap(plan.program, RULE, call.node, f"{NAME}.{part}(", seed)
        elif share.how == "phase" and share.phase is not None:
            yield after(plan.program, RULE, share.phase.statement, f"{NAME}.sharded({share.phase.place})")
        elif share.how == "built" or (share.how == "called" and share.obj.site is not None):
            node = call.node if share.how == "built" else share.obj.site
            assert node is not None
            yield from wrap(plan.program, RULE, node, f"{NAME}.sharded(", ")")


def _models(plan: Plan) -> Iterator[Edit]:
    """As soon as a model is complete that the cell itself builds."""
    for model in plan.roles.models:
        home = find_home(plan, model.obj)
        if home is not None:
            names = "".join(f", {name!r}" for name in trained_methods(plan, model))
            yield after(plan.program, RULE, home.ready, f"{NAME}.parallel({home.name}{names})")


def trained_methods(plan: Plan, model: Model) -> list[str]:
    """Methods of the model's own through which it is trained, past its forward."""
    facts = [plan.facts.calls[call] for call in model.bypasses]
    return sorted({name for fact in facts for name, owner in fact.methods if owner == model.obj})


__all__ = ["NAME", "edits_for", "prefixed", "trained_methods"]
