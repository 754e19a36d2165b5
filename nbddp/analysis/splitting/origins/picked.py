"""Tables from which each sample has its entry: they are none of the batch, whatever their length."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from nbddp.analysis.library import entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.syntax import is_name, walk

PICK = ("gather", "index_select")
DEPTH = 4  # of functions that hand it on


def picked_by(plan: Reading, call: ast.Call) -> ast.expr | None:
    """`torch.gather(table, 0, t)`, `table.index_select(0, t)`: an entry for each of the places, not of the table."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in PICK:
        return None
    match call.args[is_of_library(plan, call) :]:
        case [ast.Constant(value=0), places]:
            return places
    return None


def draws(plan: Reading, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and entry_of(node, plan.flow.imports).draws is not None


def picks_at_random(plan: Reading, call: ast.Call, given: Iterable[ast.expr], depth: int = DEPTH) -> bool:
    """`draw(X, 8)`, whose function reads `X[np.random.randint(0, len(X), 8)]`: other rows of X each time."""
    for read in (n for one in given for n in reads_of(plan, call, one)):
        match plan.program.parents[read]:
            case ast.Subscript(value=value, slice=index) if value is read:
                if any(draws(plan, n) for n in plan.bindings.made_of(index)):
                    return True
            case ast.Call() as inner if depth and picks_at_random(plan, inner, [read], depth - 1):
                return True
    return False


def is_table(plan: Reading, call: ast.Call, given: ast.expr) -> bool:
    """What a function of the notebook only picks entries from: `def of(table, t): return table.gather(0, t)`."""
    read = reads_of(plan, call, given)
    around = [plan.program.parents[n] for n in read]
    picking = [n for n in around if isinstance(n, ast.Call) and picked_by(plan, n) not in (None, *read)]
    about = [n for n in around if isinstance(n, ast.Attribute) and n.attr in ("device", "dtype", *PICK)]
    return bool(read) and len(picking) + len(about) == len(read)


def reads_of(plan: Reading, call: ast.Call, given: ast.expr) -> list[ast.Name]:
    """Where functions of the notebook read what a call gives them."""
    fact = plan.facts.calls.get(call)
    names = [(body, name) for body in (fact.bodies if fact else ()) for (scope, name), found in
             plan.bindings.names.items() if scope is body and any(one.value is given for one in found)]  # fmt: skip
    return [n for body, name in names for n in walk(body) if is_name(n, name) and isinstance(n.ctx, ast.Load)]


def is_of_library(plan: Reading, call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and bool(plan.facts.value(call.func.value).of("library"))
