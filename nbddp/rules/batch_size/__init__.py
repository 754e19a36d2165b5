"""What it does
    Takes the notebook's batch size as the size for all ranks together, and gives each rank its share of the batch,
    rounded down. Where the same variable also sets shapes inside the training (hidden states, labels, noise), it
    becomes the size of the rank's share; where it counts steps or samples, it stays the same.

Why DDP needs it
    If each of N ranks used the full batch size, each step would use N times as many samples, which changes the
    training.

Before
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)

After
    train_loader = DataLoader(train_set, batch_size=64 // world_size, sampler=train_sampler)

Declines
    A training that uses one sample per step: there is no batch to split. A variable that sets shapes and is also used
    in a way that nbddp does not understand.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.library import effect_of, under
from nbddp.analysis.loaders import (
    LoaderCall,
    Size,
    around,
    goes_into_shapes,
    known_at_start,
    of_loader,
    sizes,
    use_of,
)
from nbddp.analysis.syntax import qualified
from nbddp.analysis.values import Extent, spread
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, after, before, replace, wrap
from nbddp.rules.batch_size.repeated_numbers import written_twice
from nbddp.sentence import sentence

NAME = "batch-size"
KNOWN = ("transformers", "wandb", "mlflow")
PROCESSES = 2  # of a script where there is no GPU


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    if plan.options.batch_per_rank:
        return
    shared: set[frozenset[ast.AST]] = set()
    rounded: set[ast.AST] = set()
    for size in sorted(sizes(plan), key=lambda s: (s.call.node.lineno, s.call.node.col_offset)):
        how = plan.sharding.shares[size.call.obj].how
        argued = how in ("sampler", "own sampler")
        if (argued and not size.call.gives("batch_size")) or (how != "own batches" and _is_one(plan, size)):
            yield _one_at_a_time(plan, size.call)
            continue
        if size.fixes_shapes and size.sources not in shared:
            shared |= {size.sources} if size.sources else set()
            yield from _shared(plan, size)
        if argued and size.node is not None and not (size.fixes_shapes and size.changes_at_source):
            yield from _per_rank(plan, size.node)
            if not known_at_start(plan, size):
                yield _told(plan, size)
        if not (size.fixes_shapes and size.changes_at_source) and any(r.use == "count" for r in size.reads):
            for source in size.sources - rounded:
                yield from _rounded(plan, size, source)
            rounded |= size.sources
        yield from (replace(plan.program, NAME, _size(plan, r.node), "-1") for r in size.reads if r.use == "rest")
        yield from _unseen(plan, size)
        yield from _dropped(plan, size) if size.evaluates_shares else ()
    yield from _written_twice(plan)
    yield from _uneven(plan)
    yield from _of_loaders(plan)


def _dropped(plan: Plan, size: Size) -> Iterator[Diagnostic]:
    """Of an evaluation whose batches are as large as a rank's share."""
    for fact in plan.calls("torch.utils.data.DataLoader"):
        asked, given = fact.args.get("drop_last"), fact.args.get("batch_size") or fact.args.get(1)
        alike = given is not None and given.sources & size.sources and fact.node is not size.call.node
        if alike and asked is not None and asked.const is True:
            yield plan.program.diagnose(
                NAME, "note", fact.node,
                sentence("the batches of this evaluation are smaller, and drop_last leaves out other samples of them"),
                why=sentence("the model is made for batches of a rank's share"),
                help=sentence("evaluate on all samples, without drop_last"),
            )  # fmt: skip


def _size(plan: Plan, node: ast.expr) -> ast.expr:
    """`batch_size // devices`."""
    around = plan.program.parents[node]
    return _size(plan, around) if isinstance(around, ast.BinOp) else node


def _per_rank(plan: Plan, node: ast.expr) -> Iterator[Edit]:
    opened, closed = around(plan, node)
    yield from wrap(plan.program, NAME, node, opened, closed, ("dist",))


