"""Models that relate the places of a sequence: only a batch of several sequences is split."""

from __future__ import annotations

import pytest

from tests.analysis.splitting.steps import planned

MODEL = """class Words(nn.Module):
    def forward(self, x):
        {lines}
model = Words()
tokens = torch.randint(0, 9, (400,))
items = [torch.randn(5, 4), torch.randn(8, 4)]"""
RECURRENT = "self.rnn = nn.LSTM(4, 4, batch_first=True)\n        return self.out(self.rnn(x)[0])"
ATTENTION = "return torch.softmax(self.q(x) @ self.k(x).transpose(-2, -1), -1) @ x"
LAST = RECURRENT.replace("[0])", "[0][:, -1])")
SHAPE = f"B, T = x.shape\n        {ATTENTION}"
ONE = "x, t = tokens[step:step + 9], tokens[step + 1:step + 10]"
PICKED = "idx = torch.randint(0, 50, (16,))\nx, t = X[idx], y[idx]"
REASON = "relates the places of a sequence"
LOSS = "\nloss = F.mse_loss(model(x), t)"


@pytest.mark.parametrize(
    ("lines", "model", "reason"),
    [
        (ONE, ATTENTION, REASON),
        (ONE, "return torch.matmul(self.q(x), self.k(x).transpose(-2, -1)) @ x", REASON),
        (ONE, "return F.scaled_dot_product_attention(self.q(x), self.k(x), x)", REASON),
        (ONE, RECURRENT, REASON),
        (ONE, "return self.out(x)", ""),
        (PICKED, ATTENTION, ""),
        (PICKED, RECURRENT, ""),
        ("x, t = X[step:step + 9], y[step:step + 9]", LAST, ""),
        ("x, t = X[step:step + 9], y[step:step + 9]", SHAPE, ""),
        ("x, t = X[step:step + 9].reshape(-1, 2, 2), y[step:step + 9]", ATTENTION, ""),
        ("x, t = X[:, step:step + 2].unsqueeze(-1), y", RECURRENT, ""),
        ("x, t = X[step:step + 1, :3].unsqueeze(-1), y[:3]", RECURRENT, ""),
        ("x, t = tokens[step:step + 9].unsqueeze(-1), y[:9]", RECURRENT, REASON),
        ("x, t = tokens[step:step + 9][None].unsqueeze(-1), y[:9]", RECURRENT, REASON),
        ("x = torch.stack([tokens[i:i + 9] for i in range(4)])\nt = x * 2", ATTENTION, ""),
    ],
)
def test_only_several_sequences_are_split(lines: str, model: str, reason: str) -> None:
    made = planned(lines + LOSS, before=MODEL.format(lines=model))
    assert reason in str(made.assumed.unsplit or "")
    assert bool(made.assumed.splits) is not bool(reason)
