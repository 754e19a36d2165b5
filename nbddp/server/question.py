"""What a page asks of the compiler: a notebook as JSON and options, read strictly, from whoever sends it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from nbddp.notebook import CannotRead, Notebook, notebook_from_json
from nbddp.options import Options

FIELDS = {"train": int, "nproc": int, "batch_per_rank": bool, "sync_batchnorm": bool, "exact": bool,
          "shard": bool}  # fmt: skip


class NoQuestion(ValueError):
    """It cannot be answered; the text is a sentence that says why."""


@dataclass(frozen=True)
class Question:
    notebook: Notebook
    options: Options
    present: str | None  # the text of the file that the script would replace


def read_question(body: object) -> Question:
    if not isinstance(body, dict) or "notebook" not in body:
        raise NoQuestion('The body must be a JSON object with a "notebook" in it.')
    name = body.get("name", "notebook.ipynb")
    if not isinstance(name, str) or not name.strip() or "/" in name or not name.isprintable():
        raise NoQuestion('"name" must be the name of the notebook\'s file, without a folder.')
    present = body.get("present")
    if present is not None and not isinstance(present, str):
        raise NoQuestion('"present" must be the text of the file that is there, or null.')
    folder = body.get("folder")
    if folder is not None and (not isinstance(folder, str) or not Path(folder).is_absolute()):
        raise NoQuestion('"folder" must be the folder of the notebook, or null.')
    try:
        notebook = notebook_from_json(body["notebook"], name)
    except CannotRead as refusal:
        raise NoQuestion(refusal.sentence) from None
    notebook = replace(notebook, folder=Path(folder) if folder else None)
    return Question(notebook, _options(body.get("options", {})), present)


def _options(given: object) -> Options:
    if not isinstance(given, dict):
        raise NoQuestion('"options" must be a JSON object.')
    for name, value in given.items():
        if name not in FIELDS:
            raise NoQuestion(f'There is no option "{name}"; there are {", ".join(FIELDS)}.')
        if value is not None and not _fits(value, FIELDS[name]):
            kind = "true or false" if FIELDS[name] is bool else "a whole number, at least 1"
            raise NoQuestion(f'The option "{name}" must be {kind}.')
    return Options(**{name: value for name, value in given.items() if value is not None})


def _fits(value: object, kind: type) -> bool:
    """True is an int to Python, and no number of processes."""
    return type(value) is kind and (not isinstance(value, int) or kind is bool or value >= 1)
