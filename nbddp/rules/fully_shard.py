"""What it does
    With `--shard`, splits each trained model among the ranks (FSDP2) in place of DDP, as soon as it is complete: first
    the blocks that its ModuleLists and Sequentials hold, then the rest. It is not moved to a device before, where it
    might not fit, and its optimizer is built after it.

Why DDP needs it
    With DDP each GPU holds the whole model, its gradients and the state of the optimizer. Of a sharded model it holds a
    part, and one block at a time while that computes.

Before
    model = Net().to(device)

After
    model = Net()
    shard(model)  # FSDP2: each process keeps a part of it

Declines
    Scripts that are exported without `--shard`. What cannot be done with a sharded model is refused (rule `sharded`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.models import Home, is_behind, is_move, is_part, only_moves, synchronises, trained
from nbddp.analysis.slicing import block_of
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Obj
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, after, has_comments, remove, stands_alone
from nbddp.sentence import sentence

NAME = "fully-shard"
ABOUT = "  # FSDP2: each process keeps a part of it"
LISTS = ("torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ModuleDict")


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    if not plan.options.shard:
        return
    done: set[tuple[ast.stmt, str]] = set()
    for model, home in plan.wrapping.homes.items():
        if (home.ready, home.name) not in done:
            done.add((home.ready, home.name))
            yield after(plan.program, NAME, home.ready, _sharded(plan, home, first=len(done) == 1), ("shard",))
        yield from _blocks(plan, model, home)
    yield from _moves(plan)
    yield from _optimizers(plan)


def _sharded(plan: Plan, home: Home, *, first: bool) -> str:
    sync = synchronises(plan)
    model = f"{plan.naming('sync_batchnorm')}({home.name})" if sync else home.name
    return f"{plan.naming('shard')}({model}){ABOUT if first else ''}"


def _blocks(plan: Plan, model: Obj, home: Home) -> Iterator[Diagnostic]:
    """Only of what the notebook itself has built it is known that there are none."""
    parts = {o for o in plan.facts.contained if model in plan.facts.roots(o)} | {model}
    read = model in plan.facts.classes and all(o in plan.facts.classes or o.name.startswith("torch.nn.") for o in parts)
    if read and not any(o.name.startswith((*LISTS, "torch.nn.Transformer")) for o in parts):
        yield plan.program.diagnose(
            NAME, "note", home.ready,
            sentence("'%1' has no blocks in a ModuleList or Sequential, so it is sharded as one piece", home.name),
            why=sentence("each process holds all of it while it computes: only the memory of gradients and of the "
                         "optimizer is split"),
            help=sentence("keep its layers in an nn.ModuleList or nn.Sequential"),
        )  # fmt: skip


def _moves(plan: Plan) -> Iterator[Edit]:
    """`shard` moves each block when it has been split; the whole model may not fit."""
    for call in plan.facts.calls.values():
        models = call.receivers & {o for o in call.receivers if o.kind == "model"}
        if not models or models != call.receivers or not is_move(call.node):
            continue
        if not all(is_part(plan, o) and o in trained(plan) for o in models):
            continue
        statement = plan.program.statement_of(call.node)
        if only_moves(statement) and not has_comments(plan.program, statement):
            yield remove(plan.program, NAME, statement)
        else:
            assert isinstance(call.node.func, ast.Attribute)
            yield Edit(NAME, plan.program.span(call.node.func.value)[1], plan.program.span(call.node)[1], "")


def _optimizers(plan: Plan) -> Iterator[Edit | Diagnostic]:
    """One that was built before would step parameters that the model no longer has."""
    pairs = [(o, plan.wrapping.homes.get(model.obj)) for model in plan.roles.models for o in model.optimizers]
    for optimizer, home in sorted(pairs, key=lambda pair: plan.program.span(pair[0].node)):
        if home is not None and not is_behind(plan, optimizer.node, home):
            statement = plan.program.statement_of(optimizer.node)
            if _can_move(plan, statement, home):
                yield remove(plan.program, NAME, statement)
                yield after(plan.program, NAME, home.ready, plan.program.source(statement))
            else:
                yield plan.program.diagnose(
                    NAME, "error", statement,
                    sentence("this optimizer is built before the model is complete, and cannot be moved"),
                    why=sentence("sharding replaces the parameters: the optimizer would never train them"),
                    help=sentence("build the optimizer after the last statement that changes the model"),
                )  # fmt: skip


def _can_move(plan: Plan, statement: ast.stmt, home: Home) -> bool:
    """Does nothing need it before the model is complete?"""
    block = block_of(plan.program.parents[statement], statement)
    if not isinstance(statement, ast.Assign) or not block or home.ready not in block:
        return False
    names = {n.id for n in walk(statement) if isinstance(n, ast.Name)}
    bound = {ast.unparse(t) for t in statement.targets}
    between = block[block.index(statement) + 1 : block.index(home.ready) + 1]
    for node in (n for s in between for n in walk(s)):
        if isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) in bound:
            return False
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in names - {home.name}:
            return False
    return not has_comments(plan.program, statement) and all(
        stands_alone(plan.program, s) for s in (statement, home.ready)
    )
