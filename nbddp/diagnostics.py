"""What nbddp has to say about a notebook: values with a place, a reason and a cure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from nbddp.documentation import page_of
from nbddp.sentence import NOTHING, Sentence, words_of

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Diagnostic:
    """One finding at one place of the notebook."""

    rule: str  # its name, by which the site has a page about it
    level: Level
    message: Sentence
    cell: int = 0  # 1-based position in the file; 0: the notebook as a whole
    line: int = 0  # 1-based line in the cell
    column: int = 0  # 1-based column in the line
    help: Sentence = NOTHING
    why: Sentence = NOTHING
    source: str = ""
    file: str = ""  # of a module beside the notebook, where the place is not in a cell

    def render(self) -> str:
        """The house form: what, where, the line itself, why it matters for DDP, what to do."""
        parts = [f"{self.level}[{self.rule}]: {self.message}"]
        if self.cell or self.file:
            where = self.file or f"cell {self.cell}"
            parts.append(f" --> {where}:{self.line}" if self.line else f" --> {where}")
        if self.source:
            parts.append(f"{self.line:>3} | {self.source}")
        if self.why:
            parts.append(f"why: {self.why}")
        if self.help:
            parts.append(f"help: {self.help}")
        return "\n".join(parts)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "page": page_of(self.rule)}

    def for_page(self) -> dict[str, Any]:
        """The same with the words of its texts, which a page says in its own language."""
        texts = {"message": self.message, "why": self.why, "help": self.help}
        return {**self.as_dict(), "words": {name: words_of(text) for name, text in texts.items() if text}}


def rendered(diagnostics: Iterable[Diagnostic]) -> Iterator[str]:
    """Each in the house form; the first of each name says where its page is."""
    seen: set[str] = set()
    for one in diagnostics:
        yield one.render() if one.rule in seen else f"{one.render()}\nmore: {page_of(one.rule)}"
        seen.add(one.rule)


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Each finding once, by place."""
    return tuple(sorted(dict.fromkeys(diagnostics), key=lambda d: (d.cell, d.file, d.line, d.column, d.rule)))


class CannotExport(ValueError):
    """The notebook has no script that would train the same; `diagnostics` say why, all at once."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = in_order(diagnostics)
        super().__init__("\n\n".join(rendered(self.diagnostics)))
