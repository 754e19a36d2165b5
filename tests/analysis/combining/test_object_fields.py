"""What objects of the notebook collect in a training loop."""

from __future__ import annotations

import pytest

from nbddp.analysis import Plan
from tests.analysis.cells import BEFORE, batch, plan

TRAINER = """
class Trainer:
    def __init__(self):
        self.losses = []
        self.history = {"loss": [], "size": []}

    def last(self):
        return self.losses[-1]

trainer = Trainer()
"""


def combined(*lines: str) -> dict[str, list[tuple[str, str]]]:
    made: Plan = plan(*BEFORE, TRAINER, batch(*lines) + "print(trainer.losses)\n")
    return {name: [(made.program.source(node), how) for node, how in parts]
            for (_, name), parts in made.facts.at_source.items() if parts}  # fmt: skip


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("trainer.losses.append(loss.item())", {"trainer.losses": [("loss.item()", "mean_over_ranks")]}),
        ("trainer.losses.append((epoch, len(x)))", {"trainer.losses": [("len(x)", "sum_over_ranks")]}),
        ("trainer.history['loss'].append(loss.item())", {"trainer.history": [("loss.item()", "mean_over_ranks")]}),
    ],
)
def test_it_is_combined_as_it_goes_in(line, found):
    assert combined(line) == found


@pytest.mark.parametrize(
    "lines",
    [
        ("trainer.losses.append(epoch)",),
        ("if x.max() > 1:", "    trainer.losses.append(loss.item())"),
        ("trainer.losses.append(max(v.max().item() for v in x))",),
        ("trainer.losses.append(len(x))", "n = trainer.last()"),  # which would find the whole
        ("trainer.losses.append(loss.item())", "n = trainer.losses[-1]"),
    ],
)
def test_what_is_alike_not_understood_or_read_on_the_way_is_left_alone(lines):
    assert combined(*lines) == {}
