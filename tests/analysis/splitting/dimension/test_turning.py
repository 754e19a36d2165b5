"""What a model does to its dimensions: does it put another one where the samples were?"""

from __future__ import annotations

import pytest

from nbddp.analysis.splitting import may_turn
from tests.analysis.splitting.steps import planned

MODEL = """class Heads(nn.Module):
    def forward(self, x):
        {lines}
        return x
model = Heads()"""
STEP = "idx = torch.randint(0, 50, (16,))\nloss = F.mse_loss(model(X[idx]), y[idx])"


@pytest.mark.parametrize(
    ("lines", "turns"),
    [
        ("x = x.transpose(1, 2)", False),
        ("x = x @ x.transpose(-2, -1)", False),
        ("x = torch.transpose(x, 1, 2)", False),
        ("x = x.permute(0, 2, 1)", False),
        ("x = x.permute((0, 2, 1))", False),
        ("x = x.mT", False),
        ("q, k, v = x.permute(2, 0, 3, 1, 4)", False),
        ("qkv = x.permute(2, 0, 3, 1, 4)\n        x = qkv[0] + qkv[1]", False),
        ("x = x.permute(2, 0, 1).unbind(0)[0]", False),
        ("x = x.permute(2, 0, 1)", True),
        ("x = x.permute(2, 0, 1).unbind(1)[0]", True),
        ("x = x.permute(2, 0, 3, 1).chunk(3, dim=-1)[0]", True),
        ("qkv = x.permute(2, 0, 3, 1, 4)\n        x = self.drop(qkv)[0]", True),
        ("x = x.transpose(0, 1)", True),
        ("x = torch.transpose(x, 0, 1)", True),
        ("x = x.transpose(-3, -1)", True),
        ("x = x.transpose(self.at, 1)", True),
        ("x = x.transpose(dim0=1, dim1=2)", True),
        ("x = x.permute(*self.order)", True),
        ("x = x.T", True),
        ("x = x.t()", True),
    ],
)
def test_only_what_moves_the_first_dimension_turns(lines: str, turns: bool) -> None:
    assert may_turn(planned(STEP, before=MODEL.format(lines=lines))) is turns
