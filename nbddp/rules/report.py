"""What it does
    Marks where a run can be watched: the loss after a step, the numbers of an epoch. It does not change the script:
    nbddp adds the reports to the script's syntax tree in memory when it runs it.

Why DDP needs it
    The training runs in separate processes; without these reports a notebook could show no progress.

Before
    optimizer.step()

After
    optimizer.step()

Declines
    Steps outside of the training loops.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.library import under
from nbddp.analysis.loaders import is_stream
from nbddp.analysis.slicing import effects
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import WHOLE, LoopFact, Reduction, backward_of, spread
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, mark
from nbddp.watch_points import Watch

NAME = "report"
NUMBERS = ("item", "mean", "sum", "std", "min", "max", "compute", "float", "int", "round", "abs", "len")
NUMERIC = ("sklearn.metrics", "statistics", "math", "numpy.mean", "numpy.sum", "numpy.average", "numpy.sqrt",
           "numpy.median", "numpy.std", "numpy.exp", "torch.mean", "torch.sum", "torch.exp", "torch.sqrt")  # fmt: skip


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for statement, watch in watched(plan):
        yield mark(plan.program, NAME, statement, watch)


def watched(plan: Plan) -> Iterator[tuple[ast.stmt, Watch]]:
    """The steps, and the loops over epochs, with the numbers of each; a cell that trains in the kernel asks as well."""
    for fact in plan.roles.batch_loops:
        if isinstance(fact.node, ast.For | ast.While):
            yield from _steps(plan, fact, fact.node)
    for fact in plan.roles.epoch_loops:
        if isinstance(fact.node, ast.For | ast.While):
            yield from _epoch(plan, fact.node)


def _steps(plan: Plan, fact: LoopFact, loop: ast.For | ast.While) -> Iterator[tuple[ast.stmt, Watch]]:
    """After the last of the optimizers' steps in the loop, where it is written."""
    steps = [c.node for c in plan.facts.calls.values() if c.optimizers and fact.node in c.loops]
    if not steps:
        return
    last = max(steps, key=lambda n: n.lineno)
    statement = plan.program.statement_of(last)
    if not isinstance(statement, ast.Expr | ast.Assign):
        return
    function = plan.program.function_of(last)
    statement = _for_each_batch(plan, fact, statement)
    here = function is plan.program.function_of(loop)
    batches, batch = (_batches(plan, fact), _batch(plan, loop)) if here else ("", ())
    losses = tuple((name, name) for name in _losses(plan, fact, function, statement))
    yield statement, Watch("step", values=losses, batches=batches, batch=batch)


def _for_each_batch(plan: Plan, fact: LoopFact, step: ast.stmt) -> ast.stmt:
    """The step; or a loop of the batch's own around it, which counts once; or the `if` in which some batches make one,
    where all of them run backward.
    """
    inner = [n for n in plan.program.ancestors(step) if isinstance(n, ast.For | ast.While) and _within(plan, n, fact)]
    if inner and not _runs_backward(plan, inner[-1]):
        return inner[-1]
    parent = plan.program.parents[step]
    if not isinstance(parent, ast.If) or plan.program.parents[parent] is not fact.node:
        return step
    outside = [c for c in plan.facts.backward if plan.program.parents[plan.program.statement_of(c)] is fact.node]
    return parent if outside else step


def _within(plan: Plan, loop: ast.For | ast.While, fact: LoopFact) -> bool:
    return fact.node in plan.program.ancestors(loop) and plan.program.function_of(loop) is plan.program.function_of(
        fact.node
    )


def _runs_backward(plan: Plan, loop: ast.stmt) -> bool:
    return any(loop in plan.facts.calls[call].loops for call in plan.facts.backward)


def _batches(plan: Plan, fact: LoopFact) -> str:
    nodes = [n for n in fact.loader_nodes if isinstance(n, ast.Name | ast.Attribute | ast.Subscript)]
    texts = {plan.program.source(n) for n in nodes}
    here = all(plan.program.function_of(n) is plan.program.function_of(fact.node) for n in nodes)
    streams = any(is_stream(plan, o) for n in nodes for o in plan.facts.value(n).of("loader"))
    known = here and len(texts) == 1 and not streams
    return f"len({texts.pop()})" if known else ""