def _told(plan: Plan, size: Size) -> Edit:
    """Of a number that is computed it is said where the loader is made what becomes of it."""
    assert size.node is not None
    text, ranks = plan.program.source(size.node), plan.world_size(size.node)
    opened, closed = around(plan, size.node)
    share = f"{opened}{text}{closed}"
    rest = f"{opened}{text}{closed.replace(' // ', ' % ')}"
    line = f'if {rest}:\n    print("batches of", {share} * {ranks}, "rather than", {text})'
    return before(plan.program, NAME, plan.program.statement_of(size.node), line, ("dist",))


def _rounded(plan: Plan, size: Size, source: ast.AST) -> Iterator[Edit | Diagnostic]:
    """What counts with the number counts batches of the size that they have, also where it does not divide."""
    statement = plan.top_level(source)
    node = statement.node if statement is not None else None
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    if statement is None or not isinstance(target, ast.Name) or getattr(node, "value", None) is not source:
        yield plan.program.diagnose(
            NAME, "note", size.call.node,
            sentence("code that computes with the batch size uses this number, but the batches are smaller if it is "
                     "not a multiple of the number of processes"),
            help=sentence("choose a multiple of the number of processes, or store the batch size in a separate "
                          "variable"),
        )  # fmt: skip
        return
    line = f"{target.id} -= {target.id} % {plan.naming('world_size')}  # as large as the processes' shares together"
    first = next((s.node for s in plan.kept if s.index > statement.index and _runs(s.node)), None)
    if statement.cell.mark == "parameters" and first is not None:
        yield before(plan.program, NAME, first, line, (f"binds {target.id}",))
    elif statement.cell.mark != "parameters":
        yield after(plan.program, NAME, statement.node, line)


def _uneven(plan: Plan) -> Iterator[Diagnostic]:
    """64 on 3 processes; an odd number on two, where nobody has said how many."""
    count = plan.options.nproc or PROCESSES
    for size in sizes(plan):
        number = size.value.const if size.value.const is not None else _parameter(plan, size)
        if isinstance(number, int) and number % count and (plan.options.nproc or number > count):
            share = number // count
            yield plan.program.diagnose(
                NAME, "note" if share else "error", size.call.node,
                sentence("a batch of %1 does not divide by %2 processes: batches have %3 samples, %4 on each",
                         number, count, share * count, share) if share else
                sentence("a batch of %1 is too small for %2 processes", number, count),
                help=sentence("choose a batch size that is a multiple of %1", count),
            )  # fmt: skip


def _parameter(plan: Plan, size: Size) -> object:
    """The one number that it is, through parameters."""
    values = {s.value for s in size.sources if isinstance(s, ast.Constant)}
    return values.pop() if len(values) == 1 else None


def _is_one(plan: Plan, size: Size) -> bool:
    """As it says, or for want of another size."""
    call = size.call
    given = {"batch_size", "batch_sampler", "sampler"} & call.arguments.keys()
    known = call.constant("batch_size") == 1 or _parameter(plan, size) == 1
    return known or (call.plain and call.obj not in plan.facts.classes and not given)


def _one_at_a_time(plan: Plan, call: LoaderCall) -> Diagnostic:
    return plan.program.diagnose(
        NAME, "error", call.node,
        sentence("the training uses one sample per step, so there is no batch to split among the ranks"),
        why=sentence("with N ranks each step would use N samples, which changes the training"),
        help=sentence("choose a batch size of at least the number of processes, or export with --batch-per-rank"),
    )  # fmt: skip


