"""A cell that is to train in the kernel, compiled by the same analysis as a script."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Sequence
from dataclasses import dataclass

from nbddp.analysis import Plan, make_plan
from nbddp.cli.parse import Refusal
from nbddp.diagnostics import CannotExport, Diagnostic
from nbddp.inkernel.cell import edited_cell
from nbddp.inkernel.edits import edits_for
from nbddp.inkernel.functions import watched
from nbddp.inkernel.placing import device_edits, problem
from nbddp.inkernel.training import Wanted, live_state
from nbddp.magics.executed.cell_order import in_order
from nbddp.magics.executed.record import Executed
from nbddp.magics.executed.session import Session
from nbddp.magics.executed.to_compile import notebook_of
from nbddp.options import Options
from nbddp.script.imports import own_imports
from nbddp.sentence import sentence


@dataclass(frozen=True)
class Compiled:
    """The statements to execute in place of the cell's own, and what has to be there for them."""

    body: list[ast.stmt]
    wanted: Wanted | None = None
    name: str = ""  # of the notebook
    device: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def nothing(cls) -> Compiled:
        return cls([])


def compiled(session: Session, mode: str, arguments: argparse.Namespace, body: list[ast.stmt]) -> Compiled:
    """Raises CannotExport where the analysis finds no training in it, NotAlike where the shell reads it otherwise."""
    this = session.record.running
    if this is None:
        raise CannotExport([Diagnostic("in-kernel", "error", sentence("it is run by a program, not from a cell"))])
    asked = getattr(arguments, "device", None)
    devices, notes = _devices(arguments.devices) if mode == "dp_train" else (None, [])
    if asked and (wrong := problem(asked)):
        raise Refusal(wrong)
    plan = _plan(session, this)
    if asked and asked != "cpu" and not plan.uses_gpu:
        raise Refusal(f"The cells move nothing to a GPU, so their batches would not reach {asked}: use .to(device).")
    if devices and devices[0] != "cpu" and not plan.uses_gpu:
        devices, notes = (), ["DataParallel has nothing to split: the cells move nothing to a GPU."]
    if not plan.roles.batch_loops:
        message = sentence("no training loop over a DataLoader was found")
        raise CannotExport([Diagnostic("in-kernel", "error", message)])
    device = asked or (devices[0] if devices else None)
    edits = [*edits_for(plan, parallel=len(devices or ()) > 1), *(device_edits(plan) if device else ())]
    cell = next(c for c in plan.program.cells if c.number == plan.training_cell)
    made = edited_cell(plan.program, cell, edits, body)
    shell = session.shell
    functions, others = watched(
        plan,
        edits,
        session.namespace,
        lambda tree: compile(tree, "<cell>", "exec", flags=shell.compile.flags, dont_inherit=True),
    )
    if others:
        notes.append(f"{', '.join(others)}: no longer as the cells define it, so its progress is not shown.")
    wanted = Wanted(plan, functions, device, devices)
    return Compiled(made, wanted, plan.notebook.name, device or _device(plan, session), tuple(notes))


def _plan(session: Session, this: Executed) -> Plan:
    """Of the cells in the order in which they make sense; a name that none defines is no matter in a live kernel."""

    def make(cells: Sequence[Executed]) -> Plan:
        notebook, numbers = notebook_of(session, [*cells, this])
        plan = make_plan(notebook, Options(numbers[-1]), own_imports())
        if plan.facts.undefined and not lenient:
            missing = ", ".join(plan.facts.undefined)
            raise CannotExport([Diagnostic("undefined", "error", sentence("%1 is not defined", missing))])
        return plan

    lenient = False
    try:
        return in_order(session.record.cells, make)[0]
    except CannotExport as refusal:
        if refusal.diagnostics[0].rule != "undefined":
            raise
        lenient = True
        return in_order(session.record.cells, make)[0]


def _devices(asked: tuple[int, ...] | None) -> tuple[tuple[str, ...], list[str]]:
    """The GPUs to split among; none, with a sentence, where there are not several."""
    import torch

    count = torch.cuda.device_count()
    if missing := [number for number in asked or () if number >= count]:
        there = "this machine has no GPU that torch can use" if not count else f"the last is GPU {count - 1}"
        raise Refusal(f"There is no GPU {missing[0]}: {there}; leave out --devices to train on what there is.")
    numbers = tuple(dict.fromkeys(asked or range(count)))
    names = tuple(f"cuda:{number}" for number in numbers)
    if len(names) > 1:
        return names, []
    there = "one GPU" if names else "no GPU"
    return names if asked else (), [f"DataParallel cannot split a batch with {there}; the training runs without it."]


def _device(plan: Plan, session: Session) -> str:
    """Where the models are by now."""
    for thing in live_state(plan, session.namespace):
        if hasattr(thing, "parameters"):
            return next((str(p.device) for p in thing.parameters()), "")
    return ""
