"""A comparison that cannot tell two trainings apart would make every notebook's test worthless."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from tests.e2e.alike import alike
from tests.e2e.compare import compare
from tests.e2e.expectation import Expectation
from tests.e2e.outcome import Outcome

STATE = {"weight": torch.linspace(-1, 1, 64).reshape(8, 8), "bias": torch.arange(8.0)}
ONE = Outcome(
    states={"model": STATE},
    files={"m.pt": STATE},
    values={"losses": {"[0]": torch.tensor(0.5), "[1]": torch.tensor(0.25)}},
    lines=("Epoch 1: loss 0.5000 right 21", "Epoch 2: loss 0.2500 right 20"),
    log="",
    seconds=1.0,
)
LOSSES = Expectation(values=("losses",))


def planted(weight: float) -> dict[str, torch.Tensor]:
    changed = STATE["weight"].clone()
    changed[3, 3] += weight
    return {**STATE, "weight": changed}


def test_the_same_outcome_agrees() -> None:
    assert compare(ONE, ONE, wanted=LOSSES) == []
    assert alike(ONE, ONE, Expectation(tolerance=0.1)) == []


def test_rounding_is_no_difference() -> None:
    run = replace(ONE, states={"model": planted(1e-7)}, lines=("Epoch 1: loss 0.5001 right 21", ONE.lines[1]))
    assert compare(ONE, run) == []


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (replace(ONE, states={"model": planted(1e-3)}), "model model: weight deviates by up to 0.001"),
        (replace(ONE, files={"m.pt": planted(1e-3)}), "file m.pt: weight deviates"),
        (replace(ONE, files={}), "file m.pt was not written"),
        (replace(ONE, states={}), "no model in the result"),
        (replace(ONE, states={"model": {"weight": STATE["weight"]}}), "bias is missing"),
        (replace(ONE, states={"model": {**STATE, "bias": torch.zeros(4)}}), "has shape"),
        (replace(ONE, values={}), "value losses: did not come back"),
        (replace(ONE, values={"losses": {"[0]": torch.tensor(0.5)}}), "[1] is missing"),
        (replace(ONE, lines=ONE.lines[:1]), "1 lines of metrics, the oracle printed 2"),
        (replace(ONE, lines=(ONE.lines[0], "Epoch 2: loss 0.2500 right 22")), "right 22"),
        (replace(ONE, lines=(ONE.lines[0], "Epoch 2: loss 0.2511 right 20")), "0.2511"),
        (replace(ONE, lines=(ONE.lines[0], "Epoch 2: cost 0.2500 right 20")), "cost"),
    ],
)
def test_a_planted_difference_is_named(run: Outcome, said: str) -> None:
    found = compare(ONE, run, wanted=LOSSES)
    assert len(found) >= 1
    assert said in "\n".join(found)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (replace(ONE, states={"model": {**STATE, "weight": STATE["weight"] * 3}}), "has norm"),
        (replace(ONE, states={"model": planted(float("nan"))}), "is not finite"),
        (replace(ONE, files={}), "was not written"),
        (replace(ONE, lines=(ONE.lines[0], "Epoch 2: loss 0.7500 right 20")), "more than 10% apart"),
        (replace(ONE, lines=(ONE.lines[0], "Epoch 2: loss nan right 20")), "more than 10% apart"),
    ],
)
def test_a_run_of_its_own_random_numbers_may_not_differ_in_kind(run: Outcome, said: str) -> None:
    assert said in "\n".join(alike(ONE, run, Expectation(tolerance=0.1)))


def test_a_run_of_its_own_random_numbers_may_differ_a_little() -> None:
    run = replace(ONE, states={"model": planted(0.1)}, lines=(ONE.lines[0], "Epoch 2: loss 0.2700 right 21"))
    assert alike(ONE, run, replace(LOSSES, tolerance=0.1, saves=())) == []
