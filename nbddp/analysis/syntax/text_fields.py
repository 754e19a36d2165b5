"""Fields that the text of a `format` call reads of what it is given: `"{loss.val:.4f}".format(loss=losses)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import Formatter


@dataclass(frozen=True, eq=False)
class TextField:
    """`losses.val`, as an expression that stands nowhere in the text."""

    given: ast.keyword
    read: ast.Attribute

    @property
    def pattern(self) -> str:
        """Where the text reads it."""
        return rf"(?<={{){self.given.arg}\.{self.read.attr}\b"

    @property
    def name(self) -> str:
        """By which it can be given for itself."""
        return f"{self.given.arg}_{self.read.attr}"


def text_fields(call: ast.Call) -> Sequence[TextField]:
    """Of what is given by a name, and read by fields alone."""
    match call.func:
        case ast.Attribute(value=ast.Constant(value=str(text)), attr="format"):
            return tuple(field for given in call.keywords for field in _fields(text, call, given))
    return ()


def _fields(text: str, call: ast.Call, given: ast.keyword) -> Iterator[TextField]:
    try:
        asked = dict.fromkeys(name for _, name, _, _ in Formatter().parse(text) if name)
    except ValueError:
        return
    read = [name for name in asked if re.split(r"\W", name)[0] == given.arg]
    names = {k.arg for k in call.keywords}
    plain = all(re.fullmatch(r"\w+\.\w+", name) and name.replace(".", "_") not in names for name in read)
    if not plain or not isinstance(given.value, ast.Name | ast.Attribute):
        return
    for name in read:
        yield TextField(
            given, ast.copy_location(ast.Attribute(given.value, name.partition(".")[2], ast.Load()), given.value)
        )
