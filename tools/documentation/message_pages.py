"""A page for each name of a diagnostic: its cause and cure, each of its messages, and a notebook that gets it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from nbddp.rules import RULES
from tests.rules.case import Case, cases, files
from tools.documentation.diagnosed import Diagnosed, all_diagnosed
from tools.documentation.markdown import block, contents, page, plain, table
from tools.documentation.rule_pages import case_page

CAUSES = Path(__file__).parents[2] / "docs" / "_parts" / "causes.md"
LEVEL = {
    "error": "there is no script",
    "warning": "the script may train in another way than the notebook",
    "note": "worth knowing",
}


def causes() -> dict[str, str]:
    """Cause and cure of each name, as they are written by hand."""
    _, *parts = CAUSES.read_text(encoding="utf-8").split("\n## ")
    return {name: text.strip() for name, _, text in (part.partition("\n") for part in parts)}


def pages() -> Iterator[tuple[str, str]]:
    by_name: dict[str, list[Diagnosed]] = {}
    for one in all_diagnosed():
        by_name.setdefault(one.name, []).append(one)
    yield "messages/index", _index(by_name)
    for name, messages in by_name.items():
        yield f"messages/{name}", _of_name(name, messages)


def _index(by_name: dict[str, list[Diagnosed]]) -> str:
    about = (
        "Each message of `nbddp check`, of an export and of JupyterLab carries a name in brackets: `error[shard]`. The "
        "name is the page's. Errors, warnings and notes differ in what they mean for the script:"
    )
    rows = [
        (f"[{name}]({name}.md)", ", ".join(dict.fromkeys(w for m in found for w in m.levels)), plain(found[0].message))
        for name, found in sorted(by_name.items())
    ]
    levels = table(["level", "meaning"], LEVEL.items())
    return page(
        "Messages by name", about, levels, table(["name", "levels", "such as"], rows), contents(sorted(by_name))
    )


def _of_name(name: str, messages: list[Diagnosed]) -> str:
    rule = next((rule for rule in RULES if name == rule.NAME), None)
    link = f"The rule [{name}](../rules/{name}.md) writes this part of the script." if rule else ""
    return page(name, causes()[name], link, "## Its messages", *(_message(one) for one in messages))


def _message(one: Diagnosed) -> str:
    parts = [f"### {_shown(one.message)}", f"*{' or '.join(one.levels)}*"]
    parts += [f"Why: {_shown(why)}." for why in one.why]
    parts += [f"What to do: {_or(one.help)}."] if one.help else []
    example = _example(one)
    if example:
        file, case = example
        found = next(text for text in case.diagnostics.split("\n\n") if _matches(one, text))
        where = f"[{plain(case.heading)}](../rules/cases/{case_page(file)}.md)"
        parts += [f"An example, from {where}:", block(case.own, "ipython3"), block(found)]
    return "\n\n".join(parts)


def _shown(form: str) -> str:
    """With an ellipsis where a value is put in."""
    return plain(re.sub(r"%[1-9]", "…", form))


def _or(texts: tuple[str, ...]) -> str:
    return "; or, as the case may be: ".join(map(_shown, texts))


def _example(one: Diagnosed) -> tuple[Path, Case] | None:
    """The shortest."""
    fitting = [(file, case) for file, case in _cases() if _matches(one, case.diagnostics)]
    return min(fitting, key=lambda found: len(found[1].own), default=None)


@cache
def _cases() -> tuple[tuple[Path, Case], ...]:
    return tuple((file, case) for file in files() for case in cases(file) if case.diagnostics)


def _matches(one: Diagnosed, text: str) -> bool:
    form = re.sub(r"%[1-9]", ".+", re.escape(one.message))
    return re.search(rf"^\w+\[{one.name}\]: {form}$", text, re.MULTILINE) is not None
