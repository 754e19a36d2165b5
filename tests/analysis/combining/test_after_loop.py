"""How what a loop leaves is combined behind it."""

from __future__ import annotations

import pytest

from tests.analysis.cells import evaluation
from tests.analysis.combining.test_reductions import reductions


@pytest.mark.parametrize(
    ("before", "inside", "after", "how"),
    [
        ("total = 0.0", "total += loss.item()", "print(total / len(train_loader))", "mean"),
        ("total = 0.0", "total = total + loss.item()", "print(total)", "mean"),
        ("total = 0.0", "total += loss.item() * x.size(0)", "print(total / 100)", "sum"),
        ("total = 0", "total += (model(x).argmax(1) == y).sum().item()", "print(total)", "sum"),
        ("total = 0", "total += y.size(0)", "print(total)", "sum"),
        ("total = []", "total.append(loss.item())", "print(sum(total) / len(total))", "mean"),
        ("total = torch.zeros(1)", "total += loss.detach()", "print(total)", "mean"),
        ("pass", "total = loss.item()", "print(total)", "mean"),
    ],
)
def test_what_a_training_loop_leaves(before, inside, after, how):
    cell = "for epoch in range(3):\n"
    cell += f"    {before}\n    for x, y in train_loader:\n        loss = F.cross_entropy(model(x), y)\n"
    cell += "        optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()\n"
    cell += f"        {inside}\n    {after}\n"
    assert reductions(cell)["total"] == how


@pytest.mark.parametrize(
    ("before", "inside", "after", "how"),
    [
        ("n = 0", "n += (model(x).argmax(1) == y).sum().item()", "print(n / len(test_set))", "sum"),
        ("n = 0.0", "n += F.cross_entropy(model(x), y).item()", "print(n / len(test_loader))", "sum"),
        ("n = 0", "n += 1", "print(n)", "sum"),
        ("n = []", "n.append(model(x).argmax(1))", "print(torch.cat(n))", "gather"),
        ("n = []", "n.extend(y.tolist())", "print(n)", "gather"),
    ],
)
def test_what_an_evaluation_leaves(before, inside, after, how):
    assert reductions(evaluation(before, inside, after))["n"] == how
