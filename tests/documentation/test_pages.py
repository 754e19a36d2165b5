"""Nothing is missing from the reference, from the messages, from the rules; and no page is written twice."""

from __future__ import annotations

import inspect
from functools import cache

import pytest

import nbddp
from nbddp.cli import VERBS
from nbddp.magics.commands.line import VERB_NAMES
from nbddp.notebook.marks import MODES
from nbddp.rules import RULES
from nbddp.run.state.fold import FOLDS
from nbddp.widget.live import GRADES
from nbddp.widget.view import LABELS
from tests.rules.case import cases, files
from tools import documentation
from tools.documentation.diagnosed import all_diagnosed
from tools.documentation.markdown import plain
from tools.documentation.message_pages import causes
from tools.documentation.reference import of_magic, of_verb
from tools.documentation.rule_pages import case_page, document

pytestmark = pytest.mark.xdist_group("documentation")


@cache
def made() -> dict[str, str]:
    """Once, and not when tests are only looked for."""
    return dict(documentation.made())


def test_each_page_is_made_once():
    assert len(made()) == len(list(documentation.made()))


def test_what_is_written_goes_with_what_it_was_made_of(tmp_path):
    old = tmp_path / "messages" / "of-old.md"
    old.parent.mkdir()
    old.write_text("# of old\n")
    documentation.write(tmp_path)
    assert not old.exists()
    page = tmp_path / "messages" / "shard.md"
    before = page.stat().st_mtime_ns
    documentation.write(tmp_path)
    assert page.stat().st_mtime_ns == before


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.NAME)
def test_a_rule_has_its_document_and_its_cases(rule):
    page, parts = made()[f"rules/{rule.NAME}.md"], document(rule)
    for heading in ("What it does", "Why DDP needs it", "Declines"):
        assert " ".join(parts[heading].split("\n")) in page
    diff = page.partition("```diff\n")[2].partition("\n```")[0].split("\n")
    assert [line[2:] for line in diff if not line.startswith("+")] == parts["Before"].split("\n")
    assert [line[2:] for line in diff if not line.startswith("-")] == parts["After"].split("\n")
    assert "(cases/" in page


@pytest.mark.parametrize("file", files(), ids=lambda file: file.stem)
def test_a_page_has_every_case(file):
    page = made()[f"rules/cases/{case_page(file)}.md"]
    for case in cases(file):
        assert f"## {plain(case.heading)}\n" in page
        assert case.own in page
        assert case.diagnostics in page


def test_each_name_of_a_diagnostic_has_a_page_with_cause_and_cure():
    names = {one.name for one in all_diagnosed()}
    assert set(causes()) == names
    for name in names:
        page = made()[f"messages/{name}.md"]
        assert "**Cause.**" in page
        assert "**Cure.**" in page
        assert f"({name}.md)" in made()["messages/index.md"]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_a_command_has_all_its_options(verb):
    text = made()["_made/commands.md"].partition(f"## nbddp {verb.name}\n")[2].partition("\n## ")[0]
    for action in of_verb(verb.name)._actions:
        assert all(f"`{option}" in text for option in action.option_strings)
        assert plain((action.help or "").partition("%")[0]) in text


@pytest.mark.parametrize("name", MODES)
def test_a_magic_has_all_its_options_and_examples(name):
    text = made()["_made/magics.md"].partition(f"## %%{name}\n")[2].partition("\n## ")[0]
    parser = of_magic(name)
    assert all(f"`{option}" in text for option in parser.options)
    assert all(line in text for line in parser.examples)


def test_the_line_magic_has_all_its_verbs():
    assert all(f"`%ddp {name}`" in made()["_made/ddp.md"] for name in VERB_NAMES)


def test_what_the_package_offers_is_there():
    for name in (name for name in nbddp.__all__ if not name.startswith("_")):
        assert f"## {name}\n" in made()["_made/python.md"]


def test_every_event_is_there_and_says_what_it_means():
    for name, fold in FOLDS.items():
        row = next(line for line in made()["_made/events.md"].split("\n") if line.startswith(f"| `{name}` |"))
        assert plain((inspect.getdoc(fold) or "nothing").split("\n")[0]) in row


def test_fields_of_an_event_are_followed_into_what_gets_it():
    row = next(line for line in made()["_made/events.md"].split("\n") if line.startswith("| `step` |"))
    assert {"`step`", "`batches`", "`values`", "`memory`"} <= set(row.replace("|", ",").replace(" ", "").split(","))


def test_states_and_grades_of_a_run_are_there():
    assert all(f"`{phase}`" in made()["_made/phases.md"] for phase in LABELS)
    assert all(f"`{grade}`" in made()["_made/stops.md"] for grade in GRADES)


def test_every_example_is_there_with_its_script():
    notebooks = {name for name in made() if name.endswith(".ipynb")}
    scripts = {name for name in made() if name.endswith("_ddp.md")}
    assert {name.removesuffix(".ipynb") for name in notebooks} == {name.removesuffix("_ddp.md") for name in scripts}
    assert "examples/quickstart.ipynb" in notebooks
