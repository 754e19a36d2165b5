"""Losses by every dimension and order of the samples, what a model makes of them, and what a step does besides.

Each is right or reported.

With `--exact` they are right.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.spellings.judge import REPORTS, outcome
from tests.spellings.program import by_slices
from tests.spellings.steps import forwards, handed
from tests.spellings.steps.besides import STEPS, UNEQUAL
from tests.spellings.steps.choices import CHOICES, STATE
from tests.spellings.steps.jumps import JUMPS
from tests.spellings.steps.losses import LOSSES, MOVED
from tests.spellings.steps.notebook import notebook

RULES = (*REPORTS, "loss")


def wrong(folder: Path, text: str) -> str:
    found = outcome(text, (1, 2, 3), folder, cell=2, rules=RULES)
    return found.why if found.verdict == "WRONG" else ""


def exactly(folder: Path, text: str) -> str:
    """Of batches of six, four ranks have unequal shares."""
    return outcome(text, (4,), folder, cell=2, rules=RULES).verdict


@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss(loss: str, tmp_path: Path) -> None:
    assert not wrong(tmp_path, notebook("", f"loss = {loss}", "", "", ""))


@pytest.mark.parametrize("samples", MOVED)
def test_samples_that_are_moved(samples: str, tmp_path: Path) -> None:
    assert not wrong(tmp_path, notebook("", f"loss = criterion(model({samples}), b)", "", "", ""))


@pytest.mark.parametrize(("before", "grad", "each", "shown"), STEPS)
def test_what_a_step_does_besides(before: str, grad: str, each: str, shown: str, tmp_path: Path) -> None:
    assert not wrong(tmp_path, notebook(before, "", grad, each, shown))


@pytest.mark.parametrize(("before", "grad", "each", "shown"), UNEQUAL)
def test_unequal_shares(before: str, grad: str, each: str, shown: str, tmp_path: Path) -> None:
    assert not wrong(tmp_path, by_slices(notebook(before, "", grad, each, shown)))


@pytest.mark.parametrize(("chooses", "keeps"), CHOICES)
def test_what_a_rank_has_seen_chooses(chooses: str, keeps: str, tmp_path: Path) -> None:
    assert not wrong(tmp_path, notebook(STATE, chooses, "", keeps, "loss.item()"))
    assert not wrong(tmp_path, by_slices(notebook(STATE, chooses, "", keeps, "loss.item()")))


@pytest.mark.parametrize(("chooses", "keeps"), CHOICES)
def test_what_a_rank_has_seen_chooses_exactly(chooses: str, keeps: str, tmp_path: Path) -> None:
    assert exactly(tmp_path, notebook(STATE, chooses, "", keeps, "loss.item()", "--exact")) == "equal"


@pytest.mark.parametrize(("before", "each", "shown"), JUMPS)
def test_what_is_set_before_a_jump(before: str, each: str, shown: str, tmp_path: Path) -> None:
    assert not wrong(tmp_path, notebook(before, "", "", each, shown))
    assert not wrong(tmp_path, by_slices(notebook(before, "", "", each, shown)))
    assert exactly(tmp_path, notebook(before, "", "", each, shown, "--exact")) == "equal"


@pytest.mark.parametrize(("fields", "forward"), forwards.FORWARDS)
def test_what_a_model_makes_of_its_batch(fields: str, forward: str, tmp_path: Path) -> None:
    check_model(tmp_path, fields, forward)


@pytest.mark.parametrize("behind", forwards.BEHIND)
def test_what_takes_the_place_of_a_forward(behind: str, tmp_path: Path) -> None:
    check_model(tmp_path, behind=behind)


@pytest.mark.parametrize("step", forwards.BACKWARDS)
def test_a_custom_function(step: tuple[str, str], tmp_path: Path) -> None:
    check_model(tmp_path, forward="h = Step.apply(h)", step=step)


def check_model(folder: Path, *parts: str, **named: Any) -> None:
    plain, exact = (forwards.notebook(*parts, **named, options=options) for options in ("", "--exact"))
    for text, world in ((plain, 2), (by_slices(plain), 3), (exact, 4)):
        found = outcome(text, (world,), folder, cell=2, rules=RULES)
        assert found.verdict not in (("WRONG", "refused") if text is exact else ("WRONG",)), found.why


@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_exactly(loss: str, tmp_path: Path) -> None:
    assert exactly(tmp_path, notebook("", f"loss = {loss}", "", "", "", "--exact")) == "equal"


@pytest.mark.parametrize(("before", "grad", "each", "shown"), [*STEPS, *UNEQUAL])
def test_what_a_step_does_besides_exactly(before: str, grad: str, each: str, shown: str, tmp_path: Path) -> None:
    assert exactly(tmp_path, notebook(before, "", grad, each, shown, "--exact")) == "equal"


@pytest.mark.parametrize(("given", "kept", "later", "back"), handed.EACH)
def test_what_a_step_hands_on(given: str, kept: str, later: str, back: str, tmp_path: Path) -> None:
    assert not wrong(tmp_path, handed.notebook(given, kept, later, back))


@pytest.mark.thorough
@pytest.mark.parametrize(("given", "kept", "later", "back"), handed.EVERY)
def test_what_a_step_hands_on_in_every_way(given: str, kept: str, later: str, back: str, tmp_path: Path) -> None:
    assert not wrong(tmp_path, handed.notebook(given, kept, later, back))
    assert exactly(tmp_path, handed.notebook(given, kept, later, back, "--exact")) == "equal"
