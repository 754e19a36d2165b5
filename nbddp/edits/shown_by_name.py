"""`f"{loss=:.4f}"` shows its own source: what is written for `loss` must not show up in the text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from nbddp.analysis.syntax import Program
from nbddp.edits.edit import Edit

BEHIND = re.compile(r"[\s)]*=\s*(?=[:!}])")


def shown_by_name(program: Program, edits: Sequence[Edit]) -> Iterator[Edit]:
    """`f"loss={sum_over_ranks(loss):.4f}"`: the name stands before what is shown."""
    for field in (n for n in program.nodes if isinstance(n, ast.FormattedValue)):
        start, end = program.span(field.value)
        if (last := BEHIND.match(program.text, end)) is None:
            continue
        if any(start <= e.start and e.end <= end and e.watch is None for e in edits):
            brace, sign = program.text.rindex("{", 0, start), program.text.index("=", end)
            shown = program.text[brace + 1 : last.end()].replace("{", "{{").replace("}", "}}")
            yield Edit("text", brace, brace, shown)
            yield Edit("text", sign, last.end(), "!r" if program.text[last.end()] == "}" else "")
