"""What it does
    Gives each training loader a `DistributedSampler`, so that each rank reads its own share of the data.
    Own samplers and batch samplers are shared out as they are; loaders that are built in another way are
    shared out after they were built.

Why DDP needs it
    Without it every rank trains on all of the data: N times the work for the result of one process.

Before
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)

After
    train_sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, batch_size=per_rank(64), sampler=train_sampler)

Declines
    An `IterableDataset`, which has no length and no index to share out; `batch_size=None`;
    a loader whose data each rank would have to load before it is known (`list(loader)`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.domain import Obj
from nbddp.analysis.edit import Edit, after, before, replace, wrap
from nbddp.analysis.loader_calls import LoaderCall, dataset_value, loader_call
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic

NAME = "sampler"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for obj in sorted(plan.sharding.loaders, key=lambda o: getattr(o.node, "lineno", 0)):
        yield from _share(plan, obj)
    for phase in plan.sharding.phases:
        place = f'{phase.name}["{phase.key}"]'
        part = plan.naming("sharded")
        yield after(plan.program, NAME, phase.statement, f"{place} = {part}({place})", ("sharded",))
    yield from _lengths(plan)


def _share(plan: Plan, obj: Obj) -> Iterator[Edit | Diagnostic]:
    call = loader_call(plan, obj)
    if call is None or obj in plan.facts.classes:
        node = obj.node
        yield plan.program.diagnose(
            NAME, "error", node, "this loader is of the notebook's own making and cannot be shared out",
            help="build a torch.utils.data.DataLoader, or tag the cell that shares the data with 'ddp-setup'",
        )  # fmt: skip
    elif dataset_value(plan, call).of("iterable dataset"):
        yield plan.program.diagnose(
            NAME, "error", call.node, "an IterableDataset has no index to share out among the ranks",
            why="every rank would train on all of the data",
            help="make it a map-style Dataset, or let it yield only items[rank::world_size] in a 'ddp-setup' cell",
        )  # fmt: skip
    elif not call.plain or len(call.node.args) > 2:
        part = plan.naming("sharded")
        yield from wrap(plan.program, NAME, call.node, f"{part}(", ")", ("sharded",))
    elif call.gives("batch_sampler"):
        yield from _around(plan, call, "batch_sampler", "ShardOfBatches")
    elif call.gives("sampler"):
        yield from _around(plan, call, "sampler", "ShardOf")
    else:
        yield from _distributed(plan, call)


def _around(plan: Plan, call: LoaderCall, argument: str, part: str) -> Iterator[Edit]:
    yield from wrap(plan.program, NAME, call.arguments[argument], f"{plan.naming(part)}(", ")", (part,))


def _distributed(plan: Plan, call: LoaderCall) -> Iterator[Edit]:
    """`shuffle=…` gives way to the sampler; a simple statement gets the sampler as a variable of its own."""
    reshuffled = call.obj in plan.epochs.reshuffled
    part = "Reshuffled" if reshuffled else "DistributedSampler"
    sampler = f"{plan.naming(part)}({', '.join(_sampler_arguments(plan, call))})"
    if call.name and not reshuffled and call.obj in plan.epochs.named:
        name = plan.epochs.named[call.obj]
        yield before(plan.program, NAME, call.statement, f"{name} = {sampler}", (part,))
        sampler = name
    shuffle = call.keywords.get("shuffle")
    if shuffle is not None:
        yield replace(plan.program, NAME, shuffle, f"sampler={sampler}", (part,))
    else:
        yield _append(plan, call.node, f"sampler={sampler}", part)


def _sampler_arguments(plan: Plan, call: LoaderCall) -> Iterator[str]:
    yield plan.program.source(call.arguments["dataset"])
    shuffle = call.arguments.get("shuffle")
    if shuffle is None or call.constant("shuffle") is False:
        yield "shuffle=False"
    elif call.constant("shuffle") is not True:
        yield f"shuffle={plan.program.source(shuffle)}"
    drop = call.arguments.get("drop_last")
    if drop is not None and call.constant("drop_last") is not False:
        yield f"drop_last={plan.program.source(drop)}"


def _append(plan: Plan, call: ast.Call, argument: str, part: str) -> Edit:
    """Behind the last argument, before a trailing comma or bracket."""
    last = max([*call.args, *(k.value for k in call.keywords)], key=lambda n: plan.program.span(n))
    end = plan.program.span(last)[1]
    return Edit(NAME, end, end, f", {argument}", "close", (part,))


def _lengths(plan: Plan) -> Iterator[Edit]:
    """`len(loader.sampler)` counted all samples; the sampler of a share counts the share."""
    for node in plan.nodes():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
            owners = {o.owner for o in plan.facts.value(node.args[0]).of("loader sampler")}
            if owners & plan.sharding.loaders:
                inner = "sampler" if any(_own_sampler(plan, o) for o in owners if o) else "dataset"
                yield replace(plan.program, NAME, node.args[0], f"{plan.program.source(node.args[0])}.{inner}")


def _own_sampler(plan: Plan, obj: Obj) -> bool:
    call = loader_call(plan, obj)
    return call is not None and call.gives("sampler")
