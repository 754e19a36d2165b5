"""What it does
    Puts this rank's device where the notebook chooses one, and takes fixed indices out of device names elsewhere:
    each process has made its own GPU the current one, so "cuda" means it.

Why DDP needs it
    With "cuda:0" on every rank all processes crowd the first GPU, and NCCL refuses to run.

Before
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")

After
    device = rank_device

Declines
    A device that is the CPU by the notebook's own words; strings that only look like a device.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from nbddp.analysis.edit import Edit, replace
from nbddp.analysis.imports import qualified
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic

NAME = "device"
INDEXED = re.compile(r"cuda:\d+$")


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    done: set[ast.AST] = set()
    for statement in plan.kept:
        node = statement.node
        if isinstance(node, ast.Assign) and _chooses(plan, node.value):
            done.update(ast.walk(node.value))
            # a string stays one: `torch.autocast(device)` takes no torch.device, and "cuda" means this rank's GPU
            kind = ".type" if _is_string(node.value) else ""
            yield replace(plan.program, NAME, node.value, plan.naming("rank_device") + kind, ("rank_device",))
    for inner in plan.nodes():
        if inner not in done:
            yield from _without_index(plan, inner)
            yield from _visible_devices(plan, inner)


def _chooses(plan: Plan, node: ast.expr) -> bool:
    """A device for training: `torch.device("cuda")`, `"cuda" if torch.cuda.is_available() else "cpu"` and the like."""
    if isinstance(node, ast.IfExp):
        return _names_gpu(plan, node.body) or _names_gpu(plan, node.orelse)
    return _names_gpu(plan, node)


def _names_gpu(plan: Plan, node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and bool(re.match(r"(cuda|mps)(:\d+)?$", node.value))
    if isinstance(node, ast.Call) and qualified(node.func, plan.flow.imports) == "torch.device" and node.args:
        return _chooses(plan, node.args[0])
    if isinstance(node, ast.IfExp):
        return _chooses(plan, node)
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(v, ast.Constant) and str(v.value).startswith("cuda") for v in node.values)
    return False


def _is_string(node: ast.expr) -> bool:
    parts = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]
    return all(isinstance(p, ast.Constant | ast.JoinedStr) or isinstance(p, ast.IfExp) and _is_string(p) for p in parts)


def _without_index(plan: Plan, node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and INDEXED.match(node.value):
        if not _is_prose(plan, node):
            quote = plan.program.source(node)[0]
            if quote in "\"'":
                yield replace(plan.program, NAME, node, f"{quote}cuda{quote}")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("cuda", "set_device"):
        if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, int):
            if node.func.attr == "cuda":
                yield replace(plan.program, NAME, node.args[0], "")
            else:
                yield replace(plan.program, NAME, node.args[0], "torch.cuda.current_device()")


def _is_prose(plan: Plan, node: ast.Constant) -> bool:
    """Part of what is printed."""
    parent = plan.program.parents.get(node)
    return isinstance(parent, ast.JoinedStr | ast.Expr) or (
        isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "print"
    )


def _visible_devices(plan: Plan, node: ast.AST) -> Iterator[Diagnostic]:
    if isinstance(node, ast.Constant) and node.value == "CUDA_VISIBLE_DEVICES":
        yield plan.program.diagnose(
            NAME, "warning", node, "the notebook limits the GPUs that can be seen, and with them the processes",
            help="take the line out, or choose the devices when you start the script",
        )  # fmt: skip

