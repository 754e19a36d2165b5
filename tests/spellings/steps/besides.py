"""What a step does to the model and to names: before it, in the gradients, after it; and what is printed."""

from __future__ import annotations

OFTEN = "range(min(3, int(loss) % 4))"
METER = """\
class Meter:
    def __init__(self):
        self.sum = 0.0
    def update(self, value):
        self.sum += value
meters = [Meter(), Meter()]
"""

STEPS = (
    ("n = 0.0", "", "z = torch.zeros(3)\nz[b.argmax() % 3] = 1\nn += z[0].item()", "n"),
    ("model.register_buffer('seen', torch.zeros(1))", "", "model.seen.copy_(loss.detach())", "model.seen.item()"),
    *(
        ("n = 0.0", "", f"if {test}: n += loss.item()", "n")
        for test in (
            "2 < len(a)",
            "not 2 >= len(a)",
            "1 < len(a) < 4",
            "len(a) in (2, 3)",
            "len(a) - 6",
            "all((len(a) > 3, len(b) > 2))",
            "a.shape == (6, 3)",
        )
    ),
    *(
        ("n = 0.0; log = []", "", f"for i, v in enumerate(b.flatten().tolist()):\n    {change}", "n, log")
        for change in ("n += i * v", "log.append((i, v))", "n += v if i % 2 else 0", "if i < 2: n += v", "n += v")
    ),
    (METER, "", "meters[int(b[0] > 0)].update(loss.item())", "[one.sum for one in meters]"),
    ("n, half = 0.0, lambda v: v / 2", "", "if half(len(a)) <= 1:\n    n += loss.item()", "n"),
    *(
        ("", "", f"with torch.no_grad():\n    {change}", "")
        for change in (
            "model.weight -= 0.001 * loss.item()",
            "model.weight.data[:] = model.weight * (1 - 0.001 * loss.item())",
            "model.state_dict()['weight'].sub_(0.001 * loss.item())",
            "torch.sub(model.weight, 0.001 * loss.item(), out=model.weight)",
            "torch._foreach_mul_(list(model.parameters()), 1 - 0.001 * loss.item())",
            "model.weight += 0.001 * a.mean(0)",
            "setattr(model, 'weight', nn.Parameter(model.weight - 0.001 * loss.item()))",
            "model.weight = nn.Parameter(model.weight - 0.001 * loss.item())",
            "w = model.weight\n    w -= 0.001 * loss.item()",
        )
    ),
    ("", "model.weight.grad = model.weight.grad * loss.item()", "", ""),
    ("", "", "sgd.step(loss.item())", ""),
    ("", "", "optimizer.state[model.weight]['momentum_buffer'] *= 1 - 0.1 * loss.item()", ""),
    ("s = 0.0", "s += out.grad.abs().sum().item()", "", "s"),
    ("s = 0.0", "s += (out.grad ** 2).sum().item()", "", "s"),
    *(
        ("n = 0; log = []; d = {}; s = ''", "", change, shown)
        for change, shown in (
            (f"[optimizer.step() for _ in {OFTEN}]", "n"),
            ("[optimizer.step() for k in range(3) if k < loss]", "n"),
            (f"any(optimizer.step() for _ in {OFTEN})", "n"),
            (f"list(map(lambda k: optimizer.step(), {OFTEN}))", "n"),
            (f"[model.weight.data.mul_(0.9) for _ in {OFTEN}]", "n"),
            (f"[log.append(1) for _ in {OFTEN}]", "len(log)"),
            (f"[n := n + 1 for _ in {OFTEN}]", "n"),
            (f"n += sum(1 for _ in {OFTEN})", "n"),
            (f"d.update({{k: 1 for k in {OFTEN}}})", "len(d)"),
            (f"s += ''.join('x' for _ in {OFTEN})", "s"),
            ("log.append(out[torch.argsort(b[:, 0])].detach())", "torch.cat(log).flatten().tolist()"),
            ("log.append(out[[2, 1, 0]].detach())", "torch.cat(log).flatten().tolist()"),
            ("log.append(out.detach().numpy()[::-1].copy())", "np.concatenate(log).flatten().tolist()"),
            ("log.extend(out.detach().numpy()[np.argsort(b[:, 0].numpy())].flatten().tolist())", "log"),
            ("n += sum(itertools.islice(out.flatten().tolist(), 2))", "n"),
            ("log.extend(sorted(out.flatten().tolist()))", "log"),
            ("log.append(tuple(a.shape))", "log"),
            ("log += [0] * len(a)", "log"),
            ("log.append(loss.item())\nn = sorted(log)[len(log) // 2]", "n"),
            ("d[len(a)] = d.get(len(a), 0) + 1", "d"),
            ("d.update(collections.Counter((b > 0).flatten().tolist()))", "sorted(d.items())"),
            ("n += len(set((b > 0).flatten().tolist()))", "n"),
            ("n += len(list(itertools.zip_longest(a, range(4))))", "n"),
            ("for i in range(1, len(b)): n += (b[i] - b[i - 1]).abs().item()", "n"),
            ("for p, q in zip(b, b[1:]): n += (p - q).abs().item()", "n"),
            ("n += b[torch.arange(2)].sum().item()", "n"),
            ("log_of(1).append(b.max().item())", "log_of(1)"),
            ("rows = log or Rows()\nrows(b.mean().item())\nlog = rows", "max(log)"),
            ("if d.get('n') is not None: n += len(a) - d['n']\nd['n'] = len(a)", "n"),
            ("log.extend(reversed(out.flatten().tolist()))", "log"),
            ("n += np.average((out - b).detach().numpy(), weights=a[:, :1].abs().numpy())", "n"),
        )
    ),
    # what is told of one sample after the other
    ("n = 0.0", "", "for v in b: n += v.mean().item()", "n"),
    ("n = 0.0", "", "for v in b: n = v.mean().item()", "n"),
    ("n = 0.0", "", "for v in b:\n    for w in b: n += (v - w).abs().mean().item()", "n"),
    ("n = 0.0", "", "n = sum(map(lambda v: v.mean().item(), b))", "n"),
    ("n = 0.0", "", "for v, w in zip(b, b[1:]): n += v.mean().item()", "n"),
    ("n = 0.0; log = []", "", "for v in b:\n    n += len(log)\n    log.append(v.sum().item())", "n, log"),
    # and of some of them
    ("n = 0", "", "for v in list(b)[::2]: n += v.numel()", "n"),
    ("n = 0", "", "t = b * 2\nn += len(t[:2]) + t[1:].size(0)", "n"),
    ("n = 0.0", "", "with torch.no_grad(): n += b[b > 0].mean().item()", "n"),
    ("n = 0.0", "", "t = b * 2\nwith torch.no_grad(): n += t[1:].mean().item() + t[0].mean().item()", "n"),
    ("n = 0.0", "", "with torch.no_grad(): n += (out[b > 0] > 0).float().mean().item()", "n"),
)


