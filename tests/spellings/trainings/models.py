"""What is trained, how its loss comes about, and how a step is taken."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    made: str  # `model`, and its optimizer
    passed: str = "out = model(a)"
    evaluated: str = "model(a)"
    optimizer: str = "optimizer = base = torch.optim.SGD(model.parameters(), lr=0.02)"  # `base` has the rate


NET = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(3, 5), nn.Linear(5, OUT)
    def forward(self, v):
        h = torch.tanh(self.body(v))
        return GIVES
model = Net()"""
SIDE = """class Net(nn.Module):
    def __init__(self, width=5):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, width), nn.Linear(width, OUT)])
        self.calls, self.last = 0, None
    def forward(self, v):
        for i, layer in enumerate(self.layers):
            v = layer(v) if i else torch.relu(layer(v))
        self.calls += 1
        return v
    def predict(self, v):
        with torch.no_grad():
            return self(v)
model = Net()"""
TWO = "encoder, model = nn.Linear(3, 4), nn.Linear(4, OUT)"
BOTH = "optimizer = base = torch.optim.SGD([*encoder.parameters(), *model.parameters()], lr=0.02)"
PARTS = """class Both:
    def __init__(self, *optimizers):
        self.optimizers = optimizers
    def zero_grad(self):
        for one in self.optimizers:
            one.zero_grad()
    def step(self):
        for one in self.optimizers:
            one.step()
"""
PAIR = "first = torch.optim.SGD(encoder.parameters(), lr=0.02)\nsecond = torch.optim.SGD(model.parameters(), lr=0.01)"
MODELS = (
    Model("model = nn.Linear(3, OUT)"),
    Model("model = nn.Linear(3, OUT)", optimizer="optimizer = base = torch.optim.Adam(model.parameters(), lr=0.01)"),
    Model("model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, OUT))",
          optimizer="optimizer = base = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)"),
    Model(NET.replace("GIVES", "self.head(h)")),
    Model(NET.replace("GIVES", "self.head(h), h"), "out, hidden = model(a)", "model(a)[0]"),
    Model(NET.replace("GIVES", "{'out': self.head(h), 'hidden': h}"), "out = model(a)['out']", "model(a)['out']"),
    Model(SIDE),
    Model(SIDE, evaluated="model.predict(a)"),
    Model(TWO, "out = model(encoder(a))", "model(encoder(a))", BOTH),
    Model(TWO, "out = model(torch.tanh(encoder(a)))", "model(torch.tanh(encoder(a)))",
          f"{PARTS}{PAIR}\noptimizer, base = Both(first, second), first"),
)  # fmt: skip


@dataclass(frozen=True)
class Task:
    target: str
    out: str  # width of the model's output
    losses: tuple[str, ...]
    metrics: tuple[str, ...]  # of a batch, as sums


TASKS = (
    Task(
        "x.sum(1, keepdim=True) + torch.randn(24, 1)",
        "1",
        ("nn.MSELoss()", "nn.L1Loss()", "F.mse_loss", "lambda o, t: ((o - t) ** 2).mean()", "nn.SmoothL1Loss()",
         "nn.MSELoss(reduction='none')"),
        ("(OUT - b).abs().sum().item()", "((OUT > 0) == (b > 0)).sum().item()", "LOSS * len(b)", "len(b)"),
    ),
    Task(
        "(x.sum(1) > 0).long()",
        "2",
        ("nn.CrossEntropyLoss()", "F.cross_entropy", "lambda o, t: F.nll_loss(o.log_softmax(1), t)",
         "nn.CrossEntropyLoss(reduction='sum')"),
        ("(OUT.argmax(1) == b).sum().item()", "OUT.max(1)[1].eq(b).sum().item()", "LOSS * b.size(0)",
         "(OUT.argmax(dim=-1) == b).float().mean().item()"),
    ),
)  # fmt: skip
STEPS = (
    "optimizer.zero_grad()\nloss.backward()\noptimizer.step()",
    "optimizer.zero_grad()\nloss.backward()\noptimizer.step()",
    "loss.backward()\noptimizer.step()\noptimizer.zero_grad()",
    """optimizer.zero_grad()
loss.backward()
nn.utils.clip_grad_norm_(model.parameters(), 0.5)
optimizer.step()""",
    """optimizer.zero_grad()
loss.backward()
norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
norms.append(norm.item())
optimizer.step()""",
    "(loss / 2).backward()\nif (step + 1) % 2 == 0:\n    optimizer.step()\n    optimizer.zero_grad()",
    "loss = loss / 2\nloss.backward()\nif step % 2 == 1:\n    optimizer.step()\n    optimizer.zero_grad()",
    """optimizer.zero_grad()
loss.backward()
optimizer.step()
with torch.no_grad():
    for old, new in zip(average.parameters(), model.parameters()):
        old.mul_(0.9).add_(new, alpha=0.1)""",
    "optimizer.zero_grad()\nif not torch.isnan(loss):\n    loss.backward()\n    optimizer.step()",
    "optimizer.zero_grad()\nloss.backward()\noptimizer.step()\nscheduler.step()",
    "take(loss)",
    "for p in model.parameters():\n    p.grad = None\nloss.backward()\noptimizer.step()",
    """optimizer.zero_grad()
(loss + 0.01 * sum(p.pow(2).sum() for p in model.parameters())).backward()
optimizer.step()""",
    """optimizer.zero_grad()
loss.backward()
for p in model.parameters():
    p.grad.clamp_(-0.5, 0.5)
optimizer.step()""",
)
