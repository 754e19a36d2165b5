"""What it does
    Lets Lightning's Trainer train on the processes that the script starts, with its own DDP: devices, nodes and
    strategy are set, the batch size is that of all of them together, and it tells how far it is.

Why DDP needs it
    In a notebook the Trainer forks the kernel, or starts the notebook's file again, which is no program. In a script
    it joins the processes that are there; its own devices and strategy must then say the same as these.

Before
    trainer = L.Trainer(max_epochs=3)

After
    trainer = L.Trainer(max_epochs=3, devices=ranks_here(), strategy="ddp")
    trainer.callbacks.append(lightning_progress(LambdaCallback))

Declines
    Notebooks that train by hand. A Trainer whose arguments cannot be seen is refused, and so is `predict`, of which
    each process has only its share.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from nbddp.analysis.arguments import keywords_of, set_arguments
from nbddp.analysis.edit import Edit, after, wrap
from nbddp.analysis.frameworks import LIGHTNING
from nbddp.analysis.imports import qualified
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic
from nbddp.sentence import sentence

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
                    sentence("each process predicts its share only, and Lightning does not gather them"),
                    help=sentence("predict in a later cell, in the notebook, with the model that comes back"),
                )  # fmt: skip
        if isinstance(node, ast.ClassDef) and any(_is_stream(plan, base) for base in node.bases):
            yield plan.program.diagnose(
                NAME, "error", node,
                sentence("Lightning does not share out an IterableDataset: each process would train on all of it"),
                help=sentence("make it a Dataset with a length, or train it by hand"),
            )  # fmt: skip
        if isinstance(node, ast.FunctionDef) and node.name in PADDED:
            yield plan.program.diagnose(
                NAME, "note", node,
                sentence("Lightning fills up shares that come out uneven: it counts some samples twice"),
                why=sentence("of 21 samples on 2 processes it evaluates 22"),
            )  # fmt: skip


def _trainer(plan: Plan, call: ast.Call) -> Iterator[Edit | Diagnostic]:
    given = keywords_of(call)
    if None in given or call.args:
        yield plan.program.diagnose(
            NAME, "error", call, sentence("which devices and strategy the Trainer is given cannot be seen"),
            help=sentence("write its arguments by name, without **"),
        )  # fmt: skip
        return
    for name in ("use_distributed_sampler", "replace_sampler_ddp"):
        if name in given and _literal(given[name]) is not True:
            yield plan.program.diagnose(
                NAME, "error", given[name],
                sentence("without Lightning's sampler each process would train on all of the data"),
                help=sentence("take %1 out", name),
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
        line = f"{name}.callbacks.append({plan.naming('lightning_progress')}(LambdaCallback))"
        yield after(plan.program, NAME, statement, line, ("lightning_progress", _callback(plan, call)))


def _is_stream(plan: Plan, base: ast.expr) -> bool:
    return qualified(base, plan.flow.imports) == STREAM


def _callback(plan: Plan, call: ast.Call) -> str:
    """The import of the callback of the package that the notebook uses; there are two, which do not mix."""
    old = (qualified(call.func, plan.flow.imports) or "").startswith("pytorch_lightning")
    return f"from {'pytorch_lightning' if old else 'lightning.pytorch'}.callbacks import LambdaCallback"


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
                sentence("no cell builds the DataLoader that is trained on: its batch size counts for each process"),
                help=sentence("divide it by the number of processes, or the learning rate may not fit"),
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
