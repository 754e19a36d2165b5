"""What a loader's data set counts, and what its function puts together, is of the samples that a rank has."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis import Plan
from nbddp.analysis.values import Extent, spread
from tests.analysis.cells import IMPORTS, MODEL, node, plan

DATA = """
from torch.utils.data import Dataset
class Items(Dataset):
    def __init__(self):
        self.reads, self.cache = 0, {}
    def __len__(self):
        return 40
    def __getitem__(self, i):
        self.reads += 1
        self.cache[i] = i
        return torch.ones(8), i % 2
class Collate:
    def __init__(self):
        self.seen = 0
    def __call__(self, rows):
        self.seen += len(rows)
        columns = list(zip(*rows))
        xs, ys = torch.stack(columns[0]), columns[1]
        return MADE, torch.tensor(ys)
class Batch:
    def __init__(self, rows):
        xs, ys = zip(*rows)
        xs = torch.stack(xs)
        self.x, self.y = MADE, torch.tensor(ys)
    def __iter__(self):
        return iter((self.x, self.y))
items, collate = Items(), Collate()
loader = DataLoader(DATA_SET, batch_size=10, collate_fn=COLLATE)
"""
TRAINING = """
for x, y in loader:
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
print(SHOWN)
"""


OF_TENSORS = "TensorDataset(torch.ones(40, 8), torch.ones(40))"


def made_of(batch: str = "xs", data: str = OF_TENSORS, shown: str = "", collate: str = "collate") -> Plan:
    text = DATA.replace("MADE", batch).replace("DATA_SET", data).replace("COLLATE", collate)
    return plan(IMPORTS, text, MODEL, TRAINING.replace("SHOWN", shown))


def test_what_is_counted_as_a_batch_is_put_together() -> None:
    made = made_of(shown="collate.seen")
    assert spread(made.facts.value(node(made, ast.Attribute, "collate.seen"))) is Extent.SUM  # each rank's adds up
    assert not made.assumed.alike


@pytest.mark.parametrize(("shown", "whole"), [("items.reads", True), ("len(items.cache)", True), ("len(items)", False)])
def test_a_data_set_that_counts_its_items_is_read_by_each_rank(shown: str, whole: bool) -> None:
    assert bool(made_of(data="items", shown=shown).assumed.alike) is whole


@pytest.mark.parametrize("collate", ["collate", "Batch", "lambda rows: Batch(rows)"])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("xs", False),
        ("xs / 2", False),
        ("xs - xs.mean(0)", True),
        ("xs / xs.std()", True),
        ("xs - xs.mean(1)[:, None]", False),
    ],
)
def test_a_statistic_on_the_way(text: str, told: bool, collate: str) -> None:
    assert bool(made_of(text, collate=collate).facts.against_statistic) is told
