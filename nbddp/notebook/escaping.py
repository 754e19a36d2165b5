"""One special line, already found: its Python and its record. `lines` finds them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nbddp.notebook.model import Escape
from nbddp.notebook.translations import NOTHING, Translation, call, shell_output, statement, value


@dataclass(frozen=True)
class Replaced:
    """What becomes of one logical line."""

    end: int  # where the line ended in the text
    code: str | None  # None: it is Python and stays as it is
    escapes: tuple[Escape, ...] = ()
    needs: tuple[tuple[str, int], ...] = ()  # module, line


@dataclass(frozen=True)
class Special:
    """A special line without its indent: `%cd x` is lead "%" and raw "cd x"."""

    lead: str
    raw: str  # with the backslashes and newlines that continue it
    line: int
    indent: str
    end: int

    @property
    def text(self) -> str:
        """As IPython joins it: one line."""
        *continued, last = self.raw.split("\n")
        return " ".join([*(part.rstrip()[:-1] for part in continued), last.rstrip()]).strip()

    @property
    def word(self) -> str:
        return (self.text.split(None, 1) or [""])[0]

    @property
    def arguments(self) -> str:
        return self.text[len(self.word) :].strip()


def replaced_statement(special: Special) -> Replaced:
    """Python for a line that begins with one of IPython's escape characters."""
    new, kind, name = NOTHING, "line magic", special.word
    if special.lead in {"!", "!!"}:
        kind = "shell"
    elif special.lead in {"?", "??"}:
        kind, name = "help", special.text
    elif special.lead == "%":
        new = statement(name, special.arguments)
    elif special.text:
        new = call(special.lead, special.text)
    escape = Escape(special.line, kind, name or special.lead, special.text)
    return Replaced(special.end, special.indent + new.code, (escape,), _needs(new, special.line))


def replaced_value(special: Special, left: str) -> Replaced:
    """Python for `left %magic` and `left !cmd`, where `left` ends in an equals sign."""
    line = special.line + left.count("\n")
    if special.lead == "%":
        new, kind = value(special.word, special.arguments), "line magic"
    else:
        new, kind = shell_output(special.text), "shell"
    escape = Escape(line, kind, special.word, special.text, _target(left))
    return Replaced(special.end, f"{special.indent}{left.rstrip()} {new.code}", (escape,), _needs(new, line))


def _needs(new: Translation, line: int) -> tuple[tuple[str, int], ...]:
    return ((new.needs, line),) if new.needs else ()


def _target(left: str) -> str:
    name = left.rstrip().removesuffix("=").strip()
    annotated = re.match(r"([\w.]+)\s*:", name)
    return annotated[1] if annotated else name
