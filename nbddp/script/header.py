"""The script's docstring: what it trains, how to start it, where it comes from, what it needs."""

from __future__ import annotations

import ast
from pathlib import PurePath
from shlex import quote
from textwrap import wrap

from nbddp._version import __version__
from nbddp.analysis import Plan
from nbddp.analysis.state import checkpointed
from nbddp.analysis.syntax import bindings, walk
from nbddp.fingerprint import BLANK
from nbddp.script.apply import Line
from nbddp.script.layout import Layout


def header(plan: Plan, layout: Layout) -> list[Line]:
    file = quote(f"{PurePath(plan.notebook.name).stem}_ddp.py")  # to be copied to a shell
    command = f"python {file}"
    choose = f"python {file} --nproc 4{_example(layout)}"
    each = 1 if plan.options.per_machine else 8
    many = f"torchrun --nnodes 2 --nproc-per-node {each} ... {file}"
    width = max(map(len, (command, choose, many))) + 4
    device, plainly = _processes(plan)
    lines = [
        *wrap(
            f'"""Train {_trained(plan)} on {device}.',
            120,
            break_long_words=False,
            break_on_hyphens=False,
        ),
        "",
        f"    {command:{width}}# {plainly}",
        f"    {choose:{width}}# choose processes{' and parameters' if layout.parameters else ''}",
        f"    {many:{width}}# several machines",
        "",
        f"Exported from {plan.notebook.name} by nbddp {__version__} ({BLANK}); it needs {_needs(plan, layout)}.",
        *_checkpoints(plan),
        *_snapshot(plan),
        *_installs(plan),
        '"""',
    ]
    return [Line(text.replace("\\", "\\\\") if text != '"""' else text) for text in lines]


def _processes(plan: Plan) -> tuple[str, str]:
    """What it trains on, and how many processes that is where nothing is said."""
    if (nproc := plan.options.nproc) is not None:
        return (f"{nproc} processes", f"{nproc} processes") if nproc > 1 else ("one process", "one process")
    if plan.uses_gpu:
        return "all GPUs of this machine, or on 2 CPU processes where there is none", "every GPU here"
    return "several processes", "two CPU processes"


def _models(plan: Plan) -> str:
    names = []
    for model in plan.roles.models:
        home = plan.wrapping.homes.get(model.obj)
        kind = model.obj.name.rsplit(".", 1)[-1]
        names.append(f"`{home.name}` ({kind})" if home else kind)
    return " and ".join(dict.fromkeys(names)) or "the notebook's model"


def _trained(plan: Plan) -> str:
    return f"{_models(plan)} with {plan.framework.framework.name}" if plan.framework else _models(plan)


def _example(layout: Layout) -> str:
    for name, value in layout.parameters:
        if isinstance(value, float):
            return f" --{name.replace('_', '-').lower()} {value / 2:g}"
    return ""


def _needs(plan: Plan, layout: Layout) -> str:
    import sys

    used = {n.id for s in plan.kept for n in walk(s.node) if isinstance(n, ast.Name)}
    roots = set(layout.beside)
    for statement in layout.imports:
        assert isinstance(statement.node, ast.Import | ast.ImportFrom)
        for name, target in bindings(statement.node):
            if name in used or name == "*":
                roots.add(target.lstrip(".").split(".")[0])
    others = sorted(r for r in roots if r and r != "torch" and r not in sys.stdlib_module_names)
    return f"torch, {', '.join(others)}" if others else "torch alone"


def _checkpoints(plan: Plan) -> list[str]:
    """Without the variable gloo's processes ask the store of those before (PyTorch 2.13), and no restart succeeds."""
    if checkpointed(plan) is None:
        return []
    return [
        "It writes checkpoints. After a fault it continues by itself where SLURM or torchrun starts it again: for this",
        "call torchrun with --max-restarts 3, a new --rdzv-id for each training, and",
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 in the environment. SIGTERM and SIGUSR1 end it with a checkpoint.",
    ]


def _snapshot(plan: Plan) -> list[str]:
    if not plan.handed_over:
        return []
    return [f"The notebook hands over {', '.join(plan.handed_over)}: --snapshot PATH names the file with the values."]


def _installs(plan: Plan) -> list[str]:
    if not plan.notebook.requires:
        return []
    return [f"The notebook installs: {' '.join(plan.notebook.requires)}"]
