"""Writes a script in one step or not at all, and never over what a person has changed."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from nbddp.fingerprint import edited_since_export


class CannotWrite(Exception):
    """The file was left as it was; `sentence` says why."""

    def __init__(self, path: Path, sentence: str) -> None:
        self.path = path
        self.sentence = sentence
        super().__init__(sentence)


def write_script(path: Path, text: str, *, force: bool = False) -> bool:
    """False where the file holds these bytes already. Follows a link, as opening the file would."""
    target = Path(os.path.realpath(path))
    try:
        data = text.encode()
        if target.is_dir():
            raise CannotWrite(path, f"{path} is a folder; name the file to write")
        if target.exists():
            present = target.read_bytes()
            if present == data:
                return False
            if not force and _edited(present):
                raise CannotWrite(path, f"{path} was edited since its export and is kept; --force overwrites it")
        _replace(target, data)
    except UnicodeEncodeError as error:
        raise CannotWrite(path, f"the script holds {error.object[error.start]!r}, which UTF-8 cannot write") from error
    except OSError as error:
        raise CannotWrite(path, f"cannot write {path}: {_reason(error, target)}") from error
    return True


def _edited(present: bytes) -> bool:
    try:
        return edited_since_export(present.decode())
    except UnicodeDecodeError:
        return True


def _replace(target: Path, data: bytes) -> None:
    """Written beside, then renamed: who reads the file meanwhile sees the old script or the new one, whole."""
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with beside.open("xb") as file:
            file.write(data)
        if target.exists():
            beside.chmod(target.stat().st_mode & 0o7777)
        beside.replace(target)
    finally:
        with contextlib.suppress(OSError):  # renamed away, never made, or its folder is gone
            beside.unlink()


def _reason(error: OSError, target: Path) -> str:
    if error.errno == errno.ENOENT and not target.parent.exists():
        return f"there is no folder {target.parent}"
    return (error.strerror or str(error)).lower()
