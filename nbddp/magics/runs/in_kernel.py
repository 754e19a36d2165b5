"""`%%single_train` and `%%dp_train`: the cell is executed by the shell as any cell is, with words between its lines.

The first line becomes the cell's first statement, a call of the line magic of the same name. A transformer of syntax
trees compiles what follows it, and the magic, once it is called, makes the kernel ready. So no frame of nbddp stands
between the shell and the cell: lines, `%debug`, the last expression's display and interrupts are as ever.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbddp.cli.parse import Refusal
from nbddp.diagnostics import CannotExport
from nbddp.inkernel.cell import NotAlike
from nbddp.inkernel.progress import Progress
from nbddp.inkernel.training import Training
from nbddp.magics.executed.session import Session
from nbddp.magics.first_line.modes import kernel_line, left_out, parse, which
from nbddp.magics.first_line.refusal import REFUSALS, in_words
from nbddp.magics.runs.cell_run import CellRun
from nbddp.magics.runs.compiled import Compiled, compiled
from nbddp.magics.runs.kernel_run import KernelRun
from nbddp.run.processes.interrupts import held_back
from nbddp.script.apply import Conflict
from nbddp.widget.feed import Feed, follow
from nbddp.widget.subject import Subject

VARIABLE = "run"
SHARE = 0.01  # of one core's time for the view, which the training pays for here
NAMES = ("single_train", "dp_train")


def first_line(lines: list[str]) -> list[str]:
    """For the shell's input transformers: the magic's line becomes a statement, on a line of the same number."""
    found = kernel_line(lines[0]) if lines and lines[0].startswith("%%") else None
    if found is None:
        return lines
    return [f"get_ipython().run_line_magic({found[0]!r}, {found[1]!r})\n", *lines[1:]]


@dataclass(frozen=True)
class Asked:
    """What became of the cell that is about to run."""

    name: str
    line: str
    compiled: Compiled | None = None
    notes: tuple[str, ...] = ()
    refusal: BaseException | None = None


class InKernel:
    """Of one shell."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._asked: Asked | None = None
        self._training: Training | None = None
        self._feed: Feed | None = None
        self._source = ""

    def visit(self, tree: ast.Module) -> ast.Module:
        """For the shell's transformers of syntax trees; whatever goes wrong in here is said when the cell runs."""
        found = _magic(tree.body[0]) if tree.body else None
        running = self.session.record.running
        if found is None:
            return tree
        if self._training is not None:  # the shell has not said how that cell ended
            self.ended(None)
        self._source = running.source if running is not None else ""
        try:
            self._asked = self._ask(*found, tree.body[1:])
        except BaseException as problem:  # noqa: BLE001 -- an interrupt included: the shell would give up its loop
            self._asked = Asked(*found, refusal=problem)
        made = self._asked.compiled
        if self._asked.refusal is not None:
            tree.body = tree.body[:1]
        elif made is not None:
            tree.body = [tree.body[0], *made.body]
        return tree

    def begin(self, name: str) -> None:
        """The line magic: the first statement of the cell."""
        asked, self._asked = self._asked, None
        if asked is None or asked.name != name:
            raise in_words(Refusal(f"%{name} works only on the first line of a cell, as %%{name}."))
        if asked.refusal is not None:
            _raise(asked.refusal)
        self.session.early.check()
        for note in asked.notes:
            print(note)
        if asked.compiled is not None:
            with held_back():
                self._begin(asked.compiled)

    def ended(self, result: Any) -> None:
        """The cell has run, has failed, or was interrupted."""
        if result is not None and result.info is not None and result.info.raw_cell != self._source:
            return  # a cell that this one has executed itself
        training, self._training = self._training, None
        feed, self._feed = self._feed, None
        self._asked = None
        if training is None:
            return
        with held_back():
            training.end(_error(result))
            if feed is not None:
                feed.join(10.0)

    def _ask(self, name: str, line: str, body: list[ast.stmt]) -> Asked:
        arguments = parse(name, line)
        if arguments is None or arguments.dry_run:
            said = () if arguments is None else (f"It would run this cell in the kernel, as %%{name} does.",)
            return Asked(name, line, Compiled.nothing(), said, _Nothing())
        notes = [n for n in (which(line, name), left_out(name, arguments)) if n]
        try:
            made = compiled(self.session, name, arguments, body)
        except REFUSALS as reason:
            if not isinstance(reason, CannotExport):
                raise
            return Asked(name, line, None, (*notes, _unchanged(reason.diagnostics[0].message)))
        except (NotAlike, Conflict) as reason:
            return Asked(name, line, None, (*notes, _unchanged(str(reason))))
        except Exception as defect:  # noqa: BLE001 -- the cell is the user's, and shall run whatever nbddp cannot do
            why = f"this is a bug in nbddp ({type(defect).__name__}: {defect}), please report it"
            return Asked(name, line, None, (*notes, _unchanged(why)))
        return Asked(name, line, made, (*notes, *made.notes))

    def _begin(self, made: Compiled) -> None:
        assert made.wanted is not None
        progress = Progress()
        training = Training(progress, self.session.namespace)
        run = KernelRun(Path(made.name).stem, progress)
        progress.put("launch", name=run.name, nproc=1, sums=made.wanted.sums)
        progress.put("rank", world_size=1, device=made.device, device_name=made.device)
        self._training = training
        training.begin(made.wanted)
        if isinstance(self.session.namespace.get(VARIABLE, run), CellRun | KernelRun):
            self.session.namespace[VARIABLE] = run
        self._feed = follow(run, Subject(diagnostics=()), run.stop, share=SHARE)


def _error(result: Any) -> BaseException | None:
    """What ended the cell early; a result that never came is an interrupt's doing."""
    if result is None:
        return KeyboardInterrupt()
    error: BaseException | None = result.error_in_exec or result.error_before_exec
    return error


class _Nothing(Exception):
    """There is nothing to run, and nothing is wrong."""


def _raise(refusal: BaseException) -> None:
    if isinstance(refusal, _Nothing):
        return
    raise in_words(refusal) if isinstance(refusal, REFUSALS) else refusal


def _unchanged(reason: str) -> str:
    return f"This cell runs unchanged, without a live view of its training: {reason}."


def _magic(node: ast.stmt) -> tuple[str, str] | None:
    """The statement that `first_line` has made."""
    match node:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Call(func=ast.Name(id="get_ipython")), attr="run_line_magic"),
                args=[ast.Constant(value=str(name)), ast.Constant(value=str(line))],
            )
        ) if name in NAMES:
            return name, line
    return None
