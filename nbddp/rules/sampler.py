"""What it does
    Gives each training loader a `DistributedSampler`, so that each rank reads its own part of the data. Custom samplers
    and batch samplers are kept, and their output is split among the ranks; loaders that are created in another way are
    split after they are created.

Why DDP needs it
    Without it every rank trains on all of the data: N times the work for the result of one process.

Before
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)

After
    train_sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, batch_size=64 // world_size, sampler=train_sampler)

Declines
    A loader whose data each rank would have to load before it is known (`list(loader)`). What else cannot be dealt out
    is drawn by all ranks, which split its batches, or the model's work on each: `batch_size=None` where an
    `IterableDataset` draws random numbers, data chosen by the losses of a rank's own samples.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.loaders import (
    LoaderCall,
    Share,
    can_be_asked,
    dataset_name,
    end_of_parameters,
    is_endless,
    sizes,
    wants_a_name,
)
from nbddp.analysis.values import Obj
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, after, append_argument, before, replace, set_arguments, wrap
from nbddp.sentence import listed, sentence

NAME = "sampler"
HELP = sentence("create a torch.utils.data.DataLoader, or tag the cell that splits the data with 'ddp-setup'")


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for share in plan.sharding.shares.values():
        yield from _share(plan, share)
    for loop, loaders in plan.sharding.unclear.items():
        yield _unclear(plan, loop, loaders)
    yield from _lengths(plan)


def _share(plan: Plan, share: Share) -> Iterator[Edit | Diagnostic]:
    call = share.call
    if share.how == "split":
        return  # where it has been drawn
    if share.how == "unfit" or call is None:
        yield plan.program.diagnose(
            NAME, "error", share.obj.node,
            sentence("this loader cannot be split among the ranks: %1", share.reason),
            why=plan.assumed.unsplit or sentence("every rank would train on all of the data"),
            help=HELP,
        )  # fmt: skip
    elif share.how == "phase" and share.phase is not None:
        if share.obj.owner is not None and share.obj.owner.kind == "foreign":
            yield _taken_for_a_loader(plan, share.obj.node, share.obj.owner)
        place, part = share.phase.place, plan.naming("sharded")
        line = f"{place} = {part}({place}{_split(plan, call)})"
        yield after(plan.program, NAME, share.phase.statement, line, ("sharded",))
    elif share.how in ("built", "called"):
        node = call.node if share.how == "built" else share.obj.site
        assert node is not None
        yield from wrap(plan.program, NAME, node, f"{plan.naming('sharded')}(", f"{_split(plan, call)})", ("sharded",))
    elif share.how == "asked":
        yield from _asked(plan, share, call)
    elif share.how == "own batches" and plan.options.batch_per_rank:
        yield plan.program.diagnose(
            NAME, "error", call.arguments["batch_sampler"],
            sentence("with --batch-per-rank each rank needs its own batches, but a batch sampler draws the batches "
                     "of all ranks together"),
            help=sentence("export without --batch-per-rank"),
        )  # fmt: skip
    elif share.how == "own batches":
        yield from _around(plan, call, "batch_sampler", "ShardOfBatches")
        yield plan.program.diagnose(
            NAME, "note", call.arguments["batch_sampler"],
            sentence("each of these batches is split, and where it does not divide among the ranks, it is filled "
                     "up with repeated samples"),
            why=sentence("how many samples each of them has, only a run shows; no rank may get less than another"),
            help=sentence("--exact uses each sample once"),
        )  # fmt: skip
    elif share.how == "own sampler":
        yield from _around(plan, call, "sampler", "ShardOf", _drop_last(plan, call))
    else:
        yield from _distributed(plan, call)


def _asked(plan: Plan, share: Share, call: LoaderCall) -> Iterator[Edit]:
    """The function that builds it, for evaluations too, gets a parameter; the training's call sets it."""
    flag, part = plan.naming("shared"), plan.naming("sharded")
    function = can_be_asked(plan, share.obj, call)
    assert function is not None
    assert isinstance(share.obj.site, ast.Call)
    yield from set_arguments(plan.program, NAME, share.obj.site, {flag: "True"})
    alike = [s for s in plan.sharding.shares.values() if s.how == "asked" and s.obj.node is call.node]
    if share is not alike[0]:
        return
    last = end_of_parameters(function)
    at = (
        plan.program.text.index("(", plan.program.span(function)[0]) + 1 if last is None else plan.program.span(last)[1]
    )
    yield Edit(NAME, at, at, f"{', ' if last else ''}{flag}=False", "close")
    line = f"if {flag}:\n    {call.name} = {part}({call.name}{_split(plan, call)})"
    yield after(plan.program, NAME, call.statement, line, ("sharded",))


def _taken_for_a_loader(plan: Plan, node: ast.AST, made: Obj) -> Diagnostic:
    return plan.program.diagnose(
        NAME, "note", node,
        sentence("this comes from '%1', and nbddp splits it among the ranks as if it were a DataLoader", made.name),
        why=sentence("nbddp does not read its code; if it is something else, the script stops at once "
                     "with an error"),
    )  # fmt: skip


def _split(plan: Plan, call: LoaderCall) -> str:
    """An argument of `sharded` where the loader's batch size is a rank's share already."""
    size = next((s for s in sizes(plan) if s.call.obj == call.obj), None)
    shared = size is not None and size.fixes_shapes and size.changes_at_source
    return ", split=False" if shared or plan.options.batch_per_rank else ""


