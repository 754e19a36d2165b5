"""An expected curve in a file."""

from __future__ import annotations

import pytest

from nbddp.run.folder.errors import CannotVerify
from nbddp.verify.saved import load, save
from nbddp.verify.trace import Step, Trace

TRACE = Trace((Step(1, 0, "SGD", 0.5, (0.1, 0.2), 1.5, {"0:w": (1.0, 2.0)}, (((0,),),), ({},)),), (1,), ("loss 0.5",))
FACTS = {"steps asked": 3, "seed": 0}


def test_what_is_saved_is_loaded(tmp_path):
    save(tmp_path / "a", TRACE, FACTS)
    (step,) = load(tmp_path / "a", FACTS).steps
    (kept,) = TRACE.steps
    assert (step.loss, step.lr, step.gradient, step.weights) == (kept.loss, kept.lr, kept.gradient, kept.weights)


def test_made_in_another_way_it_is_refused(tmp_path):
    save(tmp_path / "a", TRACE, FACTS)
    with pytest.raises(CannotVerify, match="seed 0"):
        load(tmp_path / "a", {**FACTS, "seed": 1})


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 1, "steps": [{}]}', '{"format": 9}'])
def test_what_is_no_curve_is_refused(tmp_path, text):
    (tmp_path / "a").write_text(text)
    with pytest.raises(CannotVerify):
        load(tmp_path / "a", {})


def test_a_path_that_leads_nowhere_is_refused(tmp_path):
    with pytest.raises(CannotVerify):
        load(tmp_path / "nowhere", {})
    with pytest.raises(CannotVerify):
        save(tmp_path / "nowhere" / "a", TRACE, {})