# Where the shares are unequal, over batches that are split.
MEAN = """\
class Mean:
    def __init__(self):
        self.sum = self.n = 0
    def update(self, value, n):
        self.sum += value * n
        self.n += n
    @property
    def mean(self):
        return self.sum / self.n
meter = Mean()
"""
AVERAGE = """\
class Average:
    def __init__(self):
        self.sum = self.avg = 0.0
        self.count = 0
    def update(self, value, n=1):
        self.add(value * n, n)
    def add(self, total, n):
        self.sum += total
        self.count += n
        self.avg = self.sum / self.count
    def mean(self):
        return self.sum / self.count
    def take(self, loss, batch):
        self.sum += loss.item() * len(batch)
        self.count += len(batch)
class Held:
    def __init__(self):
        self.average = Average()
average, held = Average(), Held()
total = seen = 0.0
def added(value, n):
    global total, seen
    total, seen = total + value * n, seen + n
    return total / seen
"""
# An object, or a function, that keeps what it is given of each batch.
KEPT = """\
class Kept:
    def __init__(self):
        self.each, self.named, self.rows, self.best = [], {}, [], []
        self.hits = self.seen = 0
        self.array, self.counter = np.zeros(0), collections.Counter()
    def add(self, o, t):
        self.each += (o - t).abs().flatten().tolist()
        self.named.setdefault("a", []).extend((o - t).abs().flatten().tolist())
        self.array = np.concatenate([self.array, (o - t).abs().flatten().numpy()])
        self.hits = self.hits + (o > t).sum().item()
        self.seen = self.seen + t.size(0)
    def tell(self, values):
        self.rows.append(dict(values, one=1))
        self.best.append(values["loss"])
        self.best.sort()
        self.best = self.best[:2]
    def rate(self, o, t):
        self.hits += (o > t).sum().item()
        self.seen += len(t)
        return self.hits / self.seen
    def mean_of_high(self, o, t):
        self.outs = getattr(self, "outs", []) + [o]
        self.aims = getattr(self, "aims", []) + [t]
        made, asked = torch.cat(self.outs), torch.cat(self.aims)
        return made[asked > 0].mean().item(), criterion(made, asked).item()
    def count(self, o, t):
        self.seen += len(t)
        self.counter.update(zip((o > 0).flatten().tolist(), (t > 0).flatten().tolist()))
        return sum(n for (p, q), n in self.counter.items() if p == q) / self.seen, self.counter.most_common(1)[0]
    def weigh(self, value, n):
        self.best.append(value)
        self.rows.append(n)
        return np.average(self.best, weights=self.rows)
    def usual(self, value):
        if len(self.each) > 1 and value > np.median(self.each):
            return False
        self.each.append(value)
        return True
kept, each, some = Kept(), [], set()
def note(o, t):
    for value in (o - t).abs().flatten().tolist():
        each.append(value)
def note_rows(o, t):
    for p, q in zip(o, t):
        each.append((p.item(), q.item()))
"""
ERRORS = "e = (out.detach() - b).abs().flatten()\n"
OBJECTS = (
    (KEPT, "", "kept.add(out.detach(), b)", "np.mean(kept.each)"),
    (KEPT, "", "kept.add(out.detach(), b)", "float(np.mean(kept.named['a']))"),
    (KEPT, "", "kept.add(out.detach(), b)", "kept.array.mean()"),
    (KEPT, "", "kept.add(out.detach(), b)", "kept.hits / max(1, kept.seen), kept.seen"),
    (KEPT, "", "note(out.detach(), b)", "sum(each) / len(each), np.mean(each)"),
    (KEPT, "", "kept.tell({'loss': loss.item()})", "np.mean([row['loss'] for row in kept.rows])"),
    (KEPT, "", "kept.tell({'loss': loss.item()})", "kept.best"),
    (KEPT, "", "if kept.usual(loss.item()):\n    optimizer.step()", ""),
    (KEPT, "", "each.append(loss.item())\neach.sort()\neach[:] = each[:2]", "each"),
    (KEPT, "", "with torch.no_grad(): u = model(a)\neach.append(u.quantile(0.9).item())", "each"),
    (KEPT, "", "r = kept.rate(out.detach(), b)\nprint(r)", "r"),
    (KEPT, "", "print(kept.mean_of_high(out.detach(), b))", "torch.cat(kept.outs)[torch.cat(kept.aims) > 0].mean()"),
    (KEPT, "", "print(kept.count(out, b))", ""),
    (KEPT, "", "print(kept.weigh(loss.item(), len(b)))", ""),
    (KEPT, "", "note_rows(out.detach(), b)\nprint(len(each), np.mean([row[0] for row in each]))", ""),
    (
        KEPT,
        "",
        "each += [(p.item(), q.item()) for p, q in zip(out, b)]",
        "np.mean([row[1] for row in each]), len(each)",
    ),
    (KEPT, "", f"{ERRORS}print(max(zip(e.tolist(), b.flatten().tolist())))", ""),
    (KEPT, "", f"{ERRORS}print(sorted(zip(e.tolist(), b.flatten().tolist()))[-2:])", ""),
    (KEPT, "", f"{ERRORS}print([e[i].item() for i in e.argsort()[:3]])", ""),
    (KEPT, "", f"{ERRORS}print((e > 0.5).nonzero().flatten().tolist())", ""),
    (KEPT, "", f"{ERRORS}far = (e > 0.5).nonzero(as_tuple=True)[0]\nprint(len(far), a[far].sum().item())", ""),
    (KEPT, "", f"{ERRORS}first = e[:2]\nprint(first)", ""),
    (KEPT, "", f"{ERRORS}some |= set(e.round().tolist())\nprint(len(some), sorted(some))", ""),
    (KEPT, "", "right = (out > b).squeeze().float()\nprint(right.sum().item())", ""),
)
UNEQUAL = (
    *OBJECTS,
    (AVERAGE, "", "average.update(loss.item(), len(a))\nprint(average.avg)", "average.avg, average.mean()"),
    (AVERAGE, "", "average.add(loss.item() * len(a), len(a))", "average.avg, average.count"),
    (AVERAGE, "", "k = len(a)\naverage.add(loss.item() * k, k)", "average.mean()"),
    (AVERAGE, "", "average.add((out > b).sum().item(), len(a))", "average.avg"),
    (AVERAGE, "", "average.sum += loss.item() * len(a)\naverage.count += len(a)", "average.mean()"),
    (AVERAGE, "", "average.take(loss, a)", "average.mean(), average.sum"),
    (AVERAGE, "", "found = added(loss.item(), len(a))", "found"),
    (AVERAGE, "", "held.average.update(loss.item(), a.size(0))", "held.average.avg"),
    (AVERAGE, "", "held.average.add(loss.item() * len(a), len(a))\nprint(held.average.avg)", "held.average.mean()"),
    ("", "model.weight.grad /= len(a)", "", ""),
    (MEAN, "", "meter.update(loss.item(), len(a))\nprint(meter.mean)", "meter.n"),
    ("counting = Counting()", "", "loss = counting(model(a), b)\nloss.backward()\noptimizer.step()", ""),
)
