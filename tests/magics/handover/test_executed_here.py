"""Loaders, and the plots at a cell's end, by the kernel itself."""

from __future__ import annotations

import pytest

from nbddp.export import export
from nbddp.magics.handover.executed_here import build_loaders, display
from tests.analysis.cells import DATA, IMPORTS, MODEL, TRAINING, notebook

PLOT = "fig, ax = plt.subplots()\nax.plot(losses)\nplt.show()"


class Figure:
    """Stands in for pyplot and its figures."""

    def __init__(self):
        self.drawn = []

    def subplots(self):
        return self, self

    def plot(self, numbers):
        self.drawn.append(list(numbers))

    def show(self):
        self.drawn.append("shown")


def plan(cell):
    return export(notebook(IMPORTS + "\nimport matplotlib.pyplot as plt", DATA, MODEL, cell)).plan


def test_a_plot_at_the_end_is_drawn():
    figure = Figure()
    names, why = display(plan(f"losses = []\n{TRAINING}\n{PLOT}"), {"plt": figure, "losses": [0.5]})
    assert (names, why) == ({"fig", "ax"}, "")
    assert figure.drawn == [[0.5], "shown"]


def test_nothing_is_drawn_of_what_did_not_come_back():
    figure = Figure()
    assert display(plan(f"losses = []\n{TRAINING}\n{PLOT}"), {"plt": figure}) == (set(), "")
    assert figure.drawn == []


def test_a_plot_that_fails_is_told_in_a_sentence():
    names, why = display(plan(f"losses = []\n{TRAINING}\n{PLOT}"), {"plt": Figure(), "losses": 1})
    assert names == {"fig", "ax"}
    assert why == "'ax.plot(losses)' failed in the kernel: TypeError: 'int' object is not iterable"


@pytest.mark.parametrize(
    ("made", "built"),
    [
        ("DataLoader(train_set, batch_size=4)", ["more"]),
        ("DataLoader(torch.utils.data.random_split(train_set, [1, 2])[0])", []),
        ("DataLoader(test_set, batch_size=4)", []),
        ("make(train_set)", []),
    ],
)
def test_loaders_that_no_random_number_and_no_function_makes(made, built):
    cell = f"def make(data):\n    return DataLoader(data)\nmore = {made}\n{TRAINING}\nfor x, y in more:\n    model(x)\n"
    namespace = {"DataLoader": lambda data, **_: ("loader", data), "train_set": 1, "torch": None}
    names = build_loaders(plan(cell), namespace, ["more"])
    assert names == built
    assert namespace.get("more") == (("loader", 1) if built else None)
