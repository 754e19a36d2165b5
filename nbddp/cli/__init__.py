"""The command line: finds the verb, imports that verb alone, and turns every refusal into a sentence and a status.

Status: 0 done, 1 warnings under `check --strict`, 2 not done (bad usage, unreadable notebook, cannot export).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from nbddp.cli.parse import Parser, Refusal, nearest


@dataclass(frozen=True)
class Verb:
    """A verb's module has `add_arguments(parser)` and `execute(arguments) -> status`; it is imported when called."""

    name: str
    summary: str


VERBS = (
    Verb("export", "write the script that trains a notebook on all GPUs"),
    Verb("check", "show what an export would keep, drop and rewrite, and what prevents it"),
    Verb("verify", "check that several processes train as one does, or find what makes the difference"),
    Verb("run", "export and train a notebook here, with a live display"),
    Verb("attach", "show a run live, from its beginning"),
    Verb("stop", "stop a run: after this epoch, now, or at once"),
    Verb("log", "print the output of a rank"),
    Verb("runs", "list the runs of this folder; title, note or delete them"),
    Verb("rules", "list the rewrites, or explain one of them"),
)


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        status = _dispatch(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `nbddp export --stdout … | head`: the reader has what it wants
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        from nbddp.cli.refuse import REFUSALS, refused

        if not isinstance(error, REFUSALS):
            raise
        return refused(error, as_json="--json" in words)
    return status


def _dispatch(words: list[str]) -> int:
    first = words[0] if words else None
    if first in ("-h", "--help"):
        print(_help())
        return 0
    if first in ("-V", "--version"):
        from nbddp._version import __version__

        print(f"nbddp {__version__}")
        return 0
    verb = next((verb for verb in VERBS if verb.name == first), None)
    if verb is None:
        raise Refusal(_no_such(first) if first else f"what should it do?\n\n{_help()}")
    return _execute(verb, words[1:])


def _execute(verb: Verb, words: list[str]) -> int:
    module = import_module(f"nbddp.cli.{verb.name}")
    parser = Parser(prog=f"nbddp {verb.name}", description=f"{verb.summary[0].upper()}{verb.summary[1:]}.")
    module.add_arguments(parser)
    status: int = module.execute(parser.parse(words))
    return status


def _no_such(word: str) -> str:
    kind = "option" if word.startswith("-") else "verb"
    return f"no {kind} {word!r}{nearest(word, [verb.name for verb in VERBS])}; `nbddp --help` lists them"


def _help() -> str:
    width = max(len(verb.name) for verb in VERBS)
    rows = "\n".join(f"  {verb.name:<{width}}  {verb.summary}" for verb in VERBS)
    return (
        "usage: nbddp VERB … (nbddp VERB --help explains a verb)\n\nTurns a notebook into a DistributedDataParallel "
        f"script, as an expert would write it.\n\n{rows}\n\n  --version  show the version\n  --help     show this page"
    )
