"""Notebooks cut short: numbers of epochs wherever they are written, and nothing else."""

from __future__ import annotations

import pytest

from nbddp.notebook import notebook_from_percent
from tests.corpus.shorten import as_json


def shortened(text: str, removed: frozenset[tuple[int, int, int]] = frozenset()) -> str:
    made = as_json(notebook_from_percent(f"# %%\n{text}\n", "case.py"), removed)
    source: str = made["cells"][0]["source"]
    return source.rstrip("\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("num_epochs = 90", "num_epochs = 2"),
        ("EPOCHS, lr = 12, 0.1", "EPOCHS, lr = 2, 0.1"),
        ("config = {'epochs': 30, 'steps': 30}", "config = {'epochs': 2, 'steps': 30}"),
        ("args.n_epochs = 5", "args.n_epochs = 2"),
        ("train(model, epochs=100)", "train(model, epochs=2)"),
        ("def train(model, epochs=100): pass", "def train(model, epochs=2): pass"),
        ("for epoch in range(1, 31): pass", "for epoch in range(1, 2): pass"),
        ("for e in tqdm(range(40)): pass", "for e in tqdm(range(2)): pass"),
        ("%time fit(net, n_epochs=9)", "%time fit(net, n_epochs=2)"),
        ("epochs = 1", "epochs = 1"),
        ("batch_size = 64", "batch_size = 64"),
        ("for i in range(100): pass", "for i in range(100): pass"),
    ],
)
def test_numbers_of_epochs(text: str, expected: str) -> None:
    assert shortened(text) == expected


def test_a_statement_is_taken_out_and_the_lines_stay() -> None:
    assert shortened("a = 1\nb = f(\n  2)\nc = 3", frozenset({(1, 2, 0)})) == "a = 1\npass\n\nc = 3"
