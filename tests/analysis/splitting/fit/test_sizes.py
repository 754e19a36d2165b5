"""What goes by the size of a whole batch."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.splitting import padded, rows_of_all_else, trimmed
from nbddp.options import Options
from tests.analysis.splitting.steps import planned

BEFORE = """loader = DataLoader(TensorDataset(X, y), batch_size=32)
from torch.nn.utils.rnn import pad_packed_sequence
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 1)
    def forward(self, x):
        return self.out({})
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


def made(text: str):
    lines, head = "loss = F.mse_loss(model(xb), yb)", "for xb, yb in loader:"
    return planned(lines, head=head, before=BEFORE.format(text), options=Options(exact=True))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x.view(x.size(0), -1)", True),
        ("x.reshape(len(x), -1)", True),
        ("x.view(-1, 4)", False),
        ("x.view(len(x), 4)", False),
        ("x.flatten(1)", False),
        ("x[:, :1].expand(len(x), -1)", False),
    ],
)
def test_rows_whose_length_is_not_said(text, found):
    assert [*map(bool, rows_of_all_else(made(text)))] == [True] * found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pad_packed_sequence(x)[0]", True),
        ("pad_packed_sequence(x, batch_first=True)[0]", True),
        ("pad_packed_sequence(x, total_length=9)[0]", False),
        ("pad_packed_sequence(x, True, 0.0, 9)[0]", False),
    ],
)
def test_padding_to_the_longest_of_a_part(text, found):
    assert len(padded(made(text))) == found


@pytest.mark.parametrize(("read", "found"), [("out", True), ("x", False)])
def test_padding_that_nobody_reads(read, found):
    line = f"self.made(x))\n    def made(self, x):\n        out, _ = pad_packed_sequence(x)\n        return abs({read}"
    assert len(padded(made(line))) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x[:, : (x != 0).sum(1).max()]", ["(x != 0).sum(1).max()"]),
        ("x[:, : 1 + int(torch.amax((x != 0).sum(1)))]", ["1 + int(torch.amax((x != 0).sum(1)))"]),
        ("x[:, : x.size(1)]", []),
        ("x[:, :1]", []),
        ("x[: len(x) // 2]", []),
    ],
)
def test_trimming_to_the_longest_of_a_part(text, found):
    assert [*map(ast.unparse, trimmed(made(text)))] == found


@pytest.mark.parametrize("end", ["(x != 0).sum(1).min()", "8 - (x == 0).sum(1).max()", "-(x == 0).sum(1).max()"])
@pytest.mark.parametrize("exact", [False, True])
def test_what_more_samples_may_make_smaller_goes_by_no_part(end, exact):
    model = BEFORE.format(f"x[:, : {end}]")
    step = "xb, yb = X[step : step + 8], y[step : step + 8]\nloss = F.mse_loss(model(xb), yb)"
    found = planned(step, before=model, options=Options(exact=exact))
    assert not found.assumed.splits
    assert bool(found.assumed.opened) is exact  # the model goes by all samples up to there, or it is refused
    assert found.assumed.joined if exact else "goes by the longest" in found.assumed.unsplit


@pytest.mark.parametrize(
    ("line", "joined"),
    [
        ("seen(loss.item(), wide * high)", True),
        ("seen(loss.item(), len(x))", False),
        ("seen(loss.item(), x.numel())", False),
        ("total = loss.item() * (wide * high)", False),
    ],
)
def test_a_size_that_is_handed_on_beside_a_mean(line, joined):
    """What each rank gives must add up, also that of a rank without a sample."""
    lines = "i = torch.randint(0, 100, (16,))\nx, t = X[i], y[i]\nhigh, wide = x.shape\nloss = F.mse_loss(model(x), t)"
    plan = planned(
        f"{lines}\n{line}",
        before="def seen(mean, size):\n    log.append(mean * size)\nlog = []",
        options=Options(exact=True),
    )
    assert ("handed on" in str(plan.assumed.joined)) is joined
    assert bool(plan.assumed.splits) is not joined
