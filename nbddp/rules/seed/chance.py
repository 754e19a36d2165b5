"""What each process would get from the machine's clock and its source of chance: seeds, and names of files and runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.library import effect_of
from nbddp.analysis.syntax import qualified, walk
from nbddp.analysis.values import Extent, spread
from nbddp.edits import Edit, replace, wrap

FRESH = ("torch.seed", "torch.random.seed")
FOR_A_SAMPLE = ("__getitem__", "__getitems__", "__call__", "forward")  # of which each process has its own


def same_chance(plan: Plan, rule: str) -> Iterator[Edit]:
    """Streams without a seed get one that all ranks draw; what the clock says, and has to be alike, rank 0 says."""
    for node in plan.nodes():
        function = plan.program.function_of(node)
        if isinstance(node, ast.Call) and (function is None or function.name not in FOR_A_SAMPLE):
            yield from _seeded(plan, rule, node)
        elif isinstance(node, ast.Assign) and _names_something(plan, node.value):
            yield from _from_rank_0(plan, rule, node.value)


def _seeded(plan: Plan, rule: str, call: ast.Call) -> Iterator[Edit]:
    name = qualified(call.func, plan.flow.imports) or ""
    given = [*call.args, *(k.value for k in call.keywords)]
    seed = f"{plan.naming('same_seed')}()"
    plain = isinstance(call.func, ast.Attribute) and isinstance(plan.program.parents.get(call), ast.Expr)
    if name in FRESH and plain:
        function = plan.program.source(call.func).removesuffix("seed") + "manual_seed"
        yield replace(plan.program, rule, call, f"{function}({seed})", ("same_seed",))
    op = effect_of(name)
    if not op.seeds and not (op.generator and op.draws):
        return
    if all(isinstance(g, ast.Constant) and g.value is None for g in given):
        yield replace(plan.program, rule, call, f"{plan.program.source(call.func)}({seed})", ("same_seed",))
    for value in given:
        if spread(plan.facts.value(value)) is Extent.REPEATED:
            yield from _from_rank_0(plan, rule, value)


def _names_something(plan: Plan, node: ast.expr) -> bool:
    """`stamp = datetime.now().strftime("%H%M")`, `run = f"run_{time.time()}"`: other ranks would look elsewhere."""
    clocks = [n for n in walk(node) if isinstance(n, ast.Call) and effect_of(_name(plan, n)).clock]
    facts = [plan.facts.calls[n] for n in clocks if n in plan.facts.calls]
    if not facts or any(f.loops or f.varying_control for f in facts):
        return False
    words = [_name(plan, n).rpartition(".")[2] for n in walk(node) if isinstance(n, ast.Call)]
    text = any(isinstance(n, ast.JoinedStr) for n in walk(node))
    return text or any(w.startswith(TEXTS) for w in words)


TEXTS = ("str", "format", "isoformat", "ctime", "uuid", "token")  # what makes a text of it


def _name(plan: Plan, call: ast.Call) -> str:
    return qualified(call.func, plan.flow.imports) or (call.func.attr if isinstance(call.func, ast.Attribute) else "")


def _from_rank_0(plan: Plan, rule: str, node: ast.expr) -> Iterator[Edit]:
    if not plan.preparation.covers(plan, node):
        yield from wrap(plan.program, rule, node, f"{plan.naming('from_rank_0')}(", ")", ("from_rank_0",))
