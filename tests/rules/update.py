"""Write what the compiler says now into the cases' fences: `pytest tests/rules --update-cases`, then read the diff."""

from __future__ import annotations

import re
from pathlib import Path

from tests.rules.case import FENCE, Case, cases
from tests.rules.outcome import outcome


def update(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    head, *sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    by_heading = {case.heading: case for case in cases(file)}
    new = [_section(s, by_heading.get(s.partition("\n")[0].removeprefix("## ").strip())) for s in sections]
    updated = "".join([head, *new]).rstrip("\n") + "\n"
    if updated != text:
        file.write_text(updated, encoding="utf-8")


def _section(section: str, case: Case | None) -> str:
    """The heading, the sentence and the notebook as they are; behind them what comes of it."""
    if case is None:
        return section
    notebook = next(m for m in FENCE.finditer(section) if m["info"].startswith("python notebook"))
    found = outcome(case)
    parts = [section[: notebook.end()]]
    if found.script is not None:
        parts.append(f"```python script\n{found.script}```")
    if found.watched:
        parts.append(f"```watched\n{found.watched}```")
    if found.diagnostics:
        parts.append(f"```diagnostics\n{found.diagnostics}```")
    return "\n\n".join(parts) + "\n\n"
