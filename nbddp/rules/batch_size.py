"""What it does
    Takes the notebook's batch size for that of all ranks together, and gives each rank its share. Where the same
    number also fixes shapes inside the training (hidden states, labels, noise), the variable itself becomes the share;
    where it counts steps or samples it stays what it was.

Why DDP needs it
    With the full batch on each rank N ranks train with N times the batch size: other numbers, and mostly worse ones.

Before
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)

After
    train_loader = DataLoader(train_set, batch_size=per_rank(64), sampler=train_sampler)

Declines
    A training that takes one sample at a time: there is nothing to share out. A variable that fixes shapes and is
    also used in a way that is not understood.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.batch_sizes import Read, reads_of
from nbddp.analysis.edit import Edit, before, replace, wrap
from nbddp.analysis.loader_calls import LoaderCall
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic

NAME = "batch-size"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    if plan.options.batch_per_rank:
        return
    calls = [s.call for s in plan.sharding.shares.values() if s.call and s.how in ("sampler", "own sampler")]
    shared: set[frozenset[ast.AST]] = set()
    for call in sorted(calls, key=lambda c: c.node.lineno):
        size = call.arguments.get("batch_size")
        if size is None or not call.gives("batch_size") or call.constant("batch_size") == 1:
            yield _one_at_a_time(plan, call)
            continue
        sources = plan.facts.value(size).sources
        if sources & plan.shares:
            if sources not in shared:
                shared.add(sources)
                yield from _share_variable(plan, sources, list(reads_of(plan, sources)))
        elif sources not in shared:
            yield from wrap(plan.program, NAME, size, f"{plan.naming('per_rank')}(", ")", ("per_rank",))


def _one_at_a_time(plan: Plan, call: LoaderCall) -> Diagnostic:
    return plan.program.diagnose(
        NAME, "error", call.node, "the training takes one sample at a time, so a batch cannot be split among ranks",
        why="several ranks would take several samples a step: another training",
        help="choose a batch size of at least the number of processes, or export with --batch-per-rank",
    )  # fmt: skip


def _share_variable(plan: Plan, sources: frozenset[ast.AST], reads: list[Read]) -> Iterator[Edit | Diagnostic]:
    """The number itself becomes the share; places that count all samples get it back."""
    unknown = [r for r in reads if r.use == "unknown"]
    if unknown:
        for read in unknown:
            yield plan.program.diagnose(
                NAME, "error", read.node,
                "the batch size also fixes shapes in the training, and it is not clear which of the two is meant here",
                why="shapes need this rank's share of the batch, counts of samples and steps the batch of all ranks",
                help="use two variables, or export with --batch-per-rank",
            )  # fmt: skip
        return
    for source in sources:
        yield from _at_source(plan, source)
    for read in reads:
        if read.use == "count":
            whole = f"{plan.program.source(read.node)} * {plan.naming('dist')}.get_world_size()"
            yield replace(plan.program, NAME, read.node, f"({whole})", ("dist",))


def _at_source(plan: Plan, source: ast.AST) -> Iterator[Edit]:
    statement = plan.top_level(source)
    part = plan.naming("per_rank")
    node = statement.node if statement else None
    if statement is not None and statement.cell.mark == "parameters" and isinstance(node, ast.Assign):
        name = plan.program.source(node.targets[0])
        first = next((s.node for s in plan.kept if s.index > statement.index and _runs(s.node)), None)
        if first is not None and isinstance(node.targets[0], ast.Name):
            yield before(plan.program, NAME, first, f"{name} = {part}({name})", ("per_rank", f"binds {name}"))
            return
    yield from wrap(plan.program, NAME, source, f"{part}(", ")", ("per_rank",))


def _runs(node: ast.stmt) -> bool:
    constant = isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    return not constant and not isinstance(
        node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
    )
