"""What it does
    Lets Lightning's Trainer train on the processes that the script starts, with its own DDP: sets devices, nodes and
    strategy, and splits the batch size among the processes.

Why DDP needs it
    In a notebook the Trainer forks the kernel, or tries to start the notebook's file again, which is not a program. In
    a script it joins the existing processes, so its devices and strategy must agree with them.

Before
    trainer = L.Trainer(max_epochs=3)

After
    trainer = L.Trainer(max_epochs=3, devices=ranks_here(), strategy="ddp")

Declines
    Notebooks with their own training loop. A Trainer whose arguments nbddp cannot see is refused, and so is `predict`,
    of which each process has only its part.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.library import LIGHTNING
from nbddp.analysis.syntax import keywords_of, qualified
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, mark, set_arguments, wrap
from nbddp.sentence import sentence
from nbddp.watch_points import Watch

NAME = "lightning"
LOADER = "torch.utils.data.DataLoader"
OTHERS = re.compile(r"(auto|dp|ddp2|ddp)|ddp_(notebook|spawn|fork)(?P<rest>.*)")
DEVICES = ("gpu", "cuda", "mps", "dp", "ddp", "ddp2", "ddp_cpu", "ddp_spawn")  # the last are of old versions
OLD = ("gpus", "num_processes")
STREAM = "torch.utils.data.IterableDataset"
PADDED = ("validation_step", "test_step")


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    use = plan.framework
    if use is None or use.framework is not LIGHTNING:
        return
    for call in use.made:
        yield from _trainer(plan, call)
    yield from _batch_sizes(plan, use.trained)
    for node in plan.nodes():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "predict":
            if ast.unparse(node.func.value) in use.names:
                yield plan.program.diagnose(
                    NAME, "error", node,
                    sentence("each process predicts only its part of the data, and Lightning does not combine the "
                             "predictions"),
                    help=sentence("predict in a later cell of the notebook, with the trained model that comes back"),
                )  # fmt: skip
        if isinstance(node, ast.ClassDef) and any(_is_stream(plan, base) for base in node.bases):
            yield plan.program.diagnose(
                NAME, "error", node,
                sentence("Lightning does not split an IterableDataset: each process would train on all of it"),
                help=sentence("make it a Dataset with a length, or write the training loop yourself"),
            )  # fmt: skip
        if isinstance(node, ast.FunctionDef) and node.name in PADDED:
            yield plan.program.diagnose(
                NAME, "note", node,
                sentence("Lightning counts some samples twice where the data does not divide evenly among the "
                         "processes"),
                why=sentence("of 21 samples on 2 processes, for example, it evaluates 22"),
            )  # fmt: skip


def _trainer(plan: Plan, call: ast.Call) -> Iterator[Edit | Diagnostic]:
    given = keywords_of(call)
    if None in given or call.args:
        yield plan.program.diagnose(
            NAME, "error", call, sentence("nbddp cannot see which devices and strategy the Trainer gets"),
            help=sentence("write the arguments by name, without **"),
        )  # fmt: skip
        return
    for name in ("use_distributed_sampler", "replace_sampler_ddp"):
        if name in given and _literal(given[name]) is not True:
            yield plan.program.diagnose(
                NAME, "error", given[name],
                sentence("without Lightning's sampler each process would train on all of the data"),
                help=sentence("remove %1", name),
            )  # fmt: skip
    values = {"devices": f"{plan.naming('ranks_here')}()"}
    if "num_nodes" in given:
        values["num_nodes"] = f"{plan.naming('dist')}.get_world_size() // {values['devices']}"
    strategy = _strategy(given.get("strategy"))
    values |= {"strategy": strategy} if strategy else {}
    if "accelerator" in given and _literal(given["accelerator"]) in DEVICES:
        values["accelerator"] = '"auto"'
    yield from _in_place_of_old(plan, call, values)
    yield from set_arguments(plan.program, NAME, call, values, ("ranks_here", "dist"))
    statement = plan.program.statement_of(call)
    if isinstance(statement, ast.Assign) and statement.value is call:
        name = plan.program.source(statement.targets[0])
        yield mark(plan.program, NAME, statement, Watch("trainer", state=(("lightning", name),)))


def _is_stream(plan: Plan, base: ast.expr) -> bool:
    return qualified(base, plan.flow.imports) == STREAM


def _strategy(node: ast.expr | None) -> str | None:
    """DDP as it is in a script; None where the notebook chooses another strategy that works there too."""
    if node is None:
        return '"ddp"'
    match = OTHERS.fullmatch(str(_literal(node)))
    return f'"ddp{match["rest"] or ""}"' if match else None


def _literal(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _in_place_of_old(plan: Plan, call: ast.Call, values: dict[str, str]) -> Iterator[Edit]:
    """`gpus=2` becomes `devices`, which says it today; one that nothing new stands in for goes with its comma."""
    new = [name for name in values if name not in keywords_of(call)]
    for keyword in (k for k in call.keywords if k.arg in OLD):
        start, end = plan.program.span(keyword)
        if new:
            name = new.pop(0)
            yield Edit(NAME, start, end, f"{name}={values.pop(name)}", "text", ("ranks_here", "dist"))
            continue
        rest = plan.program.text[end : plan.program.span(call)[1] - 1]
        before = plan.program.text[plan.program.span(call)[0] : start]
        comma = re.match(r"\s*,[ \t]*", rest)
        if comma is None:
            start -= len(before) - len(before.rstrip().rstrip(","))
        yield Edit(NAME, start, end + (comma.end() if comma else 0), "")


def _batch_sizes(plan: Plan, fits: tuple[ast.Call, ...]) -> Iterator[Edit | Diagnostic]:
    if plan.options.batch_per_rank:
        return
    calls = [c for c in _loaders(plan) if _trains(plan, c, fits)]
    for call in calls:
        size = keywords_of(call).get("batch_size") or (call.args[1] if len(call.args) > 1 else None)
        if size is not None:
            yield from wrap(plan.program, NAME, size, f"{plan.naming('per_rank')}(", ")", ("per_rank",))
    if not calls:
        for fit in fits:
            yield plan.program.diagnose(
                NAME, "warning", fit,
                sentence("no cell creates the training DataLoader, so its batch size is that of each process, not "
                         "of all together"),
                help=sentence("divide it by the number of processes, or the learning rate may no longer fit"),
            )  # fmt: skip


def _loaders(plan: Plan) -> list[ast.Call]:
    calls = [n for n in plan.nodes() if isinstance(n, ast.Call)]
    return [c for c in calls if (qualified(c.func, plan.flow.imports) or "") == LOADER]


def _trains(plan: Plan, call: ast.Call, fits: tuple[ast.Call, ...]) -> bool:
    """Is it built by `train_dataloader`, or handed to `fit` as what to train on?"""
    function = plan.program.function_of(call)
    if function is not None and function.name == "train_dataloader":
        return True
    for fit in fits:
        given = keywords_of(fit)
        nodes = [given[n] for n in ("train_dataloaders", "train_dataloader") if n in given] + fit.args[1:2]
        if any(o.node is call for node in nodes for o in plan.facts.value(node).objs):
            return True
    return False
