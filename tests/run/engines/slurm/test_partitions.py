"""Partitions as SLURM prints them."""

from __future__ import annotations

import pytest

from nbddp.run.engines.slurm.partitions import Partition, gpus_in, read_partitions


def test_partitions_with_several_kinds_of_nodes():
    text = "low*|2|4|(null)\nhigh|3|64+|gpu:a100:4(S:0-1)\nhigh|1|96|gpu:h100:8(S:0-1)\nrubbish\n"
    assert read_partitions(text) == {
        "low": Partition("low", 2, 4, 0, default=True),
        "high": Partition("high", 4, 96, 8),
    }


@pytest.mark.parametrize(
    ("gres", "count"),
    [
        ("(null)", 0),
        ("gpu:4", 4),
        ("gpu:a100:4(S:0-1)", 4),
        ("gpu:1g.5gb:7", 7),
        ("gpu:a:2,gpu:b:2", 4),
        ("craynet:4", 0),
    ],
)
def test_gpus_of_a_node(gres, count):
    assert gpus_in(gres) == count
