"""Evaluations whose samples a sampler deals out, and those whose batches have to stay what they are."""

from __future__ import annotations

import pytest

from tests.analysis.cells import BEFORE, DATA, IMPORTS, MODEL, evaluation, plan

RIGHT = "right += (model(x).argmax(1) == y).sum().item()"


def by_sample(before: str, inside: str, after: str, *, data: str = DATA, model: str = MODEL) -> bool:
    found = plan(IMPORTS, data, model, evaluation(before, inside, after))
    return bool(found.by_sample)


@pytest.mark.parametrize(
    "inside",
    [
        RIGHT,
        "right += F.cross_entropy(model(x), y, reduction='sum').item()",
        "right += F.cross_entropy(model(x), y).item() * len(y)",
        "n = x.size(0)\nright += F.cross_entropy(model(x), y).item() * n",
    ],
)
def test_sums_over_samples(inside):
    assert by_sample("right = 0", inside, "print(right / 21)")


@pytest.mark.parametrize(
    ("before", "inside", "after"),
    [
        ("total = 0.0", "total += F.cross_entropy(model(x), y).item()", "print(total / len(test_loader))"),
        ("seen = []", "seen.append(model(x))", "print(torch.cat(seen).shape)"),
        ("right = 0", RIGHT, "print(right, len(test_loader))"),
        ("right = 0", "k = (y > 0).sum().item()\nright += F.cross_entropy(model(x), y).item() * k", "print(right)"),
        ("right = 0", "right += (model(x) @ model(x).T).sum().item()", "print(right)"),
    ],
    ids=["means of batches", "predictions", "batches are counted", "a mean times another count", "pairs of samples"],
)
def test_batches_count(before, inside, after):
    assert not by_sample(before, inside, after)


@pytest.mark.parametrize(
    "given",
    ["shuffle=True", "drop_last=True", "collate_fn=pad", "sampler=own", "batch_size=None"],
)
def test_a_loader_that_draws_or_pads_in_its_own_way(given):
    loader = (
        f"DataLoader(test_set, {given})" if "batch_size" in given else f"DataLoader(test_set, batch_size=10, {given})"
    )
    data = DATA.replace("DataLoader(test_set, batch_size=10)", loader)
    data = "def pad(rows):\n    return torch.utils.data.default_collate(rows)\n\n" + data.replace(
        "test_loader =", "own = torch.utils.data.SequentialSampler(test_set)\ntest_loader ="
    )
    assert not by_sample("right = 0", RIGHT, "print(right)", data=data)


def test_weights_of_classes():
    inside = "right += F.cross_entropy(model(x), y, weight=torch.ones(2)).item() * len(y)"
    assert not by_sample("right = 0", inside, "print(right)")


def test_a_second_pass_over_the_batches():
    cell = evaluation("right = 0", RIGHT, "print(right)") + "for x, y in test_loader:\n    print(model(x).mean())\n"
    assert not plan(*BEFORE, cell).by_sample
