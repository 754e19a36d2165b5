"""What a notebook asks pip for: the requirement words of its install lines, in order, each once."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator

from nbddp.notebook.model import Cell

_INSTALL = re.compile(
    r"(?:sudo\s+)?(?:uv\s+)?(?:(?:\S*\bpython[\d.]*|\{sys\.executable\}|\"\{sys\.executable\}\"|\S*\bpy)\s+-m\s+)?"
    r"pip[\d.]*\s+install\s+(.*)"
)
_SHELLS = {"bash", "sh", "script", "shell", "!", "sx", "system"}
# Options whose value is the next word; -r and -c name files of requirements, the others places.
_VALUED = re.compile(
    r"""-[rceiftp]|--requirement|--constraint|--editable|--index-url|--extra-index-url|--find-links|--target
    |--trusted-host|--prefix|--root|--proxy|--cache-dir|--timeout|--python-version|--platform|--log|--retries|--python
    |--upgrade-strategy|--progress-bar|--config-settings|--global-option|--no-binary|--only-binary""",
    re.VERBOSE,
)
_ENDS = re.compile(r"[|&;]+|[12&]?>{1,2}(?:&[12])?|<|#.*")


def requirements(cells: Iterable[Cell]) -> tuple[str, ...]:
    commands = (command for cell in cells for command in _commands(cell))
    return tuple(dict.fromkeys(word for command in commands for word in required(command)))


def required(command: str) -> Iterator[str]:
    """The requirements of one shell line, as the user wrote them.

    Folders of the user's machine are left out, and words that only the running notebook could fill in.
    """
    for part in re.split(r"&&|\|\||;(?=\s)|;$", command):
        if match := _INSTALL.match(part.strip()):
            yield from _requirement_words(_words(match[1]))


def _requirement_words(words: list[str]) -> Iterator[str]:
    options = iter(words)
    for word in options:
        if _ENDS.fullmatch(word):
            return
        if _VALUED.fullmatch(word):
            next(options, None)
        elif not word.startswith(("-", ".", "/", "~", ">", "2>")) and not re.search(r"[{}$]", word):
            yield word.rstrip(",")


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote that nobody closed
        return text.split()


def _commands(cell: Cell) -> Iterator[str]:
    """Shell lines, `%pip install ...`, and the lines of a %%bash cell."""
    for escape in cell.escapes:
        if escape.kind == "shell" or escape.name in {"pip", "uv"}:
            yield escape.text
        elif escape.kind == "cell magic" and escape.name in _SHELLS:
            yield from cell.source.replace("\\\n", " ").split("\n")[escape.line :]
