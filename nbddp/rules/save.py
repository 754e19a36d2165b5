"""What it does
    Lets rank 0 alone write files and tell trackers; where a file is read back, the others wait until it is whole.

Why DDP needs it
    N processes that write one file at once leave it broken.

Before
    torch.save(model.state_dict(), "best.pt")

After
    if rank == 0:
        torch.save(model.state_dict(), "best.pt")

Declines
    A statement that also does something which all ranks must do together: it is refused by name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.edit import Edit, before, guard, wrap
from nbddp.analysis.files import loads, opens_to_write, writes
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic

NAME = "save"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    guarded: set[ast.stmt] = set()
    for node in plan.nodes():
        if not isinstance(node, ast.Call) or _is_prepared(plan, node):
            continue
        if opens_to_write(plan, node):
            yield from _opened(plan, node, guarded)
        elif writes(plan, node):
            yield from _written(plan, node, guarded)
    if guarded:
        yield from _waits(plan, guarded)


def _is_prepared(plan: Plan, node: ast.AST) -> bool:
    """Part of a statement that rank 0 runs first (rule `download`), or of a function that only such statements call."""
    if any(a in plan.prepared for a in plan.program.ancestors(node)):
        return True
    function = plan.program.function_of(node)
    if function is None:
        return False
    calls = [c.node for c in plan.facts.calls.values() if any(o.node is function for o in c.called)]
    return bool(calls) and all(_is_prepared(plan, c) for c in calls)


def _written(plan: Plan, call: ast.Call, guarded: set[ast.stmt]) -> Iterator[Edit | Diagnostic]:
    statement = plan.program.statement_of(call)
    if statement in guarded or any(a in guarded for a in plan.program.ancestors(statement)):
        return
    if isinstance(statement, ast.With):  # with mlflow.start_run(): the training
        yield from _manager(plan, statement, call)
    elif isinstance(statement, ast.Expr):
        yield from _guard(plan, statement, guarded)


def _manager(plan: Plan, statement: ast.With, call: ast.Call) -> Iterator[Edit]:
    item = next((i.context_expr for i in statement.items if i.context_expr is call), None)
    if item is not None:
        rank = plan.rank(statement)
        yield from wrap(plan.program, NAME, item, "", f" if {rank} == 0 else {plan.naming('nullcontext')}()",
                        ("nullcontext", "dist"))  # fmt: skip


def _guard(plan: Plan, statement: ast.stmt, guarded: set[ast.stmt]) -> Iterator[Edit | Diagnostic]:
    if (together := _together(plan, statement)) is not None:
        yield plan.program.diagnose(
            NAME, "error", together, "this is done by all ranks together, in a statement that only rank 0 may run",
            why="the other ranks would never come, and rank 0 would wait for ever",
            help="compute it in a statement of its own, before the one that writes",
        )  # fmt: skip
        return
    guarded.add(statement)
    yield from guard(plan.program, NAME, statement, f"{plan.rank(statement)} == 0", ("dist",))


def _together(plan: Plan, statement: ast.stmt) -> ast.AST | None:
    """Something inside that needs every rank: a loop over shares, a training step."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and node in plan.facts.calls:
            for obj in plan.facts.calls[node].called:
                loops = [plan.facts.loops[n] for n in ast.walk(obj.node) if isinstance(n, ast.For) and n in plan.facts.loops]
                if any(f.loaders for f in loops):
                    return node
    return None


def _opened(plan: Plan, call: ast.Call, guarded: set[ast.stmt]) -> Iterator[Edit | Diagnostic]:
    """`with open(…, "w")`: the block; `f = open(…, "w")`: other ranks write to nowhere."""
    statement = plan.program.statement_of(call)
    if isinstance(statement, ast.With) and _together(plan, statement) is None and not _trains(plan, statement):
        if statement not in guarded:
            guarded.add(statement)
            yield from guard(plan.program, NAME, statement, f"{plan.rank(statement)} == 0", ("dist",))
    elif call.args:
        other = f" if {plan.rank(call)} == 0 else {plan.naming('os')}.devnull"
        yield from wrap(plan.program, NAME, call.args[0], "", other, ("os", "dist"))


def _trains(plan: Plan, statement: ast.stmt) -> bool:
    return any(n in plan.facts.backward for n in ast.walk(statement) if isinstance(n, ast.Call))


def _waits(plan: Plan, guarded: set[ast.stmt]) -> Iterator[Edit]:
    """Ranks that read a file back wait until rank 0 has written it."""
    first = min(s.lineno for s in guarded)
    done: set[ast.stmt] = set()
    for node in plan.nodes():
        if not loads(plan, node) or node not in plan.facts.calls or plan.facts.calls[node].varying_control:  # type: ignore[index]
            continue
        statement = plan.program.statement_of(node)
        inside = any(a in guarded for a in plan.program.ancestors(node))
        in_function = plan.program.function_of(node) is not None
        if not inside and statement not in done and (statement.lineno > first or in_function):
            done.add(statement)
            yield before(plan.program, NAME, statement, f"{plan.naming('dist')}.barrier()", ("dist",))
