"""The tab key behind `%%ddp_train` and `%ddp`: options, and what an option takes, as far as that can be listed.

Of files nothing is offered here: then the shell offers its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from nbddp.cli.parse import Parser
from nbddp.magics.commands.line import VERB_NAMES, verb_parser
from nbddp.magics.first_line import modes
from nbddp.magics.first_line.arguments import parser
from nbddp.magics.first_line.modes import ABOUT


def install(shell: Any) -> None:
    """Where the shell asks for it; a shell without completion is left alone."""
    trains = [(f"%%{name}", partial(_of_cell, partial(modes.parser, name))) for name in ABOUT]
    own = (("%%ddp_train", partial(_of_cell, parser)), ("%ddp", _of_line), ("ddp", _of_line))
    for name, complete in (*own, *trains):
        shell.set_hook("complete_command", complete, str_key=name)


def _of_cell(made: Callable[[], Parser], shell: Any, event: Any) -> Sequence[str]:
    return _offered(made(), shell, _before(event), event.symbol)


def _of_line(shell: Any, event: Any) -> Sequence[str]:
    """The verbs first, then what the one that is there takes."""
    words = _before(event)
    if not words or words == ["help"]:
        return [verb for verb in (*VERB_NAMES, "help") if verb.startswith(event.symbol) and verb not in words]
    return _offered(verb_parser(words[0]), shell, words, event.symbol) if words[0] in VERB_NAMES else []


def _before(event: Any) -> list[str]:
    """The words behind the magic's name that are complete; of `--mode=`, and `--devices 0,`, the option."""
    text = event.line.removesuffix(event.symbol)
    words: list[str] = text.replace("=", " ").split()[1:]
    return words[:-1] if text.endswith(",") else words


def _offered(made: Parser, shell: Any, words: Sequence[str], symbol: str) -> list[str]:
    """The values of the option before the cursor; else those that stand alone, and the options."""
    last = words[-1] if words else "nothing"
    found: Iterable[str]
    if last in made.values:
        found = _variables(shell) if last in {"--snapshot", "--keep"} else made.values[last]()
    else:
        found = (*(made.values[""]() if "" in made.values else ()), *made.options)
    return [word for word in found if word.startswith(symbol)]


def _variables(shell: Any) -> list[str]:
    return [name for name in shell.user_ns if not name.startswith("_") and name not in shell.user_ns_hidden]
