"""`%ddp check · export · verify · runs · attach · stop · log`: the verbs of the command line on this kernel's cells."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from nbddp.cli import VERBS
from nbddp.cli.parse import Parser, Refusal, nearest
from nbddp.export import export
from nbddp.magics.commands.verifying import verify_live
from nbddp.magics.executed.cell_order import settled
from nbddp.magics.executed.executed_notebook import UNNAMED, as_file, file_of
from nbddp.magics.executed.record import Executed
from nbddp.magics.executed.session import Session
from nbddp.magics.executed.to_compile import notebook_of
from nbddp.magics.first_line.refusal import REFUSALS, in_words, need_folder
from nbddp.magics.runs.cell_run import CellRun
from nbddp.notebook.marks import MODES
from nbddp.options import Options
from nbddp.run.folder.lookup import find
from nbddp.verify import Report

MAGICS = tuple(f"%%{name}" for name in MODES)
OF_NOTEBOOKS = ("check", "export", "verify")
EXAMPLES = (
    "%ddp export      write the script beside the notebook",
    "%ddp check       show what it would keep, leave out and rewrite",
)
VERB_NAMES = ("check", "export", "verify", "runs", "attach", "stop", "log", "rules")


def ddp(session: Session, line: str) -> CellRun | Report | None:
    """`attach` gives the run that it shows, `verify` what it has found."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise in_words(Refusal(f"%ddp: {error} in: {line}")) from None
    try:
        return _execute(session, words)
    except SystemExit:  # help was asked for, and printed
        return None
    except REFUSALS as refusal:
        raise in_words(refusal) from None


def verb_parser(name: str) -> Parser:
    """The command line's own."""
    summary = next(verb.summary for verb in VERBS if verb.name == name)
    made = Parser(prog=f"%ddp {name}", description=f"{summary[0].upper()}{summary[1:]}.")
    _module(name).add_arguments(made)
    return made


def _module(name: str) -> ModuleType:
    return import_module(f"nbddp.cli.{name}")


def _execute(session: Session, words: list[str]) -> CellRun | Report | None:
    if words[:1] == ["help"] and words[1:2] and words[1] in VERB_NAMES:
        words = [words[1], "--help"]
    if not words or words[0] in {"-h", "--help", "help"}:
        print(help_text())
        return None
    if words[0] not in VERB_NAMES:
        raise Refusal(f"%ddp: no verb {words[0]!r}{nearest(words[0], VERB_NAMES)}; `%ddp --help` lists them")
    need_folder()
    name, rest = words[0], words[1:]
    if name == "attach":
        return _attach(session, verb_parser(name).parse(rest))
    if name in OF_NOTEBOOKS and not any(word.endswith((".ipynb", ".py")) and _is_notebook(rest, word) for word in rest):
        return _of_this_notebook(session, name, rest)
    _module(name).execute(verb_parser(name).parse(rest))
    return None


def _is_notebook(words: Sequence[str], word: str) -> bool:
    """The word is the notebook to read, not the script to write."""
    place = words.index(word)
    return place == 0 or words[place - 1] not in {"-o", "--output", "--save", "--against"}


def _of_this_notebook(session: Session, name: str, words: list[str]) -> Report | None:
    """The cells that were executed, put into a file as the verb expects one."""
    path = file_of(session.namespace)
    cells = settled(session.record.cells, lambda tried: export(notebook_of(session, tried)[0], _training(tried, path)))
    file_name = path.name if path else UNNAMED
    with TemporaryDirectory() as folder:
        notebook = Path(folder) / file_name
        notebook.write_text(json.dumps(as_file(cells, path)[0]), encoding="utf-8")
        arguments = verb_parser(name).parse(["--help"] if "--help" in words else [str(notebook), *words])
        if arguments.train is None:
            arguments.train = _training(cells, path).train
        if name == "verify":
            return verify_live(session, arguments, cells)
        if name == "export":
            _name_output(arguments, Path(file_name))
        _module(name).execute(arguments)
    return None


def _training(cells: Sequence[Executed], path: Path | None) -> Options:
    """The cell that was trained last; without one, what is marked in another way, or found."""
    numbers = as_file(cells, path)[1]
    marked = [number for number, cell in zip(numbers, cells, strict=True) if cell.source.lstrip().startswith(MAGICS)]
    return Options(train=marked[-1] if marked else None)


def _name_output(arguments: argparse.Namespace, notebook: Path) -> None:
    """Beside the notebook, not in the folder that is about to go."""
    if arguments.output is None and not (arguments.stdout or arguments.diff):
        arguments.output = Path.cwd() / f"{notebook.stem}_ddp.py"


def _attach(session: Session, arguments: argparse.Namespace) -> CellRun:
    """Shown live while the kernel stays free."""
    from nbddp.widget.run_view import watch

    run = CellRun(find(Path.cwd(), arguments.run))
    run.belongs_to(session.namespace)
    watch(run)
    return run


def help_text() -> str:
    """What the magic does, its verbs, two examples."""
    rows = [f"  {verb.name:<8}{verb.summary}" for verb in VERBS if verb.name in VERB_NAMES]
    usage = "usage: %ddp VERB …  (%ddp VERB --help, or %ddp help VERB, explains a verb)"
    about = "The verbs of the command line, on the cells that this kernel has executed."
    return "\n".join([usage, "", about, "", *rows, "", "examples:", *(f"  {line}" for line in EXAMPLES)])
