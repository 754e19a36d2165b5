"""Python strings for the text of a magic or shell line, in which IPython fills in `{expression}` and `$name`."""

from __future__ import annotations

import json
import re
from string import Formatter

from nbddp.notebook.syntax import is_expression

# A name in capitals is the shell's ($HOME, $PATH); so is whatever stands in single quotes.
_DOLLAR = re.compile(r"\$(\$?)([a-z_]\w*(?:\.\w+)*)(?=([^']*'[^']*')*[^']*$)")


def quoted(text: str) -> str:
    """A literal in double quotes, or in single ones where that saves backslashes, as ruff would write it."""
    return repr(text) if '"' in text and "'" not in text else json.dumps(text, ensure_ascii=False)


def filled(text: str) -> str:
    """A string literal, or an f-string where the text names values; text that does not format stays literal.

    That is IPython's own rule: `!awk '{print $1}'` has braces and formats nothing.
    """
    try:
        pieces = [_piece(*part) for part in Formatter().parse(_DOLLAR.sub(_braced, text))]
    except ValueError:
        return quoted(text)
    if not any(field for _, field in pieces):
        return quoted("".join(literal for literal, _ in pieces))
    doubled = ((json.dumps(literal, ensure_ascii=False)[1:-1], field) for literal, field in pieces)
    body = "".join(literal.replace("{", "{{").replace("}", "}}") + field for literal, field in doubled)
    return f'f"{body}"'


def _braced(match: re.Match[str]) -> str:
    return match[0][1:] if match[1] else "{" + match[2] + "}"


def _piece(literal: str, field: str | None, spec: str | None, conversion: str | None) -> tuple[str, str]:
    """The literal text and the f-string field behind it; ValueError where the field is no expression."""
    if field is None:
        return literal, ""
    field = field if "'" in field else field.replace('"', "'")
    unfit = any(mark in field + (spec or "") for mark in '"\\\n')  # Python before 3.12 has no such fields
    if unfit or conversion not in {None, "r", "s", "a"} or not is_expression(field.strip()):
        raise ValueError(field)
    end = (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
    return literal, "{" + field + end + "}"
