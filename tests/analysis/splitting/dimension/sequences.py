"""A step on sequences of which time is the first dimension, and the plan that is made of it."""

from __future__ import annotations

from nbddp.analysis import Plan
from tests.analysis.splitting.steps import planned

MODEL = """class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(9, 4), nn.{layer}, nn.Linear(8, 9)
    def forward(self, x, state=None):
        {forward}
model = Words()
tokens = torch.randint(0, 9, (400,))
several = tokens.view(10, -1).t()
"""
LAYER = "GRU(4, 8)"
OUT = "h, state = self.rnn(self.embed(x), state)\n        return self.out(h)"
DRAWN = "x, t = several[step : step + 5], several[step + 1 : step + 6]"
LOSS = "loss = F.cross_entropy(model(x).view(-1, 9), t.reshape(-1))"


def sequences(drawn: str = DRAWN, loss: str = LOSS, forward: str = OUT, layer: str = LAYER, before: str = "") -> Plan:
    return planned(f"{drawn}\n{loss}", before=MODEL.format(layer=layer, forward=forward) + before)
