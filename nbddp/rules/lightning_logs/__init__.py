"""What it does
    Lets a LightningModule log the mean over all processes instead of the number of one process.

Why DDP needs it
    Each process evaluates its part of the data. Without this, Lightning logs the number of the first process, and uses
    it to stop early and to keep the best model.

Before
    self.log("train_loss", loss)

After
    self.log("train_loss", loss, sync_dist=True)

Declines
    Metrics of torchmetrics, which combine themselves, and calls that already set how to combine. If not all processes
    may reach the call, or the value may be on the CPU, the number is reported as covering only rank 0's part of the
    data; so is what steps store in the module and a method prints.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.library import LIGHTNING
from nbddp.analysis.slicing import all_arguments
from nbddp.analysis.syntax import keywords_of, qualified, walk
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, set_arguments
from nbddp.rules.lightning_logs.lightning_steps import shown_of_shares
from nbddp.sentence import sentence

NAME = "lightning-logs"
SAID = ("sync_dist", "rank_zero_only", "sync_dist_group", None)
OWN = re.compile(r"rank|zero")
MADE = ("cpu", "tensor", "as_tensor", "from_numpy", "Tensor", "FloatTensor")  # of what lies on the processor
PLAIN = ("item", "tolist", "numpy", "float", "int", "round", "len", "to", "cuda", "type_as")


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    use = plan.framework
    if use is None or use.framework is not LIGHTNING:
        return
    yield from _kept(plan)
    for node in plan.nodes():
        method = plan.program.function_of(node) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or not isinstance(method, ast.FunctionDef) or not _logs(plan, node, method):
            continue
        given = keywords_of(node)
        value = given.get("value") or given.get("dictionary") or (node.args[-1] if node.args else None)
        if value is None or given.keys() & set(SAID) or _is_metric(plan, value, method):
            continue
        if _all_come(plan, node, method) and not _on_processor(value, method):
            yield from set_arguments(plan.program, NAME, node, {"sync_dist": "True"})
        else:
            yield plan.program.diagnose(
                NAME, "note", node,
                sentence("'%1' covers only rank 0's part of the data: it is not "
                         "combined across ranks", plan.program.source(value)),
                help=sentence("log it with sync_dist=True, at a place that all processes reach, as a value on their "
                              "own device"),
            )  # fmt: skip


def _kept(plan: Plan) -> Iterator[Diagnostic]:
    modules = (n for n in plan.nodes() if isinstance(n, ast.ClassDef) and _is_module(plan, n, 8))
    for statement in (s for module in modules for s in shown_of_shares(plan, module)):
        yield plan.program.diagnose(
            NAME, "note", statement,
            sentence("the values kept here cover only rank 0's part of the data when they are shown"),
            help=sentence("log them with self.log(), or combine them with self.all_gather()"),
        )  # fmt: skip


def _logs(plan: Plan, call: ast.Call, method: ast.FunctionDef) -> bool:
    """`self.log(…)` in a method of a LightningModule."""
    func, around = call.func, plan.program.parents.get(method)
    if not (isinstance(func, ast.Attribute) and func.attr in ("log", "log_dict") and isinstance(around, ast.ClassDef)):
        return False
    own = [a.arg for a in all_arguments(method.args)[:1]]
    return isinstance(func.value, ast.Name) and [func.value.id] == own and _is_module(plan, around, 8)


def _is_module(plan: Plan, node: ast.ClassDef, depth: int) -> bool:
    if any((qualified(b, plan.flow.imports) or "").rpartition(".")[2] == "LightningModule" for b in node.bases):
        return True
    names = {b.id for b in node.bases if isinstance(b, ast.Name)}
    parents = [n for n in plan.nodes() if isinstance(n, ast.ClassDef) and n.name in names and n is not node]
    return depth > 0 and any(_is_module(plan, parent, depth - 1) for parent in parents)


def _is_metric(plan: Plan, value: ast.expr, method: ast.FunctionDef) -> bool:
    """`self.accuracy`, where the class makes that from torchmetrics."""
    around = plan.program.parents[method]
    made = [n for n in walk(around) if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)]
    names = [qualified(n.value.func, plan.flow.imports) or "" for n in made if _sets(n, value)]  # type: ignore[attr-defined]
    return isinstance(value, ast.Attribute) and any(n.startswith("torchmetrics.") for n in names)


def _sets(node: ast.Assign, value: ast.expr) -> bool:
    return ast.unparse(value) in [ast.unparse(t) for t in node.targets]


def _all_come(plan: Plan, call: ast.Call, method: ast.FunctionDef) -> bool:
    """Is nothing on the way to it decided by the batch, or by which process this is?"""
    above = [n for n in walk(method) if isinstance(n, ast.If) and n.lineno < call.lineno]
    tests = [n.test for n in above if n in plan.program.ancestors(call) or _leaves(n)]
    inside = [n for test in tests for n in walk(test)]
    names = {n.id for n in inside if isinstance(n, ast.Name)}
    texts = [n.attr for n in inside if isinstance(n, ast.Attribute)]
    local = {n.id for n in walk(method) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return not names & (local | _batch(method)) and not any(OWN.search(t) for t in texts)


def _batch(method: ast.FunctionDef) -> set[str]:
    return {a.arg for a in all_arguments(method.args)[1:2]} if method.name.endswith("_step") else set()


def _leaves(node: ast.If) -> bool:
    return any(isinstance(n, ast.Return) for n in walk(node))


def _on_processor(value: ast.expr, method: ast.FunctionDef) -> bool:
    """`acc = torch.tensor(accuracy_score(…))`: NCCL takes what lies on a GPU."""
    if isinstance(value, ast.Name):
        made = [n.value for n in walk(method) if isinstance(n, ast.Assign) and _sets(n, value)]
    else:
        made = [*value.values] if isinstance(value, ast.Dict) else [value]
    for node in made:
        last = node.func if isinstance(node, ast.Call) else None
        if last is not None and _word(last) in PLAIN:
            continue
        calls = [n for n in walk(node) if isinstance(n, ast.Call)]
        if any(_word(c.func) in MADE and "device" not in keywords_of(c) for c in calls):
            return True
    return False


def _word(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
