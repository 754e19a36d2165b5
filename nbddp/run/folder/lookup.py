"""The run that a person means."""

from __future__ import annotations

import contextlib
from difflib import get_close_matches
from pathlib import Path

from nbddp.run.folder.about import read_about
from nbddp.run.folder.errors import NoSuchRun
from nbddp.run.folder.folder import RunFolder
from nbddp.run.folder.folders import runs_in


def find(root: Path, name: str | None = None) -> RunFolder:
    """By its name or title, or a part of it that only one has, by its path, or, without a name, the latest."""
    folders = runs_in(root)
    if name is None:
        if not folders:
            raise NoSuchRun(f"There are no runs in {root.absolute()}: start one with `nbddp run` or %%ddp_train.")
        return folders[-1]
    if ("/" in name or name == ".") and Path(name).is_dir():
        return RunFolder(Path(name).resolve())
    exact = [folder for folder in folders if folder.name == name]
    titles = {} if exact else {folder: read_about(folder).title for folder in folders}
    titled = [folder for folder, title in titles.items() if title == name]
    found = exact or titled or [folder for folder, title in titles.items() if name in folder.name or name in title]
    if len(found) == 1:
        return found[0]
    if found:
        raise NoSuchRun(f"{name} fits several runs, {_some([folder.name for folder in found])}: give more of the name.")
    near = get_close_matches(name, [folder.name for folder in folders], cutoff=0.3)
    known = near or [folder.name for folder in reversed(folders)]
    hint = f" There are {_some(known)}." if known else " There are none in this folder."
    raise NoSuchRun(f"There is no run {name}.{hint}")


def checkpoint_of(root: Path, word: str) -> str:
    """A file's path, or that of the checkpoint of the run which is called so; the script may go elsewhere."""
    path = Path(word).expanduser()
    if not path.exists():
        with contextlib.suppress(NoSuchRun):
            path = find(root, word).checkpoint
    return str(path.absolute())


def _some(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
