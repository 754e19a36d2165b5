"""Magic, shell and help lines found among Python; what looks like one inside a string or a bracket is Python."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from nbddp.notebook.escaping import Replaced, Special, replaced_statement, replaced_value
from nbddp.notebook.lexing import LogicalLine, logical_line
from nbddp.notebook.magicnames import KNOWN_MAGIC
from nbddp.notebook.model import Escape
from nbddp.notebook.translations import NOTHING, RUN_STATEMENT, without_options

_INDENT = re.compile(r"[ \t\f]*")
# The `% name` of old notebooks counts for known names only: `% b` may be the rest of a broken expression.
_LEAD = re.compile(
    rf"!!|!|\?\??|%%?(?=[^\W\d])|%[ \t]+(?=(?:{KNOWN_MAGIC})\b)|[,;/](?=[^\W\d])|;(?=[ \t]*$)", re.MULTILINE
)
_ASSIGNED = re.compile(r"[ \t]*(!!|!|%(?=[^\W\d]))")
_ASKED = re.compile(r"%{0,2}(?!\d)[\w*]+(?:\.(?!\d)[\w*]+|\[-?\d+\])*")
_CONVERTED = re.compile(
    r"(?P<left>(?:[\w.]+[ \t]*=[ \t]*)?)get_ipython\(\)\.(?P<method>run_line_magic|magic|system|getoutput)"
    r"\((?P<arguments>[^\n]*)\)[ \t]*(?=\n|$)"
)


@dataclass(frozen=True)
class Lines:
    """A text without special lines."""

    code: str
    escapes: tuple[Escape, ...] = ()
    needs: tuple[tuple[str, int], ...] = ()


def escape_lines(text: str, first_line: int = 1) -> Lines:
    """The text with every special line replaced by Python that takes as many lines."""
    pieces: list[str] = []
    escapes: list[Escape] = []
    needs: list[tuple[str, int]] = []
    at, line = 0, first_line
    while at < len(text):
        found = _beginning(text, at, line) or _within(text, logical_line(text, at), line)
        old = text[at : found.end]
        new = old if found.code is None else _as_long_as(old, found.code)
        pieces += [new, text[found.end : found.end + 1]]
        escapes += found.escapes
        needs += found.needs
        line += old.count("\n") + 1
        at = found.end + 1
    return Lines("".join(pieces), tuple(escapes), tuple(needs))


def _as_long_as(old: str, new: str) -> str:
    return new + "\n" * (old.count("\n") - new.count("\n"))


def _beginning(text: str, at: int, line: int) -> Replaced | None:
    """A line that its first characters make special; it ends where a shell would end it, not where Python would."""
    indent = _INDENT.match(text, at)[0]  # type: ignore[index]
    start = at + len(indent)
    if lead := _LEAD.match(text, start):
        end = _physical_end(text, start)
        return _statement(Special(lead[0].rstrip(), text[lead.end() : end], line, indent, end))
    converted = _CONVERTED.match(text, start)
    return _from_converted(converted, line, indent) if converted else None


def _within(text: str, logical: LogicalLine, line: int) -> Replaced:
    """A line of Python, or one that is special by what stands behind its `=` or at its end."""
    indent = _INDENT.match(text, logical.start)[0]  # type: ignore[index]
    if logical.assign is not None and (lead := _ASSIGNED.match(text, logical.assign)):
        end = _physical_end(text, lead.end())
        left = text[logical.start + len(indent) : logical.assign]
        return replaced_value(Special(lead[1], text[lead.end() : end], line, indent, end), left)
    return _help(text, logical, line, indent) or Replaced(logical.end, None)


def _statement(special: Special) -> Replaced | None:
    asked = _asked(special.text) if special.lead.startswith("%") else None
    if asked:
        escape = Escape(special.line, "help", asked, special.text)
        return Replaced(special.end, special.indent + NOTHING.code, (escape,))
    if special.lead == "%%":
        return None
    return _run(special) if special.lead == "%" and special.word in RUN_STATEMENT else replaced_statement(special)


def _run(special: Special) -> Replaced:
    """`%time x = f()` is `x = f()`; what it runs may itself be a magic."""
    code = without_options(special.word, special.raw[len(special.word) :].lstrip(" \t"))
    inner = escape_lines(code, special.line)
    escape = Escape(special.line, "line magic", special.word, special.text)
    return Replaced(special.end, special.indent + (inner.code or NOTHING.code), (escape, *inner.escapes), inner.needs)


def _help(text: str, logical: LogicalLine, line: int, indent: str) -> Replaced | None:
    """`name?` at the end of a line: IPython shows its help and runs nothing of that line."""
    written = text[logical.start : logical.end].strip()
    asked = _asked(written) if "\n" not in written else None
    if not asked:
        return None
    return Replaced(logical.end, indent + NOTHING.code, (Escape(line, "help", asked, written.rstrip("?")),))


def _asked(written: str) -> str | None:
    """The name before the ? that ends a line; in a comment or a string the ? asks nothing."""
    if not written.endswith("?") or re.search(r"[\"'#]", written):
        return None
    name: str = re.split(r"[^\w*.%\[\]-]", written.rstrip("?"))[-1]
    return name if _ASKED.fullmatch(name) else None


def _from_converted(match: re.Match[str], line: int, indent: str) -> Replaced | None:
    """`get_ipython().run_line_magic("cd", "x")`, as nbconvert writes `%cd x`, means the same."""
    try:
        arguments = ast.literal_eval(f"({match['arguments']},)")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    raw = " ".join(word for word in arguments if isinstance(word, str)).strip()
    if not raw or "\n" in raw or not all(isinstance(word, str) for word in arguments):
        return None
    lead = "!" if match["method"] in {"system", "getoutput"} else "%"
    special = Special(lead, raw, line, indent, match.end())
    return replaced_value(special, match["left"]) if match["left"] else _statement(special)


def _physical_end(text: str, start: int) -> int:
    """The end of a line that backslashes may continue; brackets and quotes mean nothing to a shell line."""
    end = text.find("\n", start)
    while end > 0 and text[end - 1] == "\\":
        end = text.find("\n", end + 1)
    return end if end >= 0 else len(text)
