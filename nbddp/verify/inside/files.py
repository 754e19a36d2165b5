"""Files of the user's stay as they are: what would be written over goes elsewhere, what is new is taken away after."""

from __future__ import annotations

import builtins
import functools
import hashlib
import io
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import torch

from nbddp.verify.inside.record import Recorder


def protect(aside: Path, recorder: Recorder) -> None:
    """From here on, in this process. Other ranks find what was put aside in the same place."""
    aside.mkdir(exist_ok=True)
    diverted = functools.partial(_place, aside, recorder)
    builtins.open = io.open = _opened(io.open, diverted)
    save, load = torch.save, torch.load
    torch.save = lambda obj, f, *rest, **options: save(obj, diverted(f, "wb"), *rest, **options)
    torch.load = lambda f, *rest, **options: load(diverted(f, "rb"), *rest, **options)
    os.remove = os.unlink = _removed(os.remove, aside)
    os.replace = os.rename = _moved(os.replace, diverted)
    shutil.rmtree = _removed(shutil.rmtree, aside)


def _path(file: Any) -> Path | None:
    if not isinstance(file, str | os.PathLike):
        return None
    return Path(os.path.abspath(os.fspath(file)))  # noqa: PTH100 -- links are to stay what they are


def _place(aside: Path, recorder: Recorder, file: Any, mode: str) -> Any:
    """Where to read or write instead; the file itself where that does no harm."""
    path = _path(file)
    if path is None or aside.parent in path.parents or path.parts[1:2] in (("dev",), ("proc",)):
        return file
    instead = _instead(aside, path)
    writes = any(letter in mode for letter in "wax+")
    if instead.exists() or not writes:
        return instead if instead.exists() else file
    if path.is_file():
        if "w" not in mode:
            shutil.copyfile(path, instead)
        return instead
    if recorder.losses or recorder.steps:
        recorder.creates(path)
    return file


def _instead(aside: Path, path: Path) -> Path:
    return aside / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}-{path.name}"


def _opened(original: Any, diverted: Any) -> Any:
    @functools.wraps(original)
    def opened(file: Any, mode: str = "r", *rest: Any, **options: Any) -> Any:
        return original(diverted(file, mode), mode, *rest, **options)

    return opened


def _removed(original: Any, aside: Path) -> Any:
    """What a training clears away before it begins is kept, unless it lies where everybody's temporary files do."""
    temporary = Path(tempfile.gettempdir()).resolve()

    def removed(path: Any, *rest: Any, **options: Any) -> None:
        place = _path(path)
        if place is None or temporary in place.resolve().parents:
            original(path, *rest, **options)
        elif _instead(aside, place).exists():
            original(_instead(aside, place))

    return removed


def _moved(original: Any, diverted: Any) -> Any:
    def moved(source: Any, target: Any, *rest: Any, **options: Any) -> None:
        original(diverted(source, "rb"), diverted(target, "wb"), *rest, **options)

    return moved
