"""What a person says of a run: a title, a note. The folder keeps its name, which others may have written down."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from nbddp.run.folder.files import text_of, write_whole
from nbddp.run.folder.folder import RunFolder

LONGEST_TITLE, LONGEST_NOTE = 200, 10_000  # characters


@dataclass(frozen=True)
class About:
    """Both are empty where nothing has been said."""

    title: str = ""
    note: str = ""


def read_about(folder: RunFolder) -> About:
    """What is damaged counts as not said."""
    try:
        said = json.loads(text_of(folder.about))
    except (OSError, ValueError, RecursionError):
        return About()
    return About(*(_text(said.get(key)) for key in ("title", "note"))) if isinstance(said, dict) else About()


def _text(value: object) -> str:
    return value[:LONGEST_NOTE] if isinstance(value, str) else ""


def describe(folder: RunFolder, *, title: str | None = None, note: str | None = None) -> About:
    """Say something else of it; what is None stays as it was. A title is one line."""
    before = read_about(folder)
    about = About(
        before.title if title is None else " ".join(title.split())[:LONGEST_TITLE],
        before.note if note is None else note.strip()[:LONGEST_NOTE],
    )
    write_whole(folder.about, json.dumps(asdict(about)) + "\n")
    return about
