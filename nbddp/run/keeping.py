"""Runs that are there titled, noted and deleted: each prints for a person and returns an exit status."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from nbddp.run.folder.about import describe
from nbddp.run.folder.lookup import find
from nbddp.run.prune import delete


def rename(root: Path, name: str, title: str) -> int:
    """Give a run a title, by which it is found as well; an empty one takes it away."""
    folder = find(root, name)
    about = describe(folder, title=title)
    print(f"{folder.name} is now called {about.title!r}." if about.title else f"{folder.name} has no title now.")
    return 0


def note(root: Path, name: str, text: str) -> int:
    """Keep a note with a run, in place of the one that is there."""
    folder = find(root, name)
    print(f"{folder.name}: {'noted' if describe(folder, note=text).note else 'the note is gone'}.")
    return 0


def delete_runs(root: Path, names: Sequence[str]) -> int:
    """All of them, or none where one name is wrong. Status 1 where one that still runs was left alone."""
    status = 0
    for folder in dict.fromkeys([find(root, name) for name in names]):
        if delete(folder):
            print(f"deleted {folder.name}")
        else:
            print(f"{folder.name} was not deleted: it still runs, or is not yours. Stop it first.", file=sys.stderr)
            status = 1
    return status
