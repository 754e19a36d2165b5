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

from nbddp.analysis.batch_sizes import Size, goes_into_shapes, of_loader, sizes, use_of
from nbddp.analysis.edit import Edit, before, replace, wrap
from nbddp.analysis.imports import qualified
from nbddp.analysis.loader_calls import LoaderCall
from nbddp.analysis.plan import Plan
from nbddp.analysis.purity import PURE_MODULES, under
from nbddp.analysis.written_twice import written_twice
from nbddp.diagnostics import Diagnostic
from nbddp.sentence import sentence

NAME = "batch-size"
KNOWN = (*PURE_MODULES, "torchsummary", "torchinfo", "transformers", "wandb", "mlflow", "print")


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    if plan.options.batch_per_rank:
        return
    shared: set[frozenset[ast.AST]] = set()
    for size in sorted(sizes(plan), key=lambda s: (s.call.node.lineno, s.call.node.col_offset)):
        argued = plan.sharding.shares[size.call.obj].how in ("sampler", "own sampler")
        if argued and (size.node is None or not size.call.gives("batch_size") or size.call.constant("batch_size") == 1):
            yield _one_at_a_time(plan, size.call)
            continue
        if size.fixes_shapes and size.sources not in shared:
            shared |= {size.sources} if size.sources else set()
            yield from _shared(plan, size)
        if argued and size.node is not None and not (size.fixes_shapes and size.changes_at_source):
            yield from _per_rank(plan, size.node)
        yield from _unseen(plan, size)
    yield from _written_twice(plan)
    yield from _of_loaders(plan)


def _per_rank(plan: Plan, node: ast.expr) -> Iterator[Edit]:
    yield from wrap(plan.program, NAME, node, f"{plan.naming('per_rank')}(", ")", ("per_rank",))


def _one_at_a_time(plan: Plan, call: LoaderCall) -> Diagnostic:
    return plan.program.diagnose(
        NAME, "error", call.node,
        sentence("the training takes one sample at a time, so a batch cannot be split among ranks"),
        why=sentence("several ranks would take several samples a step: another training"),
        help=sentence("choose a batch size of at least the number of processes, or export with --batch-per-rank"),
    )  # fmt: skip


def _shared(plan: Plan, size: Size) -> Iterator[Edit | Diagnostic]:
    """The number becomes the share, or is made one wherever it fixes a shape."""
    unknown = [r for r in size.reads if r.use == "unknown"]
    for read in unknown:
        yield plan.program.diagnose(
            NAME, "error", read.node,
            sentence("the batch size also fixes shapes in the training, and it is not clear which of the two is meant "
                     "here"),
            why=sentence("shapes need this rank's share of the batch, counts of samples and steps the batch of all "
                         "ranks"),
            help=sentence("use two variables, or export with --batch-per-rank"),
        )  # fmt: skip
    if unknown:
        return
    if not size.changes_at_source:
        for read in size.reads:
            if size.is_share(read):
                yield from _per_rank(plan, read.node)
        return
    for source in size.sources:
        yield from _at_source(plan, source)
    for read in size.reads:
        if read.use == "count" or (read.use == "loader" and _loads_whole_batches(plan, size, read.node)):
            yield from _of_all(plan, read.node)


def _of_all(plan: Plan, node: ast.expr) -> Iterator[Edit]:
    whole = f"{plan.program.source(node)} * {plan.naming('dist')}.get_world_size()"
    yield replace(plan.program, NAME, node, f"({whole})", ("dist",))


def _loads_whole_batches(plan: Plan, size: Size, node: ast.expr) -> bool:
    """The argument of a loader that is not shared out, and whose batches fix no shapes either."""
    call = next(a for a in plan.program.ancestors(node) if isinstance(a, ast.Call))
    return not any(o.node is call for o in plan.sharding.loaders) and not size.evaluates_shares


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


def _written_twice(plan: Plan) -> Iterator[Edit | Diagnostic]:
    """`torch.randn(64, 100)`, `x.view(64, -1)` beside `batch_size=64`."""
    for found in written_twice(plan):
        if found.is_share:
            yield from _per_rank(plan, found.number)
            continue
        yield plan.program.diagnose(
            NAME, "error", found.call,
            sentence("%1 is the batch size too: does this make something for each batch?", found.number.value),
            why=sentence("a rank has a share of the batch, and needs a share of what belongs to it"),
            help=sentence("give the batch size a name and use it here, or take the size from the batch: x.size(0)"),
        )  # fmt: skip


def _unseen(plan: Plan, size: Size) -> Iterator[Diagnostic]:
    """The number is handed to code that is not in the notebook."""
    for read in size.reads if not size.fixes_shapes else ():
        call = next((a for a in plan.program.ancestors(read.node) if isinstance(a, ast.Call)), None)
        name = qualified(call.func, plan.flow.imports) if call is not None else None
        if read.use == "unknown" and name and not under(name, KNOWN):
            yield plan.program.diagnose(
                NAME, "warning", read.node, sentence("'%1' is given the batch size of all ranks", name),
                why=sentence("if it makes tensors of that size, they will not fit the share of a rank"),
                help=sentence("take sizes from the batch itself: x.size(0)"),
            )  # fmt: skip


def _of_loaders(plan: Plan) -> Iterator[Edit | Diagnostic]:
    """`loader.batch_size` is the share: right for shapes, wrong for counts."""
    for node in plan.nodes():
        if not isinstance(node, ast.Attribute) or not of_loader(plan, node) or isinstance(node.ctx, ast.Store):
            continue
        loaders = plan.facts.value(node.value).of("loader")
        use = use_of(plan, node)
        if use in ("shape", "batch", "shown") or (use == "passed" and goes_into_shapes(plan, node)):
            continue
        if loaders <= plan.sharding.loaders:
            yield from _of_all(plan, node)
        else:
            yield plan.program.diagnose(
                NAME, "error", node,
                sentence("the batch size of a loader that is shared out in one turn, and whole in another"),
                help=sentence("use the variable that the loaders are built with"),
            )  # fmt: skip
