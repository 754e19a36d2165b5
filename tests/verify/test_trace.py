"""What the processes have written down, put together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nbddp.run.folder.folders import create
from nbddp.verify.trace import Trace, read


@pytest.fixture
def folder(tmp_path):
    return create(tmp_path, "x")


def record(step: int, rank: int, **more: Any) -> dict[str, Any]:
    kept = {"step": step, "optimizer": 0, "kind": "SGD", "losses": [1.0 + rank], "lr": [0.1], "gradient": 2.0}
    return {**kept, "weights": {"0:w": [1.0]}, "batches": [[2 * rank, 2 * rank + 1]], "loop": 7, "passed": None, **more}


def write(folder, rank: int, *records: dict[str, Any], cut: str = "") -> None:
    (folder.path / f"trace{rank}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records) + cut)


def test_the_loss_of_a_step_is_the_mean_over_the_ranks(folder):
    for rank in (0, 1):
        write(folder, rank, record(1, rank), record(2, rank, losses=[1.0, 2.0]))
    trace = read(folder, 2)
    assert trace.losses == [1.5, 3.0]
    assert trace.taken == (2, 2)
    assert trace.steps[0].batches == (((0, 1), (2, 3)),)


def test_a_rank_that_has_come_less_far_and_a_line_that_was_cut(folder):
    write(folder, 0, record(1, 0), record(2, 0), cut='{"step"')
    write(folder, 1, record(1, 1))
    trace = read(folder, 2)
    assert (len(trace.steps), trace.taken) == (1, (2, 1))
    assert read(folder, 3).taken == (2, 1, 0)


def test_batches_of_all_ranks_in_the_order_of_one_process(folder):
    for rank in (0, 1):
        write(folder, rank, record(1, rank, batches=[[rank, 2 + rank]]), record(2, rank, batches=[[4 + rank]], loop=8))
    assert read(folder, 2).drawn == [[[0, 1, 2, 3]], [[4, 5]]]


def test_orders_of_passes_once_each(folder):
    write(
        folder,
        0,
        record(1, 0, passed=[7, 100, 3, 0]),
        record(2, 0, passed=[7, 100, 3, 0]),
        record(3, 0, passed=[8, 100, 3, 1]),
    )
    assert read(folder, 1).orders == {"100": [[3, 0], [3, 1]]}
    assert Trace((), (), ()).orders == {}


def test_lines_that_say_a_number_count(folder):
    folder.log(0).write_text("loss 0.5\nhello\n\x1b[1mepoch 2\x1b[0m\n")
    assert read(folder, 1).lines == ("loss 0.5", "epoch 2")
