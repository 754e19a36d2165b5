"""What it does
    With `--shard`, refuses by name what cannot be done with a sharded model, so that no run hangs, and none computes
    with a part of a tensor for the whole.

Why DDP needs it
    A rank holds a part of each parameter, and every call of the model is an exchange in which all ranks take part. DDP
    leaves the whole model on each rank.

Before
    penalty = sum((p ** 2).sum() for p in model.parameters())

After
    error[sharded]: 'p' is read or changed where each rank has only a part of it

Declines
    Scripts that are exported without `--shard`; what asks for the shape, the device or the number of parameters.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.models import calls_sharded, is_part, is_sharded_at, kept_of_shares, trained
from nbddp.analysis.training import hook
from nbddp.analysis.values import CallFact, Extent, Obj, spread
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit
from nbddp.rules.sharded.calls import NAME, refused_calls
from nbddp.rules.sharded.parameters import read_parameters
from nbddp.sentence import NOTHING, Sentence, sentence

WORKS = frozenset("SGD Adam AdamW RMSprop Adagrad Adadelta Adamax NAdam RAdam ASGD Muon".split())


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    if not plan.options.shard:
        return
    reason = _impossible(plan)
    if reason is not NOTHING:
        yield Diagnostic(NAME, "error", reason, help=sentence("leave out --shard"))
        return
    yield from _of_its_kind(plan)
    done: set[tuple[object, ...]] = set()
    for refusal in (*read_parameters(plan), *refused_calls(plan), *_apart(plan)):
        place = refusal.cell, refusal.line, refusal.message
        yield from () if place in done else (refusal,)
        done.add(place)
    yield from _bare_forward(plan)


def _of_its_kind(plan: Plan) -> Iterator[Diagnostic]:
    """What the model or the optimizer is."""
    for obj, why in plan.wrapping.averaged.items():
        yield plan.program.diagnose(NAME, "error", obj.node, sentence("this model cannot be sharded: %1", why))
    for optimizer in sorted(plan.roles.optimizers, key=lambda o: plan.program.span(o.node)):
        if not _works(optimizer):
            yield plan.program.diagnose(
                NAME, "error", optimizer.node,
                sentence("'%1' may not work with sharded parameters", optimizer.name.rpartition(".")[2]),
                help=sentence("use an optimizer of torch that treats each number by itself, such as AdamW"),
            )  # fmt: skip
    for statement in kept_of_shares(plan):
        yield plan.program.diagnose(
            NAME, "error", statement,
            sentence("this buffer of a sharded model would become each rank's own"),
            why=sentence("FSDP2 leaves buffers to each rank, where DDP sends those of rank 0 in each step"),
        )  # fmt: skip


def _impossible(plan: Plan) -> Sentence:
    if plan.framework is not None:
        name = plan.framework.framework.name
        return sentence("--shard is for training loops: %1 shards models by options of its own", name)
    if plan.options.per_machine:
        return sentence("--shard and --per-machine exclude each other")
    if hook(plan.program, "wrap") is not None:
        return sentence("--shard cannot be used beside a cell that is marked '%1'", "ddp-wrap")
    if plan.wrapping.loose:
        return sentence("--shard needs a module: the optimizer also updates parameters that belong to none")
    if plan.facts.backward and not plan.roles.models:
        return sentence("--shard needs a module: what this notebook trains belongs to none")
    return NOTHING


def _works(optimizer: Obj) -> bool:
    return optimizer.name.startswith("torch.optim.") and optimizer.name.rpartition(".")[2] in WORKS


def _apart(plan: Plan) -> Iterator[Diagnostic]:
    """Calls that not all ranks make, or not equally often; those of its parts, too, inside of forward()."""
    for call in plan.facts.calls.values():
        runs = any(is_part(plan, o) for o in call.called if o.kind in ("model", "submodule"))
        by_chance = call.varying_control or (call.in_forward and _by_chance(plan, call))
        if by_chance and (runs or calls_sharded(plan, call)) and is_sharded_at(plan, call.node, plan.wrapping.homes):
            what = plan.program.source(call.node.func)
            yield plan.program.diagnose(
                NAME, "error", call.node,
                sentence("the ranks would not call '%1(…)' equally often, and would wait for each other", what),
                help=sentence("call a sharded model once for each batch, under no condition that depends on it"),
            )  # fmt: skip


def _by_chance(plan: Plan, call: CallFact) -> bool:
    """`if torch.rand(1) < 0.5: x = layer(x)`."""
    around = [a for a in plan.program.ancestors(call.node) if isinstance(a, ast.If | ast.IfExp | ast.While)]
    return any(spread(plan.facts.value(a.test)) is not Extent.UNIFORM for a in around)


def _bare_forward(plan: Plan) -> Iterator[Edit]:
    """`model.forward(x)` would compute with parts: it is the call that puts the parameters together."""
    for call in plan.facts.calls.values():
        func = call.node.func
        if isinstance(func, ast.Attribute) and func.attr == "forward" and not call.in_forward:
            if any(is_part(plan, o) and o in trained(plan) for o in plan.facts.value(func.value).objs):
                yield Edit(NAME, plan.program.span(func.value)[1], plan.program.span(func)[1], "")
