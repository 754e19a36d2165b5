"""What the numbers of a rank's own batches choose for the batches that follow: all ranks have to choose alike."""

from __future__ import annotations

STATE = """class Seen:
    def __init__(self):
        self.each, self.sums, self.stage = [], np.zeros(3), 0
    def add(self, value, k=0):
        self.each.append(value)
        self.sums[k] += value
        self.stage += value < 3
    def worse(self):
        return len(self.each) > 1 and self.each[-1] > self.each[-2]
    def least(self):
        return int(self.sums.argmin())
seen, up, last, k = Seen(), False, 9.0, 0
ways = [lambda v: v, lambda v: v * 1.5, lambda v: v + 0.5]
losses = [nn.MSELoss(), nn.L1Loss(), nn.SmoothL1Loss()]
steps = [optimizer, torch.optim.SGD(model.parameters(), lr=0.001)]"""
AGAIN = "loss = criterion(model(a), b)"
# What stands before `backward()`, and behind the step.
CHOICES = (
    (f"if seen.worse(): a = a * 0.5\n{AGAIN}", "seen.add(loss.item())"),
    (f"if up: a = a * 0.5\n{AGAIN}", "up = loss.item() > last\nlast = loss.item()"),
    ("if seen.stage > 1: loss = loss + 0.1 * out.abs().mean()", "seen.add(loss.item())"),
    (f"k = seen.least()\nif k == 1: a = a * 1.5\nelif k == 2: a = a + 0.5\n{AGAIN}", "seen.add(loss.item(), k)"),
    (f"k = seen.least()\na = ways[k](a)\n{AGAIN}", "seen.add(loss.item(), k)"),
    ("k = seen.least()\nloss = losses[k](out, b)", "seen.add(loss.item(), k)"),
    ("k = seen.least() % 2", "steps[k].step()\nseen.add(loss.item(), k)"),
)
