"""Conditions that all ranks decide alike, and those that each decides for itself."""

from __future__ import annotations

import pytest

from nbddp.analysis import Plan
from tests.analysis.cells import BEFORE, TRAINING, batch, evaluation, plan

MEAN, SUM, ANY, ROOT = "mean_over_ranks", "sum_over_ranks", "any_rank", "from_rank_0"


def decided(made: Plan) -> list[tuple[str, str, bool]]:
    return [(made.program.source(d.node), d.part, d.exact) for d in made.decisions]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["if loss.item() > 9:", "    break"], [("loss.item()", MEAN, True)]),
        (["if torch.isnan(loss):", "    break"], [("torch.isnan(loss)", ANY, True)]),
        (["if x.max() > 9:", "    break"], [("x.max() > 9", ROOT, False)]),
        (["if (x > 9).sum() > 3:", "    continue"], [("(x > 9).sum()", SUM, True)]),
        (["if loss.item() < best:", "    best = loss.item()"], [("loss.item()", MEAN, True), ("best", MEAN, True)]),
        (["if x.max() > 9:", "    optimizer.param_groups[0]['lr'] = 0.1"], [("x.max() > 9", ROOT, False)]),
        (["if x.max() > 9:", "    raise ValueError"], [("x.max() > 9", ROOT, False)]),
        (
            ["for g in optimizer.param_groups:", "    g['lr'] *= 2 if x.max() > 9 else 1"],
            [("x.max() > 9", ROOT, False)],
        ),
        (["for g in optimizer.param_groups:", "    g.update(lr=2 if loss > 9 else 1)"], [("loss", MEAN, True)]),
        (["optimizer.param_groups[0]['lr'] *= 2 if loss.item() > 9 else 1"], [("loss.item()", MEAN, True)]),
        (["x.max() > 9 and optimizer.step()"], [("x.max() > 9", ROOT, False)]),
        (["epoch and x.max() > 9 and optimizer.step()"], [("x.max() > 9", ROOT, False)]),
    ],
)
def test_what_steers_all_ranks_is_decided_together(lines, found):
    assert decided(plan(*BEFORE, "best = 9.0", batch(*lines))) == found


@pytest.mark.parametrize(
    "lines",
    [
        ["if epoch > 1:", "    break"],
        ["if len(x) < 2:", "    continue"],
        ["if (y == 1).any():", "    n = x[y == 1].mean()"],
        ["if x.max() > 9:", "    n = 1"],
        ["x.max() > 9 and print(x.max())"],
        ["for v in y:", "    if v > 0:", "        break"],
    ],
)
def test_what_all_know_or_what_concerns_one_share_is_left_alone(lines):
    assert decided(plan(*BEFORE, batch(*lines))) == []


def test_samples_that_were_counted_are_those_of_all_ranks():
    lines = ["seen += len(x)", "if seen >= 50:", "    break"]
    assert decided(plan(*BEFORE, "seen = 0", batch(*lines))) == [("seen", SUM, True)]


def test_early_stopping_after_an_evaluation_run_whole_is_asked_of_rank_0():
    cell = evaluation("n = 0.0", "n = max(n, model(x).max().item())", "if n > best:\n    break").replace(
        "for epoch", "best = 3.0\nfor epoch")  # fmt: skip
    ((source, part, _),) = decided(plan(*BEFORE, cell))
    assert (source, part) == ("n > best", ROOT)


def test_in_a_dealt_out_evaluation_ranks_do_not_meet():
    cell = evaluation("n = 0", "if (model(x).argmax(1) == y).all():\n    n += 1", "print(n)")
    assert decided(plan(*BEFORE, cell)) == []


def test_the_loss_that_a_line_search_looks_at_is_that_of_all_ranks():
    cell = """
    optimizer = torch.optim.LBFGS(model.parameters())
    for x, y in train_loader:
        def closure():
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            return loss
        optimizer.step(closure)
    """
    assert ("loss", MEAN, True) in decided(plan(*BEFORE, cell))


def test_without_conditions_there_is_nothing_to_decide():
    assert decided(plan(*BEFORE, TRAINING)) == []
