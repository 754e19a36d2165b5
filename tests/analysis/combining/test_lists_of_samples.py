"""Lists that are filled with an item for each sample of a batch, or with fewer."""

from __future__ import annotations

import pytest

from tests.analysis.cells import BEFORE, batch, evaluation, plan


def how(*lines: str) -> str | None:
    cell = batch(*lines).replace("    for x, y in train_loader", "    kept = []\n    for x, y in train_loader")
    made = plan(*BEFORE, cell + "    print(kept)\n")
    return next((r.how for r in made.facts.reductions.values() if r.name == "kept"), None)


@pytest.mark.parametrize(
    "lines",
    [
        ("for p in model(x).argmax(1):", "    kept.append(p.item())"),
        ("for p, t in zip(model(x), y):", "    kept.append((p == t).sum().item())"),
        ("for i in range(len(y)):", "    kept.append(y[i].item())"),
    ],
)
def test_one_item_for_each_sample_is_gathered_by_sample(lines):
    assert how(*lines) == "gather_samples"


@pytest.mark.parametrize(
    "lines",
    [
        ("for p in y:", "    if p > 0:", "        kept.append(p.item())"),
        ("for p in y[y > 0]:", "    kept.append(p.item())"),
        ("for p in y:", "    for q in y:", "        kept.append(p.item())"),
        ("for p in y:", "    kept.append(p.item())", "    kept.append(p.item())"),
    ],
)
def test_another_number_of_items_is_not(lines):
    assert how(*lines) is None


def test_without_a_loop_over_samples_a_batch_is_an_item():
    assert how("kept.append(loss.item())") == "mean"
    assert how("kept.append(y)") == "gather_batches"


def test_an_evaluation_that_leaves_samples_out_is_run_whole():
    inside = "for p in y:\n            if p > 0:\n                kept.append(p.item())"
    made = plan(*BEFORE, evaluation("kept = []", inside, "print(kept)"))
    assert "kept" not in {r.name for r in made.facts.reductions.values()}
    assert made.assumed.whole
