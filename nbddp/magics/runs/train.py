"""`%%ddp_train`: this cell on several processes, from the notebook's state and back into it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nbddp.cli.jobs import keep_site
from nbddp.cli.parse import Refusal
from nbddp.diagnostics import Diagnostic, rendered
from nbddp.export import Script, export
from nbddp.magics.executed.cell_order import in_order
from nbddp.magics.executed.origin import origin_of
from nbddp.magics.executed.record import Executed
from nbddp.magics.executed.session import Session
from nbddp.magics.executed.to_compile import notebook_of
from nbddp.magics.first_line.arguments import options_of, parse, run_options_of
from nbddp.magics.first_line.modes import which
from nbddp.magics.first_line.refusal import REFUSALS, RunStopped, in_words, need_folder
from nbddp.magics.handover.by_value import ByValue, by_value
from nbddp.magics.handover.start_state import Handover, handover
from nbddp.magics.handover.whole_objects import write_names
from nbddp.magics.runs.cell_run import CellRun
from nbddp.magics.runs.kernel_run import KernelRun
from nbddp.magics.runs.memory import too_little_memory
from nbddp.magics.runs.waiting import stop_if_interrupted, wait_for
from nbddp.notebook import Notebook
from nbddp.output import write_script
from nbddp.run.doctor import doubts, only_whole_epochs, ready
from nbddp.run.folder.folder import RunFolder
from nbddp.run.folder.folders import bytes_in
from nbddp.run.folder.line_map import line_map
from nbddp.run.processes.interrupts import answer, breakable, held_back, interrupted
from nbddp.run.run import Run
from nbddp.run.start.command import Origin, RunOptions
from nbddp.run.start.machine_facts import gpus, visible
from nbddp.run.state.words import size
from nbddp.run.supervision.culprit import RunFailed

MUCH = 1 << 30  # bytes of a run's folder that are worth a word
VARIABLE = "run"  # by which later cells have the latest run; it is also the cell's result


@dataclass(frozen=True)
class Asked:
    """What is to be run: all of it known before anything starts."""

    options: RunOptions
    kept: tuple[str, ...]  # names of states that stay in the run's folder
    notebook: Notebook
    cell: int
    script: Script
    state: Handover
    values: ByValue
    notes: tuple[str, ...]


def ddp_train(session: Session, line: str, body: str) -> CellRun | None:
    """The magic. Whatever is wrong is said in a sentence; the kernel and what it holds stay as they are.

    From the first line to the last an interrupt is held back: none can get lost, and none can break off half a start.
    """
    try:
        with held_back():
            return _trained(session, line, body)
    except REFUSALS as refusal:
        raise in_words(refusal) from None
    except RunFailed as failure:
        raise in_words(failure) from None


def _trained(session: Session, line: str, body: str) -> CellRun | None:
    arguments = parse(line)
    if arguments is None:
        return None
    need_folder()
    if said := which(line, "ddp_train"):
        print(said)
    run, diagnostics = _begun(session, arguments, body)
    if run is None:
        return None
    return _shown(run, diagnostics, background=arguments.background)


def _asked(session: Session, arguments: argparse.Namespace, body: str) -> Asked:
    (notebook, cell, script), note = _exported(session, arguments, _this_cell(session, body))
    if arguments.export:
        write_script(arguments.export.expanduser(), script.text)
    asked = run_options_of(arguments)
    keep_site(arguments, asked.job)
    options, wrong = ready(Path.cwd(), asked, Origin.here())
    if wrong:
        raise Refusal("\n".join(wrong))
    keep = not (arguments.fresh or arguments.resume)
    state = handover(script.plan, session.namespace) if keep else Handover()
    if options.arguments and state.names:
        raise Refusal(
            f"With the options after -- the script may create {', '.join(state.names)} differently than the notebook "
            "did: add --fresh to start from the beginning."
        )
    memory = None if options.job else too_little_memory(script.plan, session.namespace, _processes(options))
    notes = (*filter(None, (note, memory)), *doubts(options, Origin.here()), *only_whole_epochs(options, script.watch),
             *state.notes)  # fmt: skip
    return Asked(
        options,
        tuple(arguments.keep or ()),
        notebook,
        cell,
        script,
        state,
        by_value(script.plan, session.namespace),
        notes,
    )


def _processes(options: RunOptions) -> int:
    return options.nproc or len(visible(gpus(), os.environ)) or 2


def _fill(asked: Asked, namespace: Mapping[str, Any], folder: RunFolder) -> None:
    asked.state.write(folder)
    asked.values.write(folder)
    write_names(folder, asked.script.plan, namespace)


def _exported(
    session: Session, arguments: argparse.Namespace, this: Executed
) -> tuple[tuple[Notebook, int, Script], str]:
    def make(cells: Sequence[Executed]) -> tuple[Notebook, int, Script]:
        notebook, numbers = notebook_of(session, [*cells, this])
        return notebook, numbers[-1], export(notebook, options_of(arguments, numbers[-1]))

    return in_order(session.record.cells, make)


def _this_cell(session: Session, body: str) -> Executed:
    """As the front end has sent it, so that its lines have the numbers that the user sees."""
    running = session.record.running
    if running is not None and body.strip() and body.strip() in running.source:
        return running
    return Executed(f"%%ddp_train\n{body}", count=int(session.shell.execution_count))


def _say(asked: Asked) -> None:
    for text in rendered(asked.script.diagnostics):
        print(f"{text}\n")
    state = ", ".join(asked.state.names) or "nothing: it starts from the beginning"
    print(
        f"It would train cell {asked.cell} of {asked.notebook.name}, starting from the notebook's current state of: "
        f"{state}."
    )
    if asked.state.values:
        print(f"It would continue with the notebook's values of {', '.join(asked.state.values)}.")
    if asked.values.values:
        print(f"It would pass the values of {', '.join(asked.values.values)}.")
    print(*asked.notes, sep="\n", end="\n" if asked.notes else "")


def _begun(session: Session, arguments: argparse.Namespace, body: str) -> tuple[CellRun | None, tuple[Diagnostic, ...]]:
    """The run, started; none where it shall not be. What an interrupt breaks off here leaves nothing behind."""
    try:
        session.early.check()
        asked = breakable(lambda: _asked(session, arguments, body))
        if not arguments.dry_run:
            return _started(session, asked), asked.script.diagnostics
    except KeyboardInterrupt:
        raise in_words(RunStopped("Interrupted before the run had started: nothing runs.")) from None
    _say(asked)
    return None, ()


def _started(session: Session, asked: Asked) -> CellRun:
    for note in asked.notes:
        print(note)
    started = Run.start(
        asked.script.text,
        Path(asked.notebook.name).stem,
        asked.options,
        root=Path.cwd(),
        origin=origin_of(session, asked.script.plan),
        helper=session.helper,
        line_map=list(line_map(asked.notebook, asked.script.line_map)),
        watch=asked.script.watch,
        fill=partial(_fill, asked, session.namespace),
    )
    run = CellRun(started.folder)
    run.belongs_to(session.namespace, asked.script.plan, asked.kept)
    if isinstance(session.namespace.get(VARIABLE, run), CellRun | KernelRun):  # one of the user's own is left alone
        session.namespace[VARIABLE] = run
    return run


def _shown(run: CellRun, diagnostics: tuple[Diagnostic, ...], *, background: bool) -> CellRun:
    """Live, until the end; or from here on, while the kernel is free again."""
    from nbddp.widget.feed import Feed
    from nbddp.widget.run_view import watch

    def show() -> Feed:
        return watch(run, diagnostics)

    if background:
        late = stop_if_interrupted(run, show())
    else:
        late = wait_for(run, show)
        run.restore()
        if (kept := bytes_in(run.folder)) > MUCH:
            print(f"The run keeps {size(kept)} in {run.folder.path}; `nbddp runs --prune 2GB` deletes old ones.")
    if late or interrupted():  # the cells behind this one are not to run
        answer()
        raise in_words(RunStopped(f"Interrupted after {run.name} had ended: its result is complete."))
    return run
