"""What a loop keeps or does besides, wherever its batches come from."""

from __future__ import annotations

NET = """model = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
VX, VY = torch.tensor(rows[:10]), torch.tensor(aims[:10])
valid = DataLoader(TensorDataset(VX, VY), batch_size=4)
"""
STEP = """out = model(x)
loss = criterion(out, y)
optimizer.zero_grad()
loss.backward()
optimizer.step()
"""
# What stands before the cell, before the loop, at the begin of an epoch, in the step, and at the end of an epoch.
HABITS = {
    "accuracy": (
        "",
        "",
        "right, seen = 0, 0",
        STEP
        + """right += (out.argmax(1) == y).sum().item()
seen += y.size(0)""",
        "print(epoch, right / seen)",
    ),
    "meter": (
        """class Meter:
    def __init__(self):
        self.sum, self.n = 0.0, 0
    def update(self, v, n):
        self.sum += v * n
        self.n += n
    @property
    def avg(self):
        return self.sum / self.n""",
        "",
        "m = Meter()",
        STEP + "m.update(loss.item(), len(x))",
        "print(epoch, round(m.avg, 5))",
    ),
    "losses": (
        "",
        "losses = []",
        "",
        STEP + "losses.append(loss.item())",
        "print(epoch, np.mean(losses), losses[-1])",
    ),
    "running": (
        "",
        "running = None",
        "",
        STEP + "running = loss.item() if running is None else 0.9 * running + 0.1 * loss.item()",
        "print(epoch, running)",
    ),
    "everyk": (
        "",
        "step = 0",
        "",
        STEP
        + """if step % 2 == 0:
    print(step, loss.item())
step += 1""",
        "",
    ),
    "clip": (
        "",
        "",
        "",
        """out = model(x)
loss = criterion(out, y)
optimizer.zero_grad()
loss.backward()
n = nn.utils.clip_grad_norm_(model.parameters(), 0.1)
optimizer.step()
last = n.item()""",
        "print(epoch, last)",
    ),
    "gradacc": (
        "",
        """k = 0
optimizer.zero_grad()""",
        "",
        """loss = criterion(model(x), y) / 2
loss.backward()
k += 1
if k % 2 == 0:
    optimizer.step()
    optimizer.zero_grad()""",
        "print(epoch, loss.item())",
    ),
    "sched": (
        "sched = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, factor=0.5)",
        "",
        "total = 0.0",
        STEP + "total += loss.item()",
        """sched.step(total)
print(epoch, optimizer.param_groups[0]['lr'])""",
    ),
    "evaluate": (
        """def evaluate():
    model.eval()
    right, total = 0, 0.0
    with torch.no_grad():
        for a, b in valid:
            o = model(a)
            total += criterion(o, b).item() * len(a)
            right += (o.argmax(1) == b).sum().item()
    model.train()
    return total / len(VX), right / len(VX)""",
        "",
        "",
        STEP,
        "print(epoch, evaluate())",
    ),
    "evalwhole": (
        "",
        "",
        "",
        STEP,
        """model.eval()
with torch.no_grad():
    vl = criterion(model(VX), VY)
model.train()
print(epoch, vl.item())""",
    ),
    "best": (
        "import copy",
        "best, kept = 1e9, None",
        "total, n = 0.0, 0",
        STEP
        + """total += loss.item()
n += 1""",
        """if total / n < best:
    best = total / n
    kept = copy.deepcopy(model.state_dict())
print(epoch, best)""",
    ),
    "stop": (
        "",
        "bad, best = 0, 1e9",
        "total = 0.0",
        STEP + "total += loss.item()",
        """if total < best - 5:
    best = total
else:
    bad += 1
print(epoch, bad)
if bad > 1:
    break""",
    ),
    "allpreds": (
        "",
        "",
        "preds, labels = [], []",
        STEP
        + """preds.append(out.detach().argmax(1))
labels.append(y)""",
        """p, l = torch.cat(preds), torch.cat(labels)
print(epoch, (p == l).float().mean().item(), p.sum().item())""",
    ),
    "numpypreds": (
        "",
        "",
        "preds, labels = [], []",
        STEP
        + """preds.extend(out.detach().argmax(1).numpy())
labels.extend(y.tolist())""",
        "print(epoch, np.mean(np.array(preds) == np.array(labels)), len(preds))",
    ),
    "confusion": (
        "",
        "",
        "table = torch.zeros(2, 2, dtype=torch.long)",
        STEP
        + """for t, p in zip(y, out.argmax(1)):
    table[t, p] += 1""",
        "print(epoch, table.tolist())",
    ),
    "ema": (
        """import copy
slow = copy.deepcopy(model)""",
        "",
        "",
        STEP
        + """with torch.no_grad():
    for a, b in zip(slow.parameters(), model.parameters()):
        a.mul_(0.9).add_(b, alpha=0.1)""",
        "print(epoch, sum(p.sum().item() for p in slow.parameters()))",
    ),
    "l1": (
        "",
        "",
        "",
        """out = model(x)
loss = criterion(out, y) + 0.01 * sum(p.abs().sum() for p in model.parameters())
optimizer.zero_grad()
loss.backward()
optimizer.step()""",
        "print(epoch, loss.item())",
    ),
    "hist": (
        "",
        "history = {'loss': [], 'acc': []}",
        "tl, ta, n = 0.0, 0.0, 0",
        STEP
        + """tl += loss.item() * x.size(0)
ta += (out.max(1)[1] == y).float().sum()
n += x.size(0)""",
        """history['loss'].append(tl / n)
history['acc'].append((ta / n).item())
print(epoch, history)""",
    ),
    "batchacc": (
        """def accuracy(o, t):
    return (o.argmax(1) == t).float().mean()""",
        "",
        "accs = []",
        STEP + "accs.append(accuracy(out, y).item())",
        "print(epoch, sum(accs) / len(accs))",
    ),
    "function": (
        """def train_step(x, y):
    model.train()
    out = model(x)
    loss = criterion(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item(), (out.argmax(1) == y).sum().item()""",
        "",
        "total, right = 0.0, 0",
        """l, r = train_step(x, y)
total += l
right += r""",
        "print(epoch, total, right)",
    ),
    "closure": (
        "",
        "",
        "",
        """def closure():
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    return loss
loss = optimizer.step(closure)""",
        "print(epoch, loss.item())",
    ),
    "twice": (
        "",
        "",
        "",
        STEP
        + """with torch.no_grad():
    after = criterion(model(x), y).item()""",
        "print(epoch, loss.item(), after)",
    ),
    "maxmin": (
        "",
        "",
        "lo, hi = 1e9, -1e9",
        STEP + "lo, hi = min(lo, loss.item()), max(hi, loss.item())",
        "print(epoch, lo, hi)",
    ),
    "perclass": (
        "",
        "",
        "hits = {0: 0, 1: 0}",
        STEP
        + """for c in hits:
    hits[c] += ((out.argmax(1) == c) & (y == c)).sum().item()""",
        "print(epoch, hits)",
    ),
    "minmaxout": (
        "",
        "",
        "",
        STEP,
        "print(epoch, out.max().item(), out.mean().item(), out.shape)",
    ),
    "gradnorm": (
        "",
        "",
        "g = 0.0",
        """out = model(x)
loss = criterion(out, y)
optimizer.zero_grad()
loss.backward()
g += sum(p.grad.norm().item() ** 2 for p in model.parameters()) ** 0.5
optimizer.step()""",
        "print(epoch, g)",
    ),
    "noiseafter": (
        "",
        "",
        "",
        STEP
        + """with torch.no_grad():
    for p in model.parameters():
        p.add_(0.001 * torch.randn_like(p))""",
        "print(epoch, loss.item(), torch.rand(1).item())",
    ),
    "weightdraw": (
        "",
        "",
        "",
        """w = torch.rand(x.size(0))
loss = (w * F.cross_entropy(model(x), y, reduction='none')).sum() / w.sum()
optimizer.zero_grad()
loss.backward()
optimizer.step()""",
        "print(epoch, loss.item())",
    ),
}