def _batch(plan: Plan, loop: ast.For | ast.While) -> tuple[str, ...]:
    """Names of the rank's own samples, where they are sure to be there at the step: what the loop binds to what it
    takes; of a batch that all ranks take alike, each rank's part.
    """
    splits = [s for s in plan.assumed.splits if loop in plan.program.ancestors(s.at)]
    if splits:
        names = [name for s in splits if s.at in loop.body for name in s.names if name.isidentifier()]
    else:
        names = [n.id for n in walk(loop.target) if isinstance(n, ast.Name)] if isinstance(loop, ast.For) else []
    deleted = {n.id for s in loop.body for n in walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del)}
    return tuple(name for name in dict.fromkeys(names) if name not in deleted)


def _losses(plan: Plan, fact: LoopFact, function: ast.AST | None, before: ast.stmt) -> list[str]:
    names: list[str] = []
    for call in sorted(plan.facts.backward, key=lambda c: (c.lineno, c.col_offset)):
        sometimes = isinstance(before, ast.If) and before in plan.program.ancestors(call)
        if fact.node in plan.facts.calls[call].loops and plan.program.function_of(call) is function and not sometimes:
            receiver = backward_of(call)
            if isinstance(receiver, ast.Call) and getattr(receiver.func, "attr", "") == "scale" and receiver.args:
                receiver = receiver.args[0]  # scaler.scale(loss).backward()
            if isinstance(receiver, ast.BinOp) and isinstance(receiver.op, ast.Div):
                receiver = receiver.left  # (loss / accumulate).backward()
            if isinstance(receiver, ast.Name):
                names.append(receiver.id)
    return list(dict.fromkeys(names))


def _epoch(plan: Plan, loop: ast.For | ast.While) -> Iterator[tuple[ast.stmt, Watch]]:
    """What the loops inside have put together, by its names."""
    inner = {n for n in walk(loop) if isinstance(n, ast.For | ast.While)}
    function = plan.program.function_of(loop)
    names = [
        r.name
        for r in sorted(plan.facts.reductions.values(), key=lambda r: getattr(r.loop, "lineno", 0))
        if r.loop in inner
        and r.how in ("mean", "sum")
        and _is_one_number(plan, r)
        and not r.in_place
        and plan.program.function_of(r.loop) is function
    ]
    bound = effects(loop.body, plan.flow.imports).binds  # not what only some epochs come to
    sums = [n for n in names if n in _divided(loop, inner)]
    names = [n for n in dict.fromkeys([*names, *_assigned_numbers(plan, loop)]) if n in bound]
    values = [(name, name) for name in names]
    values += [(name, f"{name}[-1] if {name} else None") for name in _quotients_kept(plan, loop)]
    if values:
        yield loop, Watch("numbers", values=tuple(values), sums=tuple(n for n in sums if n in bound))


def _divided(loop: ast.For | ast.While, inner: set[ast.For | ast.While]) -> set[str]:
    """Names on both sides of a division: sums and counts, of which the quotient is what a person looks at."""
    body = [n for s in loop.body if s not in inner for n in walk(s)]
    divisions = [n for n in body if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div)]
    return {n.id for division in divisions for n in walk(division) if isinstance(n, ast.Name)}


def _quotients_kept(plan: Plan, loop: ast.For | ast.While) -> Iterator[str]:
    """Lists to which each epoch adds a quotient: `losses.append(total / len(loader))`."""
    for statement in loop.body:
        match statement:
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(name) as kept, "append"), [ast.BinOp(op=ast.Div())])):
                if plan.facts.value(kept).of("list"):
                    yield name


def _is_one_number(plan: Plan, reduction: Reduction) -> bool:
    places = [n for n in walk(reduction.loop) if isinstance(n, ast.Name) and n.id == reduction.name]
    return bool(places) and not any(plan.facts.value(n).of("list", "dict") for n in places)


def _assigned_numbers(plan: Plan, loop: ast.For | ast.While) -> list[str]:
    """Names that the epoch loop's own body sets from what it trained: `val_loss = evaluate(model, val_loader)`."""
    found = []
    for statement in loop.body:
        if not isinstance(statement, ast.Assign):
            continue
        for target in statement.targets:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            found += [p.id for p in parts if isinstance(p, ast.Name) and _is_number(plan, statement.value)]
    return found


def _is_number(plan: Plan, node: ast.expr) -> bool:
    """A quotient, or what comes of a function that computes numbers: no data, and no time."""
    value = plan.facts.value(node)
    if value.objs or spread(value) not in WHOLE:
        return False
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Div | ast.Mult)
    fact = plan.facts.calls.get(node) if isinstance(node, ast.Call) else None
    if fact is None:
        return False
    attr = fact.node.func.attr if isinstance(fact.node.func, ast.Attribute) else ""
    return bool(fact.bodies) or attr in NUMBERS or any(n in NUMBERS or under(n, NUMERIC) for n in fact.names)
