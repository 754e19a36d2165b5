"""The rules as pages: their documents, and the cases of tests/rules, each as it stands there."""

from __future__ import annotations

import difflib
import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from nbddp.rules import RULES
from tests.rules.case import Case, cases, files_of
from tools.documentation.markdown import block, code, contents, page, plain

UNSEARCHED = "---\nnosearch: true\n---\n\n"  # a search is for what explains, and thousand cases would hide it


def document(rule: ModuleType) -> dict[str, str]:
    """The text under each heading."""
    blocks = [part.partition("\n") for part in inspect.cleandoc(rule.__doc__ or "").split("\n\n")]
    return {heading: textwrap.dedent(text) for heading, _, text in blocks}


def change(rule: ModuleType) -> str:
    """Before and after as one diff."""
    parts = document(rule)
    before, after = parts["Before"].split("\n"), parts["After"].split("\n")
    if before == after:  # what it does is seen in no line
        return block("\n".join(f"  {line}" for line in before), "diff")
    lines = difflib.unified_diff(before, after, n=len(before), lineterm="")
    return block("\n".join(f"{line[0]} {line[1:]}".rstrip() for line in list(lines)[3:]), "diff")


def pages() -> Iterator[tuple[str, str]]:
    """Name and text of each page."""
    yield "rules/index", _index()
    for rule in RULES:
        files = files_of(_module_name(rule))
        yield f"rules/{rule.NAME}", _of_rule(rule, files)
        for file in files:
            yield f"rules/cases/{case_page(file)}", _of_cases(rule, file)


def case_page(file: Path) -> str:
    """Its name below rules/cases."""
    folder = "" if file.parent.name == "rules" else f"{file.parent.name}-"
    return f"{folder}{file.stem}".replace("_", "-")


def _module_name(rule: ModuleType) -> str:
    return rule.__name__.rpartition(".")[2]


def _index() -> str:
    parts = []
    for rule in RULES:
        parts += [f"## [{rule.NAME}]({rule.NAME}.md)", _flowing(document(rule)["What it does"]), change(rule)]
    about = (
        "nbddp changes only what a notebook needs; every other line stays the same. Each rule makes one kind of "
        "change. `nbddp rules sampler` prints the same on the command line."
    )
    return page("The rules", about, *parts, contents(rule.NAME for rule in RULES))


def _of_rule(rule: ModuleType, files: list[Path]) -> str:
    parts = document(rule)
    shown = [f"- [{_title(rule, file)}](cases/{case_page(file)}.md): {_count(file)}" for file in files]
    return page(
        rule.NAME,
        _flowing(parts["What it does"]),
        f"## Why DDP needs it\n\n{_flowing(parts['Why DDP needs it'])}",
        f"## Before and after\n\n{change(rule)}",
        f"## What it leaves alone or refuses\n\n{_flowing(parts['Declines'])}",
        "## Cases\n\nEach is a test: the cells of a notebook, and what becomes of them.",
        "\n".join(shown),
        contents(f"cases/{case_page(file)}" for file in files),
    )


def _title(rule: ModuleType, file: Path) -> str:
    return f"{rule.NAME}: {file.stem.replace('_', ' ')}" if file.parent.name != "rules" else f"{rule.NAME}: cases"


def _count(file: Path) -> str:
    many = sum(1 for _ in cases(file))
    return f"{many} cases" if many > 1 else "1 case"


def _of_cases(rule: ModuleType, file: Path) -> str:
    head = file.read_text(encoding="utf-8").split("```python around\n")
    around = [head[1].partition("```")[0]] if len(head) > 1 else []
    begin = [f"Each case shows the cells that differ from this notebook.\n\n{block(around[0], 'ipython3')}"] * len(
        around
    )
    back = f"Cases of the rule [{rule.NAME}](../{rule.NAME}.md)."
    return UNSEARCHED + page(_title(rule, file), back, *begin, *(shown(case, 2) for case in cases(file)))


def shown(case: Case, level: int) -> str:
    """A case under a heading."""
    options = f"With {code(' '.join(case.options))}." if case.options else ""
    parts = [f"{'#' * level} {plain(case.heading)}", case.why, options, block(case.own, "ipython3")]
    if case.script:
        parts += ["becomes", block(case.script, "python")]
    if case.diagnostics:
        parts += ["nbddp reports", block(case.diagnostics)]
    return "\n\n".join(part for part in parts if part)


def _flowing(text: str) -> str:
    return " ".join(text.split("\n"))
