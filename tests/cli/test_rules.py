import inspect

import pytest

from nbddp.cli import main
from nbddp.rules import RULES


def said(capsys, *words):
    status = main(["rules", *words])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_catalogue_has_a_line_for_each_rule_in_their_order(capsys):
    status, out, err = said(capsys)
    assert (status, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == [rule.NAME for rule in RULES]


def test_a_line_says_what_the_rule_does(capsys):
    line = next(line for line in said(capsys)[1].splitlines() if line.startswith("sampler "))
    assert line.split(maxsplit=1)[1].startswith("Gives each training loader a `DistributedSampler`")
    assert not line.endswith(".")


def test_a_line_is_a_line(capsys):
    lines = said(capsys)[1].splitlines()
    assert all(len(line) <= 120 for line in lines)
    assert any(line.endswith(" …") for line in lines)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.NAME)
def test_a_name_shows_the_whole_document(capsys, rule):
    assert said(capsys, rule.NAME) == (0, inspect.cleandoc(rule.__doc__) + "\n", "")
    headings = [line for line in inspect.cleandoc(rule.__doc__).split("\n") if line and not line.startswith(" ")]
    assert headings == ["What it does", "Why DDP needs it", "Before", "After", "Declines"]


def test_the_name_of_the_file_will_do(capsys):
    assert said(capsys, "batch_size") == said(capsys, "batch-size")


def test_headings_stand_out_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = said(capsys, "sampler")[1]
    assert "\n\x1b[1mBefore\x1b[0m\n    train_loader" in out


def test_a_slip_gets_the_nearest_name(capsys):
    sentence = "nbddp: rules: no rule 'smapler' (did you mean 'sampler'?); `nbddp rules` lists them\n"
    assert said(capsys, "smapler") == (2, "", sentence)
