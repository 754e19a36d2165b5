"""What `%load_ext nbddp` and `%unload_ext nbddp` do to a shell."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from nbddp.magics.commands import completion
from nbddp.magics.commands.line import ddp, help_text
from nbddp.magics.executed.session import Session
from nbddp.magics.first_line import modes
from nbddp.magics.first_line.arguments import parser
from nbddp.magics.first_line.modes import FIRST_LINE
from nbddp.magics.runs.in_kernel import NAMES, InKernel, first_line
from nbddp.magics.runs.train import ddp_train
from nbddp.widget.surface import load_widget

OWN = (
    "nbddp.checking",
    "nbddp.rules",
    "nbddp.script.assemble",
    "nbddp.run.supervision.culprit",
    "nbddp.widget.run_view",
)
ATTRIBUTE = "_nbddp_session"
TRANSFORMER = "_nbddp_in_kernel"


def load(shell: Any) -> None:
    """Once for each shell. What takes long goes on in the background, so that the cell is done at once."""
    if getattr(shell, ATTRIBUTE, None) is not None:
        return
    session = Session(shell)
    setattr(shell, ATTRIBUTE, session)
    _register(shell, "cell", "ddp_train", lambda line, cell: ddp_train(session, line, cell), parser().format_help())
    _register(shell, "line", "ddp", lambda line: ddp(session, line), help_text())
    in_kernel = InKernel(session)
    setattr(shell, TRANSFORMER, in_kernel)
    for name in NAMES:
        text = modes.parser(name).format_help()
        _register(shell, "line", name, partial(_begin, in_kernel, name), text)
        _register(shell, "cell", name, partial(_as_cell, shell, name), text)
    shell.input_transformers_cleanup.extend((with_a_body, first_line))
    shell.ast_transformers.append(in_kernel)
    shell.events.register("post_run_cell", in_kernel.ended)
    completion.install(shell)
    session.open()
    threading.Thread(target=_import_own, name="nbddp-import", daemon=True).start()
    load_widget()


def unload(shell: Any) -> None:
    """The shell as it was, but for runs: those go on."""
    session: Session | None = getattr(shell, ATTRIBUTE, None)
    if session is None:
        return
    session.close()
    setattr(shell, ATTRIBUTE, None)
    in_kernel: InKernel = getattr(shell, TRANSFORMER)
    shell.events.unregister("post_run_cell", in_kernel.ended)
    if in_kernel in shell.ast_transformers:
        shell.ast_transformers.remove(in_kernel)
    for transformer in (with_a_body, first_line):
        shell.input_transformers_cleanup.remove(transformer)
    own = [(kind, name) for kind in ("line", "cell") for name in NAMES]
    for kind, name in (("cell", "ddp_train"), ("line", "ddp"), *own):
        shell.magics_manager.magics[kind].pop(name, None)


def _register(shell: Any, kind: str, name: str, function: Callable[..., object], text: str) -> None:
    """With what `?` and Shift+Tab show: the same as --help."""

    def magic(*words: str) -> object:
        return function(*words)

    magic.__doc__ = text
    shell.register_magic_function(magic, kind, name)


def _begin(in_kernel: InKernel, name: str, _line: str) -> None:
    in_kernel.begin(name)


def _as_cell(shell: Any, name: str, line: str, cell: str) -> None:
    """Called by a program: a cell that is typed or clicked never comes here."""
    shell.run_cell(f"%%{name} {line}\n{cell}").raise_error()


def with_a_body(lines: list[str]) -> list[str]:
    """IPython refuses a cell magic without a cell before the magic can say a word, even to `%%ddp_train --help`."""
    if lines and FIRST_LINE.fullmatch(lines[0].rstrip()) and not "".join(lines[1:]).strip():
        return [lines[0].rstrip("\n") + "\n", "#\n"]
    return lines


def _import_own() -> None:
    """Nothing but nbddp's own modules, which nobody else imports meanwhile; then what every script is made of."""
    for name in OWN:
        importlib.import_module(name)
    importlib.import_module("nbddp.script.part_library").read_ahead()
