"""The tab key behind `%%ddp_train` and `%ddp`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from nbddp.magics.commands.line import VERB_NAMES, verb_parser
from nbddp.magics.first_line import modes
from nbddp.magics.first_line.arguments import parser
from nbddp.magics.first_line.modes import ABOUT


def install(shell: Any) -> None:
    """Where the shell asks for it; a shell without completion is left alone."""
    trains = [(f"%%{name}", partial(_of_kernel, name)) for name in ABOUT]
    for name, complete in (("%%ddp_train", _of_train), *trains, ("%ddp", _of_line), ("ddp", _of_line)):
        shell.set_hook("complete_command", complete, str_key=name)


def _of_train(_shell: Any, event: Any) -> Sequence[str]:
    return [option for option in parser().options if option.startswith(event.symbol or "--")]


def _of_kernel(name: str, _shell: Any, event: Any) -> Sequence[str]:
    return [option for option in modes.parser(name).options if option.startswith(event.symbol or "--")]


def _of_line(_shell: Any, event: Any) -> Sequence[str]:
    """The verbs first, then the options of the one that is there."""
    words = event.line.split()[1:]
    if not words or (len(words) == 1 and not event.line.endswith(" ")):
        return [verb for verb in VERB_NAMES if verb.startswith(event.symbol)]
    if words[0] not in VERB_NAMES:
        return []
    return [option for option in verb_parser(words[0]).options if option.startswith(event.symbol or "--")]