def _shared(plan: Plan, size: Size) -> Iterator[Edit | Diagnostic]:
    """The number becomes the share, or is made one wherever it fixes a shape."""
    rows = [r for r in size.reads if r.use in ("shape", "rest") and _counts_rows(plan, r.node)]
    unknown = [*(r for r in size.reads if r.use == "unknown"), *rows]
    for read in unknown:
        yield plan.program.diagnose(
            NAME, "error", read.node,
            sentence("the batch size also sets shapes in the training, and it is not clear which of the two is "
                     "meant here"),
            why=sentence("a shape must fit the rank's share of the batch, but counts of samples or steps refer to "
                         "the whole batch"),
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


def _counts_rows(plan: Plan, node: ast.expr) -> bool:
    """`torch.eye(10).repeat(1, 1, 10).view(batch_size, 10)`: of what is as large on any number of ranks."""
    call = next((a for a in plan.program.ancestors(node) if isinstance(a, ast.Call)), None)
    if call is None or not isinstance(call.func, ast.Attribute) or call.func.attr not in ("view", "reshape"):
        return False
    value = plan.facts.value(call.func.value)
    return spread(value) is Extent.UNIFORM and not value.objs


def _of_all(plan: Plan, node: ast.expr) -> Iterator[Edit]:
    whole = f"{plan.program.source(node)} * {plan.world_size(node)}"
    alone = isinstance(plan.program.parents[node], ast.Call | ast.keyword)
    yield replace(plan.program, NAME, node, whole if alone else f"({whole})", ("dist",))


def _loads_whole_batches(plan: Plan, size: Size, node: ast.expr) -> bool:
    """The argument of a loader that is not shared out, and whose batches fix no shapes either."""
    call = next(a for a in plan.program.ancestors(node) if isinstance(a, ast.Call))
    return not any(o.node is call for o in plan.sharding.loaders) and not size.evaluates_shares


def _at_source(plan: Plan, source: ast.AST) -> Iterator[Edit]:
    statement = plan.top_level(source)
    node = statement.node if statement else None
    if statement is not None and statement.cell.mark == "parameters" and isinstance(node, ast.Assign):
        name = plan.program.source(node.targets[0])
        first = next((s.node for s in plan.kept if s.index > statement.index and _runs(s.node)), None)
        if first is not None and isinstance(node.targets[0], ast.Name):
            yield before(plan.program, NAME, first, f"{name} //= {plan.naming('world_size')}", (f"binds {name}",))
            return
    assert isinstance(source, ast.expr)
    yield from _per_rank(plan, source)


def _runs(node: ast.stmt) -> bool:
    constant = isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    return not constant and not isinstance(
        node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
    )


def _written_twice(plan: Plan) -> Iterator[Edit | Diagnostic]:
    """`torch.randn(64, 100)`, `x.view(64, -1)` beside `batch_size=64`."""
    for found in written_twice(plan):
        if found.is_rest:
            yield replace(plan.program, NAME, found.number, "-1")
            continue
        if found.is_share:
            yield from _per_rank(plan, found.number)
            continue
        yield plan.program.diagnose(
            NAME, "error", found.call,
            sentence("%1 is also the batch size: does this create something for each batch?", found.number.value),
            why=sentence("each rank gets only its share of the batch, and what belongs to the batch must have the "
                         "size of that share"),
            help=sentence("store the batch size in a variable and use it here, or take the size from the batch: "
                          "x.size(0)"),
        )  # fmt: skip


def _unseen(plan: Plan, size: Size) -> Iterator[Diagnostic]:
    """The number is handed to code that is not in the notebook."""
    for read in size.reads if not size.fixes_shapes else ():
        call = next((a for a in plan.program.ancestors(read.node) if isinstance(a, ast.Call)), None)
        name = qualified(call.func, plan.flow.imports) if call is not None else None
        if read.use == "unknown" and name and not (effect_of(name).reads or under(name, KNOWN)):
            yield plan.program.diagnose(
                NAME, "warning", read.node, sentence("'%1' gets the batch size of all ranks together", name),
                why=sentence("if it creates tensors of that size, they will not fit the rank's share of the batch"),
                help=sentence("take sizes from the batch itself: x.size(0)"),
            )  # fmt: skip


def _of_loaders(plan: Plan) -> Iterator[Edit | Diagnostic]:
    """`loader.batch_size` is the share: right for shapes, wrong for counts."""
    for node in plan.nodes():
        if not isinstance(node, ast.Attribute) or not of_loader(plan, node) or isinstance(node.ctx, ast.Store):
            continue
        loaders = plan.facts.value(node.value).of("loader")
        use = use_of(plan, node)
        if use in ("shape", "rest", "batch", "shown") or (use == "passed" and goes_into_shapes(plan, node)):
            continue
        if loaders <= plan.sharding.loaders:
            yield from _of_all(plan, node)
        else:
            yield plan.program.diagnose(
                NAME, "error", node,
                sentence("this reads the batch size of a loader that is split among the ranks at one time and not "
                         "at another"),
                help=sentence("use the variable from which the loaders get their batch size"),
            )  # fmt: skip
