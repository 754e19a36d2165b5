"""A notebook file read from disk, or one sentence that says why it cannot be."""

from __future__ import annotations

import io
import json
import tokenize
from dataclasses import replace
from pathlib import Path

from nbddp.notebook.ipynb import notebook_from_json
from nbddp.notebook.model import CannotRead, Notebook
from nbddp.notebook.percent import notebook_from_percent

# What stands in a .ipynb file that is no JSON, more often than chance.
_IMPOSTORS = (
    (b"version https://git-lfs", "is a Git LFS pointer; `git lfs pull` fetches the notebook itself"),
    (b"<<<<<<<", "contains a git merge conflict, which has to be resolved first"),
    (b"<", "is a web page that shows a notebook, not the notebook itself"),
)


def read_notebook(path: str | Path) -> Notebook:
    """The notebook in a .ipynb or percent-format .py file; raises CannotRead, and nothing else."""
    path = Path(path)
    try:
        return replace(_decoded(_content(path), path), path=path, folder=path.parent)
    except CannotRead as error:
        raise CannotRead(error.sentence, path) from None


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise CannotRead(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise CannotRead(f"{path} is a folder, not a notebook.") from None
    except PermissionError:
        raise CannotRead(f"{path} cannot be read: permission denied.") from None
    except (OSError, ValueError) as error:
        raise CannotRead(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    if not content.strip():
        raise CannotRead(f"{path.name} is empty.")
    return content


def _decoded(content: bytes, path: Path) -> Notebook:
    if path.suffix == ".py":
        return notebook_from_percent(_python_text(content, path), path.name)
    if path.suffix != ".ipynb" and not content.lstrip().startswith(b"{"):
        raise CannotRead(f"{path.name} is neither a .ipynb notebook nor a .py file.")
    return notebook_from_json(_json(content, path), path.name)


def _json(content: bytes, path: Path) -> object:
    try:
        return json.loads(content.removeprefix(b"\xef\xbb\xbf"))
    except json.JSONDecodeError as error:
        start = content.lstrip()
        for beginning, sentence in _IMPOSTORS:
            if start.startswith(beginning) or (beginning == b"<<<<<<<" and b"\n<<<<<<< " in content):
                raise CannotRead(f"{path.name} {sentence}.") from None
        place = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise CannotRead(f"{path.name} is not a notebook: it is not JSON ({place}).") from None
    except (ValueError, RecursionError) as error:
        raise CannotRead(f"{path.name} is not a notebook: it is not readable as JSON ({error}).") from None


def _python_text(content: bytes, path: Path) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return content.decode(encoding)
    except (SyntaxError, UnicodeError) as error:
        raise CannotRead(f"{path.name} is not text in the encoding that it declares ({error}).") from None