def _around(plan: Plan, call: LoaderCall, argument: str, part: str, options: str = "") -> Iterator[Edit]:
    node = call.arguments[argument]
    yield from wrap(plan.program, NAME, node, f"{plan.naming(part)}(", f"{options})", (part,))


def _distributed(plan: Plan, call: LoaderCall) -> Iterator[Edit]:
    """`shuffle=…` gives way to the sampler; a simple statement gets the sampler as a variable of its own."""
    reshuffled = call.obj in plan.epochs.reshuffled
    part = "Reshuffled" if reshuffled else "DistributedSampler"
    first, *others = _sampler_arguments(plan, call)
    sampler = f"{plan.naming(part)}({', '.join([first, *others])})"
    uses: tuple[str, ...] = (part, "sampler_seeds") if call.obj in plan.epochs.rebuilt else (part,)
    if is_endless(plan, call):
        node = call.node
        sampler, uses = f"range({plan.rank(node)}, len({first}), {plan.world_size(node)})", ("dist",)
    dataset = call.arguments["dataset"]
    if wants_a_name(dataset):
        line = f"{dataset_name(plan, call)} = {plan.program.source(dataset)}"
        if call.statement in plan.preparation.moved:
            first = plan.naming("first_on_rank_0")
            yield before(plan.program, NAME, call.statement, f"with {first}():\n    {line}", ("first_on_rank_0",))
        else:
            yield before(plan.program, NAME, call.statement, line)
        yield replace(plan.program, NAME, dataset, dataset_name(plan, call))
    if call.obj in plan.epochs.named:
        name = plan.epochs.named[call.obj]
        yield before(plan.program, NAME, call.statement, f"{name} = {sampler}", uses)
        sampler = name
    shuffle = call.keywords.get("shuffle") or (call.arguments["shuffle"] if len(call.node.args) > 2 else None)
    if (none := call.keywords.get("sampler")) is not None:  # `sampler=None`
        yield replace(plan.program, NAME, none, f"sampler={sampler}", uses)
        if shuffle is not None:
            yield replace(plan.program, NAME, shuffle, "shuffle=False" if isinstance(shuffle, ast.keyword) else "False")
    elif shuffle is not None:
        yield replace(plan.program, NAME, shuffle, f"sampler={sampler}", uses)
    else:
        yield append_argument(plan.program, NAME, call.node, f"sampler={sampler}", uses)


def _sampler_arguments(plan: Plan, call: LoaderCall) -> Iterator[str]:
    dataset = call.arguments["dataset"]
    yield dataset_name(plan, call) if wants_a_name(dataset) else plan.program.source(dataset)
    shuffle = call.arguments.get("shuffle")
    if shuffle is None or call.constant("shuffle") is False:
        yield "shuffle=False"
    elif call.constant("shuffle") is not True:
        yield f"shuffle={plan.program.source(shuffle)}"
    if drop := _drop_last(plan, call):
        yield drop.removeprefix(", ")
    if call.obj in plan.epochs.rebuilt:
        yield f"seed=next({plan.naming('sampler_seeds')})"
    elif call.obj in plan.epochs.seeds:
        yield f"seed={plan.epochs.seeds[call.obj]}"


def _drop_last(plan: Plan, call: LoaderCall) -> str:
    """As an argument of a sampler: what is left out of the batches is left out of the shares."""
    drop = call.arguments.get("drop_last")
    if drop is None or call.constant("drop_last") is False:
        return ""
    return f", drop_last={plan.program.source(drop)}"


def _unclear(plan: Plan, loop: ast.AST, loaders: frozenset[Obj]) -> Diagnostic:
    places = (plan.program.place(getattr(o.node, "lineno", 1)) for o in loaders)
    built = listed(sorted(sentence("line %1 of cell %2", line, cell.number) for cell, line in places))
    return plan.program.diagnose(
        NAME, "warning" if loop in plan.sharding.on_all else "error", loop,
        sentence("this loop runs over several loaders, and it is not clear on which it trains: %1", built),
        why=sentence("loaders for training are split among the ranks, and loaders for evaluation must not be"),
        help=sentence('compare a variable with a literal in the condition of backward(), as in `if phase == "train":`'),
    )  # fmt: skip


def _lengths(plan: Plan) -> Iterator[Edit | Diagnostic]:
    """`len(loader.sampler)` counted all samples; the sampler of a share counts the share."""
    for node in plan.nodes():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
            owners = {o.owner for o in plan.facts.value(node.args[0]).of("loader sampler") if o.owner}
            if owners & plan.sharding.loaders:
                yield _length(plan, node.args[0], owners)


def _length(plan: Plan, node: ast.expr, loaders: set[Obj]) -> Edit | Diagnostic:
    shares = plan.sharding.shares
    how = {shares[o].how if o in shares else "whole" for o in loaders}
    inner = {"sampler": "dataset", "own sampler": "whole"}.get(how.pop()) if len(how) == 1 else None
    if inner is None:
        return plan.program.diagnose(
            NAME, "error", node, sentence("the length of this sampler will cover only the rank's part of the data"),
            help=sentence("use the length of the dataset"),
        )  # fmt: skip
    return replace(plan.program, NAME, node, f"{plan.program.source(node)}.{inner}")
