"""What it does
    Lets only rank 0 keep a log: the other ranks get a writer that does nothing, a disabled run or a silent tracker.

Why DDP needs it
    N processes that log to one run write every point N times, or overwrite each other's points.

Before
    writer = SummaryWriter()

After
    writer = SummaryWriter() if rank == 0 else Silent()

Declines
    Calls that fetch something from a tracker, which all ranks would need: they are refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.library import effect_of, makes
from nbddp.analysis.loaders import Binds
from nbddp.analysis.syntax import Statement, bindings
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, after, before, wrap
from nbddp.sentence import sentence

NAME = "track"
FETCHES = ("load", "download", "search", "get_run", "list_artifacts")


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for call in sorted(plan.facts.calls.values(), key=lambda c: (c.node.lineno, c.node.col_offset)):
        table = any(n.startswith("csv.") for n in call.names) and plan.preparation.covers(plan, call.node)
        if not table and any(o.node is call.node for o in plan.facts.value(call.node).of("writer")):
            yield from _kept_by_rank_0(plan, call.node)
        if any(makes(n) == "tracker" for n in call.names):
            yield from _disabled(plan, call.node)
        fetching = [n for n in call.names if effect_of(n).out == "kept" and n.rsplit(".", 1)[-1].startswith(FETCHES)]
        if fetching:
            yield plan.program.diagnose(
                NAME, "error", call.node,
                sentence("all ranks need what is fetched here, but only rank 0 is connected to the tracker"),
                help=sentence("download it before the training, and read it from the disk"),
            )  # fmt: skip
    yield from _silenced(plan)


def _kept_by_rank_0(plan: Plan, node: ast.Call) -> Iterator[Edit]:
    """A writer that does nothing on the others, unless only rank 0 comes there."""
    if any(a in plan.writing.guarded for a in plan.program.ancestors(node)):
        return
    start, end = ("(", ")") if isinstance(plan.program.parents.get(node), Binds) else ("", "")
    silent = f" if {plan.rank(node)} == 0 else {plan.naming('Silent')}(){end}"
    yield from wrap(plan.program, NAME, node, start, silent, ("Silent", "dist"))


def _disabled(plan: Plan, node: ast.Call) -> Iterator[Edit]:
    mode = next((k.value for k in node.keywords if k.arg == "mode"), None)
    if mode is not None:
        yield from wrap(plan.program, NAME, mode, "", f' if {plan.rank(node)} == 0 else "disabled"', ("dist",))
        return
    end = plan.program.span(node)[1] - 1
    given = plan.program.text[plan.program.span(node.func)[1] + 1 : end].rstrip()
    comma = "" if not given or given.endswith(",") else ", "
    yield Edit(NAME, end, end, f'{comma}mode="disabled" if {plan.rank(node)} else None', "close", ("dist",))


def _silenced(plan: Plan) -> Iterator[Edit]:
    """Names of whole modules: from their first use on they are silent on other ranks."""
    imports = [n for n in plan.nodes() if isinstance(n, ast.Import | ast.ImportFrom)]
    for node in imports:
        for name, target in bindings(node):
            if effect_of(target).out != "kept":
                continue
            line = f"{name} = {name} if {plan.rank(node)} == 0 else {plan.naming('Silent')}()"
            if plan.program.function_of(node) is not None:
                yield after(plan.program, NAME, node, line, ("Silent", "dist"))
            elif (first := _first_use(plan, name)) is not None:
                yield before(plan.program, NAME, first.node, line, ("Silent", f"binds {name}"))


def _first_use(plan: Plan, name: str) -> Statement | None:
    """The first statement that uses the name, also in the functions that it calls."""
    definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
    for statement in plan.kept:
        used = plan.flow.effects[statement.index].loads | plan.flow.when_called(statement.index)[0]
        if name in used and not isinstance(statement.node, definitions):
            return statement
    return None
