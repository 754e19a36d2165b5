"""Which node may have died."""

from __future__ import annotations

import pytest

from nbddp.run.engines.slurm.nodes import BAD, unheard_nodes
from nbddp.run.folder.folders import create
from nbddp.run.log.hearing import Hearing


@pytest.fixture
def hearing(tmp_path):
    heard = Hearing(create(tmp_path, "run"))
    heard.met = {0: "n1", 1: "n1", 2: "n2", 3: "n2"}
    return heard


def test_one_whose_ranks_have_said_nothing(hearing):
    hearing.told = {0, 1}
    assert unheard_nodes(hearing, []) == {"n2"}


def test_not_one_of_which_srun_has_said_how_its_rank_ended(hearing):
    hearing.told = {0, 1}
    assert unheard_nodes(hearing, ["srun: error: n2: task 2: Killed"]) == frozenset()


def test_not_one_whose_ranks_have_ended(hearing):
    hearing.told, hearing.ended = {0, 1, 2}, {3}
    assert unheard_nodes(hearing, []) == frozenset()


@pytest.mark.parametrize(
    ("state", "bad"), [("allocated", False), ("mixed", False), ("allocated*", True), ("down", True), ("idle", False)]
)
def test_what_slurm_says_of_a_node(state, bad):
    assert bool(BAD.search(state)) is bad
