"""Means over places that a loader fills up to the longest of its batch."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.agreement.filled_up import padded_losses
from tests.analysis.cells import BEFORE, plan

COLLATE = """def put_together(texts):
    longest = max(len(text) for text in texts)
    filled = torch.zeros(len(texts), longest, 4)
    for place, text in enumerate(texts):
        filled[place, : len(text)] = text
    return filled, nn.utils.rnn.pad_sequence(texts, batch_first=True), torch.stack([text[0] for text in texts])
texts = [torch.ones(2 + i % 5, 4) for i in range(24)]"""


def found(loss: str) -> list[str]:
    loop = f"""for filled, padded, first in DataLoader(texts, batch_size=8, collate_fn=put_together):
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()"""
    return [ast.unparse(call) for call in padded_losses(plan(*BEFORE, COLLATE, loop))]


@pytest.mark.parametrize(
    "mean",
    [
        "(model(first) - padded.mean(1)).pow(2).mean()",
        "(model(first) - filled.mean(1)).pow(2).mean()",
        "torch.mean((model(filled) - filled) ** 2)",
        "F.mse_loss(model(padded), padded)",
    ],
)
def test_a_mean_over_them_all(mean):
    assert any(call in mean for call in found(mean))


@pytest.mark.parametrize(
    "mean",
    [
        "(model(first) - padded.sum(1)).pow(2).mean()",
        "(model(first) - filled.mean(-1).sum(1)).pow(2).mean()",
        "F.mse_loss(model(first), first)",
        "F.mse_loss(model(first[: len(first) // 2]), first[: len(first) // 2])",
    ],
)
def test_not_of_their_sum_nor_of_what_has_no_such_places(mean):
    assert found(mean) == []


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("h.mean(1)", True),
        ("h[:, : y.max()].mean(1)", True),
        ("h[:, -1]", False),
        ("h.gather(1, y.view(-1, 1, 1).expand(-1, 1, 4)).squeeze(1).mean(1)", False),
        ("(h * (y > 0)).sum(1) / y.sum(1)", False),
        ("h[torch.arange(len(h)), y]", False),
    ],
)
def test_what_a_model_unpacks(made, told):
    model = f"""from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
class Reads(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 4, batch_first=True)
    def forward(self, x, y):
        h, _ = pad_packed_sequence(self.gru(pack_padded_sequence(x, y, batch_first=True))[0], batch_first=True)
        return {made}
model = Reads()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"""
    loop = """for x, y in DataLoader(TensorDataset(torch.ones(24, 5, 4), torch.full((24,), 3)), batch_size=8):
    loss = model(x, y).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()"""
    assert bool([*padded_losses(plan(*BEFORE, model, loop))]) is told
