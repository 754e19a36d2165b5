"""Which role a cell is marked with: by magic, by a `#| ddp:` directive or by tag, in this order of precedence."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nbddp.notebook.model import Cell

ROLES = ("train", "setup", "rank0", "skip", "parameters", "wrap", "connect")
MODES = {"ddp_train": "ddp", "dp_train": "dp", "single_train": "single"}

_TAG_ROLES = {
    "ddp-train": "train",
    "ddp-setup": "setup",
    "ddp-rank0": "rank0",
    "ddp-skip": "skip",
    "ddp-wrap": "wrap",
    "ddp-connect": "connect",
    "parameters": "parameters",
    "injected-parameters": "parameters",  # what papermill adds: later values of the same parameters
}
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*\|[ \t]*ddp[ \t]*:[ \t]*(.*?)[ \t]*")


def directive_of(source: str) -> str | None:
    """The word of the first `#| ddp:` line among the comments, blank lines and cell magics that open the cell."""
    for line in source.split("\n"):
        text = line.strip()
        if text and not text.startswith(("#", "%%")):
            return None
        if match := _DIRECTIVE.fullmatch(line):
            return match[1]
    return None


def is_directive(line: str) -> bool:
    return _DIRECTIVE.fullmatch(line) is not None


def tag_words(tags: object) -> tuple[str, ...]:
    """Tags are a list; written by hand they may be one string, which must not pass for no tags at all."""
    words = re.split(r"[,\s]+", tags) if isinstance(tags, str) else tags if isinstance(tags, list) else []
    return tuple(word for word in words if isinstance(word, str) and word)


def roles(mode: str | None, directive: str | None, tags: Iterable[str]) -> tuple[str, ...]:
    """Every role that is claimed, the one that counts first."""
    claimed = ["train"] if mode else []
    claimed += [directive] if directive in ROLES else []
    claimed += [_TAG_ROLES[tag] for tag in tags if tag in _TAG_ROLES]
    return tuple(dict.fromkeys(claimed))


def unknown_marks(cell: Cell) -> tuple[str, ...]:
    """Marks that look meant for nbddp and name no role, as written: a misspelt one must not pass in silence."""
    found = [tag for tag in cell.tags if tag.startswith("ddp-") and tag not in _TAG_ROLES]
    if cell.directive is not None and cell.directive not in ROLES:
        found.append(f"#| ddp: {cell.directive}")
    return tuple(found)
