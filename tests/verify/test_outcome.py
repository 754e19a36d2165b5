"""What a verification comes to, for programs."""

from __future__ import annotations

import json
import math

import pytest

from nbddp.verify.compare import compare
from nbddp.verify.outcome import HEADLINES, STATUS, Outcome, number, optimizers
from tests.verify.test_compare import trace


@pytest.mark.parametrize(("verdict", "status"), [("same", 0), ("alike", 1), ("different", 2)])
def test_the_status_follows_from_the_verdict(verdict, status):
    outcome = Outcome("x", 2, verdict, "So.")
    assert (outcome.status, outcome.headline) == (status, HEADLINES[verdict])
    assert STATUS.keys() == HEADLINES.keys()


def test_for_programs_it_is_json_also_where_numbers_are_none():
    outcome = Outcome("x", 2, "different", "So.", compare(trace([1.0, 1.0]), trace([1.0, math.nan])))
    kept = json.loads(json.dumps(outcome.as_dict(), allow_nan=False))
    assert kept["largest difference"] is None
    assert [row["loss"] for row in kept["steps"]] == [[1.0, 1.0], [1.0, None]]
    assert (kept["verdict"], kept["status"]) == ("different", 2)


def test_numbers():
    assert number(1.5) == 1.5
    assert number(math.inf) is None


def test_optimizers_once_each():
    assert optimizers(compare(trace([1.0, 2.0]), trace([1.0, 2.0])).rows) == [(0, "SGD")]
    assert optimizers(()) == []
