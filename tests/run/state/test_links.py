"""Addresses of trackers, as they print them; no other address is one."""

from __future__ import annotations

import pytest

from nbddp.run.state.fold import fold_all
from nbddp.run.state.links import MOST, link_in
from nbddp.run.state.state import RunState

PRINTED = {
    "wandb: 🚀 View run at https://wandb.ai/me/digits/runs/ab12cd": ("wandb", "https://wandb.ai/me/digits/runs/ab12cd"),
    "\x1b[34m\x1b[1mwandb\x1b[0m: View project at \x1b[34mhttps://wandb.ai/me\x1b[0m": ("wandb", "https://wandb.ai/me"),
    "🏃 View run sly-fox at: http://localhost:5000/#/experiments/0/runs/9f": (
        "mlflow",
        "http://localhost:5000/#/experiments/0/runs/9f",
    ),
    "COMET INFO: Experiment is live on comet.com https://www.comet.com/me/digits/12.": (
        "comet",
        "https://www.comet.com/me/digits/12",
    ),
}


def line(text: str, rank: int = 0) -> dict[str, object]:
    return {"event": "line", "time": None, "rank": rank, "text": text}


@pytest.mark.parametrize(("text", "link"), PRINTED.items())
def test_what_a_tracker_prints(text, link):
    (address,) = fold_all(RunState(), [line(text), line(text)]).links.items()
    assert address[::-1] == link


@pytest.mark.parametrize(
    "text", ["Downloading https://example.com/mnist.gz", "wandb: offline", "x" * 5000 + " wandb https://wandb.ai"]
)
def test_what_is_no_tracker_of_this_run(text):
    assert link_in(text) is None


def test_there_is_an_end_to_them_and_other_ranks_are_not_asked():
    many = [line(f"wandb: https://wandb.ai/{n}") for n in range(99)]
    assert len(fold_all(RunState(), many).links) == MOST
    assert not fold_all(RunState(), [line("wandb: https://wandb.ai/1", rank=1)]).links
