"""A training that runs in a module, where nobody reads it: `engine.train_one_epoch(model, optimizer, loader)`."""

from __future__ import annotations

import ast

from nbddp.analysis.library import is_class, makes
from nbddp.analysis.slicing import Flow
from nbddp.analysis.syntax import Program, qualified, walk
from nbddp.analysis.training.hook_cells import in_hook
from nbddp.analysis.values import is_foreign
from nbddp.diagnostics import Diagnostic
from nbddp.sentence import sentence

ALREADY = ("torch.nn.parallel.DistributedDataParallel", "torch.distributed.init_process_group",
           "torch.nn.DistributedDataParallel")  # fmt: skip


def trains_elsewhere(flow: Flow) -> Diagnostic | None:
    """A function of a module that is handed an optimizer, or what takes a step; classes may well be schedulers."""
    handed = _optimizers(flow) | _steps(flow)
    for node in flow.program.nodes:
        name = (qualified(node.func, flow.imports) or "") if isinstance(node, ast.Call) else ""
        if not isinstance(node, ast.Call) or not is_foreign(name) or is_class(name):
            continue
        given = {ast.unparse(a) for a in (*node.args, *(k.value for k in node.keywords))}
        if given & handed:
            return flow.program.diagnose(
                "training-cell", "error", node,
                sentence("the training runs in '%1', and nbddp does not read that module", name),
                help=sentence("put its file beside the notebook, with names that mean nothing else in the cells; or "
                              "move its loop into a cell: what the loop calls may stay in the module"),
            )  # fmt: skip
    return None


def sets_up_ddp(flow: Flow) -> Diagnostic | None:
    """The notebook's own `mp.spawn(train, ...)`: what trains is handed on, and called nowhere."""
    for node in flow.program.nodes:
        known = isinstance(node, ast.Call) and qualified(node.func, flow.imports) in ALREADY
        if isinstance(node, ast.Call) and known and not in_hook(flow.program, node):
            return already_ddp(flow.program, node)
    return None


def already_ddp(program: Program, node: ast.Call) -> Diagnostic:
    return program.diagnose(
        "already-ddp", "error", node, sentence("the notebook already sets up DistributedDataParallel itself"),
        help=sentence("remove the process group and DDP from the notebook, or run its code with torchrun"),
    )  # fmt: skip


def _optimizers(flow: Flow) -> set[str]:
    """What is assigned an optimizer, as it is written."""
    found = set()
    for node in flow.program.nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            if makes(qualified(node.value.func, flow.imports) or "") == "optimizer":
                found |= {ast.unparse(target) for target in node.targets}
    return found


def _steps(flow: Flow) -> set[str]:
    """Functions of the notebook that run a backward pass: `train(step, loader)` has the loop in the module."""
    functions = [n for n in flow.program.nodes if isinstance(n, ast.FunctionDef)]
    return {f.name for f in functions if any(_is_backward(part) for part in walk(f))}


def _is_backward(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward"
