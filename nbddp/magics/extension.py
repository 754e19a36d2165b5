"""What `%load_ext nbddp` and `%unload_ext nbddp` do to a shell."""

from __future__ import annotations

import importlib
import threading
from typing import Any

from nbddp.magics import completion
from nbddp.magics.line import ddp
from nbddp.magics.session import Session
from nbddp.magics.train import ddp_train

COMPILER = ("nbddp.checking", "nbddp.rules", "nbddp.script.assemble", "nbddp.run.culprit")
ATTRIBUTE = "_nbddp_session"


def load(shell: Any) -> None:
    """Once for each shell. What takes long goes on in the background, so that the cell is done at once."""
    if getattr(shell, ATTRIBUTE, None) is not None:
        return
    session = Session(shell)
    setattr(shell, ATTRIBUTE, session)
    shell.register_magic_function(lambda line, cell: ddp_train(session, line, cell), "cell", "ddp_train")
    shell.register_magic_function(lambda line: ddp(session, line), "line", "ddp")
    shell.input_transformers_cleanup.append(with_a_body)
    completion.install(shell)
    session.open()
    threading.Thread(target=_import_compiler, name="nbddp-import", daemon=True).start()


def unload(shell: Any) -> None:
    """The shell as it was, but for runs: those go on."""
    session: Session | None = getattr(shell, ATTRIBUTE, None)
    if session is None:
        return
    session.close()
    setattr(shell, ATTRIBUTE, None)
    shell.input_transformers_cleanup.remove(with_a_body)
    for kind, name in (("cell", "ddp_train"), ("line", "ddp")):
        shell.magics_manager.magics[kind].pop(name, None)


def with_a_body(lines: list[str]) -> list[str]:
    """IPython refuses a cell magic without a cell before the magic can say a word, even to `%%ddp_train --help`."""
    if lines and lines[0].startswith("%%ddp_train") and not "".join(lines[1:]).strip():
        return [lines[0].rstrip("\n") + "\n", "pass\n"]
    return lines


def _import_compiler() -> None:
    """Nothing but nbddp's own modules, which nobody else imports meanwhile."""
    for name in COMPILER:
        importlib.import_module(name)
