from types import ModuleType

import pytest

from nbddp.cli import main


@pytest.fixture(autouse=True)
def two_rules(monkeypatch):
    sampler = ModuleType("nbddp.rules.sampler", "Deal the training set out.\n\nBefore\n    DataLoader(x)\n")
    batch = ModuleType("nbddp.rules.batch_size", "Share the batch.\n")
    monkeypatch.setattr("nbddp.cli.rules.RULES", (sampler, batch))


def test_the_catalogue_has_a_line_for_each_in_their_order(capsys):
    assert main(["rules"]) == 0
    assert capsys.readouterr().out == "sampler     Deal the training set out.\nbatch_size  Share the batch.\n"


def test_a_name_shows_the_whole_document(capsys):
    assert main(["rules", "sampler"]) == 0
    assert capsys.readouterr().out == "Deal the training set out.\n\nBefore\n    DataLoader(x)\n"


def test_headings_stand_out_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    main(["rules", "sampler"])
    assert "\n\x1b[1mBefore\x1b[0m\n" in capsys.readouterr().out


def test_a_slip_gets_the_nearest_name(capsys):
    assert main(["rules", "smapler"]) == 2
    assert capsys.readouterr().err == (
        "nbddp: rules: no rule 'smapler' (did you mean 'sampler'?); `nbddp rules` lists them\n"
    )
