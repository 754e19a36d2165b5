"""What a training keeps of its steps, and what it is made with."""

from __future__ import annotations

KEPT = (
    ("total, seen = 0.0, 0", "total += loss.item() * len(a)\nseen += len(a)", "total / seen"),
    ("total = 0.0", "total += loss.item()", "total / 4"),
    ("running = []", "running.append(loss.item())", "sum(running) / len(running)"),
    ("running = []", "running.append(loss.item())", "running"),
    ("smooth = 0.0", "smooth = 0.9 * smooth + 0.1 * loss.item()", "smooth"),
    ("meter.reset()", "meter.update(loss.item(), len(a))", "meter.avg"),
    ("meter.reset()", "meter.update(loss.item())", "meter.last"),
    ("add, get = counter()", "add(loss.item())", "get()"),
    ("sums = {'loss': 0.0, 'n': 0}", "sums['loss'] += loss.item()\nsums['n'] += 1", "sums['loss'] / sums['n']"),
    ("outs, targets = [], []", "outs.append(out.detach())\ntargets.append(b)", "torch.cat(outs).sum().item()"),
    ("scores = []", "scores.extend(out.detach().flatten().tolist())", "len(scores), sum(scores)"),
    ("hits = 0", "hits += METRIC", "hits / 24"),
    ("hits, steps = 0, 0", "hits += METRIC\nsteps += 1", "hits / steps"),
    ("worst = 0.0", "worst = max(worst, loss.item())", "worst"),
    ("top = None", "if top is None or loss.item() > top:\n    top = loss.item()", "top"),
    ("many = 0", "if loss.item() > 1:\n    many += 1", "many"),
    ("marks = torch.zeros(4)", "marks[step % 4] = loss.detach()", "marks.tolist()"),
    ("bins = np.zeros(4)", "bins[step % 4] += METRIC", "bins.sum()"),
    ("last = 0.0", "last = loss.item()", "last"),
    ("state = State()", "state.see(loss, a)", "state.mean()"),
    ("state = State()", "with state:\n    state.see(loss, a)", "state.mean()"),
    ("rows = []", "rows.append({'step': step, 'loss': loss.item()})", "rows[-1]['loss'], len(rows)"),
    ("queue = deque(maxlen=3)", "queue.append(loss.item())", "sum(queue) / len(queue)"),
    (
        "confusion = torch.zeros(2, 2)",
        "for one in (out > 0).flatten().tolist():\n    confusion[int(one), 0] += 1",
        "confusion.sum().item()",
    ),
    ("losses = {}", "losses.setdefault(epoch, []).append(loss.item())", "sum(losses[epoch])"),
    ("total = torch.tensor(0.0)", "total += loss.detach() * len(a)", "(total / 24).item()"),
    (
        "count, wrong = 0, []",
        "count += len(a)\nwrong += [i for i, v in enumerate(out.detach().sum(1).tolist()) if v < 0]",
        "count, len(wrong)",
    ),
    ("seen, total = 0, 0.0", "total += (loss.item() - total) * len(a) / (seen + len(a))\nseen += len(a)", "total"),
    ("parts = [0.0, 0]", "parts[0] += loss.item()\nparts[1] += 1", "parts[0] / parts[1]"),
    ("watch = Watch()", "watch.note(METRIC, len(a))\nif watch.full:\n    watch.flush()", "watch.flushed"),
    ("gen = running_mean()\nnext(gen)", "mean = gen.send(loss.item())", "mean"),
    ("means = []", "means.append((out.detach() - out.detach().mean()).abs().mean().item())", "means"),
    ("picked = []", "picked += [v for v in out.detach().flatten().tolist() if v > 0]", "len(picked)"),
)
HELPERS = """class Meter:
    def __init__(self):
        self.reset()
    def reset(self):
        self.sum, self.count, self.last = 0.0, 0, 0.0
    def update(self, value, n=1):
        self.last = value
        self.sum += value * n
        self.count += n
    @property
    def avg(self):
        return self.sum / max(1, self.count)
meter = Meter()
def counter():
    values = []
    def add(value):
        values.append(value)
    return add, lambda: sum(values) / max(1, len(values))
class State:
    def __init__(self):
        self.total, self.count, self.entered = 0.0, 0, 0
    def see(self, loss, a):
        self.total += loss.item()
        self.count += 1
    def mean(self):
        return self.total / self.count
    def __enter__(self):
        self.entered += 1
        return self
    def __exit__(self, *error):
        return False
def take(loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
class Watch:
    def __init__(self):
        self.values, self.flushed = [], []
    def note(self, value, n):
        self.values.append((value, n))
    @property
    def full(self):
        return len(self.values) >= 2
    def flush(self):
        self.flushed.append(sum(v for v, _ in self.values) / sum(n for _, n in self.values))
        self.values.clear()
def running_mean():
    total, n, value = 0.0, 0, None
    while True:
        value = yield total / max(1, n)
        total, n = total + value, n + 1
class Stopper:
    def __init__(self, patience=1):
        self.patience, self.best, self.bad = patience, float('inf'), 0
    def __call__(self, value):
        self.bad = 0 if value < self.best else self.bad + 1
        self.best = min(self.best, value)
        return self.bad > self.patience
stopper = Stopper()
history, norms, best, best_state, bad, log = [], [], float('inf'), None, 0, {'train': [], 'val': []}
"""
