"""What it does
    Splits the samples of an evaluation among the ranks, so that each is evaluated once: 21 samples count as 21. Where
    batches matter (means over batches, predictions in their order), the batches of one process are split instead.

Why DDP needs it
    If each rank evaluates all of the data, N processes do N times the work. A DistributedSampler would fill up the last
    batch and count some samples twice.

Before
    val_loader = DataLoader(val_set, batch_size=64)

After
    val_loader = DataLoader(val_set, batch_size=64, sampler=range(rank, len(val_set), world_size))

Declines
    A loop that may end early, calls `train()` or `eval()`, fetches batches one at a time, or leaves results that cannot
    be combined across ranks. Each rank then evaluates all of the data: slower, with the same numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.agreement import loops_by_sample
from nbddp.analysis.combining import splits_inside
from nbddp.analysis.loaders import (
    LoaderCall,
    dataset_name,
    handed_on,
    loader_call,
    stands_twice,
    wants_a_name,
)
from nbddp.analysis.models import synchronises
from nbddp.analysis.values import CallFact, Loop, LoopFact, Obj
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, append_argument, before, replace, wrap
from nbddp.sentence import sentence

NAME = "evaluation"
NEW_STATISTICS = "torch.optim.swa_utils.update_bn"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for obj in sorted(plan.by_sample, key=lambda o: plan.program.span(o.node)):
        yield from _by_sample(plan, obj)
    by_sample = set(loops_by_sample(plan, plan.by_sample))
    edited: set[ast.expr] = set()
    for fact in plan.roles.evaluation_loops:
        whole = plan.assumed.whole.get(fact.node)
        if fact.node in by_sample:
            continue
        if whole is None and isinstance(fact.node, ast.For | ast.AsyncFor):
            yield from _wrap(plan, fact, "share_of", edited)
            continue
        shared = bool(fact.loaders & plan.sharding.loaders)
        if shared and not fact.loader_nodes:
            yield _nameless(plan, fact)
        elif shared or any(_is_left_to_chance(plan, o) for o in fact.loaders):
            yield from _wrap(plan, fact, "all_of", edited)
        if whole is not None and not splits_inside(plan.program, plan.assumed, plan.facts, fact.node):
            yield plan.program.diagnose(
                NAME, "note", _place(plan, fact.node),
                sentence("this evaluation is not split, each rank evaluates all of the data: %1", whole),
                why=sentence("the numbers are right, but every rank does all of the work"),
            )  # fmt: skip
    yield from _unread(plan, edited)
    for loop, trained in plan.assumed.mixed.items():
        fact = plan.facts.loops[loop]
        if loop in plan.sharding.mixed and any(_is_left_to_chance(plan, o) for o in fact.loaders - trained):
            yield from _wrap(plan, fact, "share_or_all", edited)
    for place in sorted((_place(plan, n) for n in plan.sharding.mixed), key=lambda n: getattr(n, "lineno", 0)):
        yield plan.program.diagnose(
            NAME, "note", place,
            sentence("this loop both trains and evaluates, so each rank evaluates all of the data"),
            why=sentence("the numbers are right, but every rank does all of the work"),
            help=sentence("evaluate in a separate loop"),
        )  # fmt: skip


def _unread(plan: Plan, edited: set[ast.expr]) -> Iterator[Edit | Diagnostic]:
    """What other modules do with a training loader: `update_bn(loader, model)`."""
    for call in plan.facts.calls.values():
        for loader in _for_new_statistics(plan, call):
            part = plan.naming("part_of_each")
            yield from wrap(plan.program, NAME, loader, f"{part}(", ")", ("part_of_each",))
        for node in handed_on(plan, call):
            if node not in edited:
                edited.add(node)
                yield from wrap(plan.program, NAME, node, f"{plan.naming('all_of')}(", ")", ("all_of",))
                yield plan.program.diagnose(
                    NAME, "note", call.node,
                    sentence("this code is not read, so it gets all of the data on each rank"),
                    why=sentence("the numbers are right, but every rank does all of the work"),
                )  # fmt: skip


def _for_new_statistics(plan: Plan, call: CallFact) -> Iterator[ast.expr]:
    """`loader` of `update_bn(loader, swa)`: with `--exact` BatchNorm takes the samples of all ranks together."""
    if NEW_STATISTICS in call.names and plan.options.exact and synchronises(plan):
        given = [*call.node.args[:1], *(k.value for k in call.node.keywords if k.arg == "loader")]
        yield from (node for node in given if plan.facts.value(node).objs & plan.assumed.alike)


def _by_sample(plan: Plan, obj: Obj) -> Iterator[Edit]:
    """Where only sums are taken, a sampler deals out, and the loader stays what it is."""
    call = loader_call(plan, obj)
    assert call is not None
    dataset = call.arguments["dataset"]
    name = plan.program.source(dataset)
    if wants_a_name(dataset) and not stands_twice(dataset):
        name = dataset_name(plan, call)
        yield before(plan.program, NAME, call.statement, f"{name} = {plan.program.source(dataset)}")
        yield replace(plan.program, NAME, dataset, name)
    if plan.options.shard:
        yield from _even(plan, call, name)
    share = f"range({plan.rank(obj.node)}, len({name}), {plan.world_size(obj.node)})"
    if (shuffle := call.keywords.get("shuffle")) is not None:
        yield replace(plan.program, NAME, shuffle, f"sampler={share}", ("dist",))
    else:
        yield append_argument(plan.program, NAME, call.node, f"sampler={share}", ("dist",))


def _even(plan: Plan, call: LoaderCall, name: str) -> Iterator[Edit]:
    """Of a sharded model all ranks make equally many passes."""
    part, size = plan.naming("equally_often"), call.arguments.get("batch_size")
    if size is None:
        text = f"batch_size={part}(1, len({name}))"
        yield append_argument(plan.program, NAME, call.node, text, ("equally_often",))
    else:
        yield from wrap(plan.program, NAME, size, f"{part}(", f", len({name}))", ("equally_often",))


def _place(plan: Plan, loop: Loop) -> ast.AST:
    """A comprehension has no line of its own."""
    return plan.program.parents[loop] if isinstance(loop, ast.comprehension) else loop


def _nameless(plan: Plan, fact: LoopFact) -> Diagnostic:
    return plan.program.diagnose(
        NAME, "error", _place(plan, fact.node),
        sentence("this evaluation would read only one rank's part of the training data"),
        why=sentence("the loader is not stored in a variable here, so its split cannot be undone"),
        help=sentence("evaluate on a separate DataLoader, or loop over the DataLoader itself"),
    )  # fmt: skip


def _is_left_to_chance(plan: Plan, loader: Obj) -> bool:
    """Would the ranks draw its batches in different orders? For the numbers of one process all of them draw alike."""
    call = loader_call(plan, loader)
    if call is None or (plan.options.exact and (plan.assumed.splits or plan.assumed.joined)):
        return False
    shuffle = call.arguments.get("shuffle")
    ordered = shuffle is None or call.constant("shuffle") is False or _asks_for_training(plan, shuffle)
    return not ordered or call.gives("sampler") or call.gives("batch_sampler")


def _asks_for_training(plan: Plan, test: ast.expr) -> bool:
    """`shuffle=name == "train"`, where `if phase == "train":` holds the backward pass: that alone is shuffled."""
    asked = _equals(test)
    trained = (a for call in plan.facts.backward for a in plan.program.ancestors(call) if isinstance(a, ast.If))
    return asked is not None and any(_equals(a.test) == asked for a in trained)


def _equals(test: ast.expr) -> object:
    match test:
        case ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant(value=value)]):
            return value
    return None


def _wrap(plan: Plan, fact: LoopFact, part: str, edited: set[ast.expr]) -> Iterator[Edit]:
    for node in sorted(fact.loader_nodes - edited, key=lambda n: (n.lineno, n.col_offset)):
        edited.add(node)
        yield from wrap(plan.program, NAME, node, f"{plan.naming(part)}(", ")", (part,))
