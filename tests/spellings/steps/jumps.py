"""What is set before a `break`, a `continue`, a `return` or an error, in a step; what is added up or asked of all."""

from __future__ import annotations

NUMBERED = "at = -1; n = None; total = 0.0"
NOTED = """def note(value, at):
    global noted
    if at == 1:
        noted = value
        return True
    return False
at = -1; noted = None"""
CAUGHT = """at += 1
try:
    if at == 1:
        n = loss.item()
        raise ValueError(at)
except ValueError:
    pass"""
INNER = """at += 1
for k in range(3):
    if k == at:
        total = total + (out - b).abs().sum().item()
        break
else:
    total = 0.0"""
RESULT = """class Result:
    def __init__(self, total=0.0, count=0):
        self.total, self.count = total, count
    def __add__(self, other):
        return Result(self.total + other.total, self.count + other.count)
    def __radd__(self, other):
        return self
    def __iadd__(self, other):
        self.total += other.total
        self.count += other.count
        return self
    def add(self, value, k):
        self.total += value * k
        self.count += k
        return self
    def mean(self):
        return self.total / self.count
result, results = Result(), []"""
METERS = """class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0
    def add(self, value, k):
        self.total += value * k
        self.count += k
    def mean(self):
        return self.total / self.count
class Meters(dict):
    def __missing__(self, key):
        self[key] = Meter()
        return self[key]
    def log(self, k, **values):
        for key, value in values.items():
            self[key].add(value, k)
class Named(Meters):
    def __init__(self, *names):
        super().__init__((name, Meter()) for name in names)
meters, named = Meters(), Named("loss")"""
HISTORY = "losses, run = [], []"
SLOWER = "optimizer.param_groups[0]['lr'] *= 0.5"


def slower_where(condition: str) -> str:
    return f"losses.append(loss.item())\nif {condition}:\n    {SLOWER}"


def shown_of(number: str) -> str:
    return f"losses.append(loss.item())\nprint({number})"


ASSERTED = f"""losses.append(loss.item())
try:
    assert losses[-1] >= losses[0]
except AssertionError:
    {SLOWER}"""
FOUND = f"""losses.append(loss.item())
found = [i for i in range(1, len(losses)) if losses[i] > losses[i - 1]]
if found and found[-1] == len(losses) - 1:
    {SLOWER}"""
ROWS = """run.append([loss.item(), (out > b).sum().item()])
rows = np.array(run)
print(rows[:, 0].mean(), rows[:, 1].sum())"""
COUNTED = "run.append((loss.item(), len(a)))\nprint(sum(v * k for v, k in run) / sum(k for _, k in run))"
# What a step asks of all losses so far.
ASKED = (
    *(
        slower_where(condition)
        for condition in (
            "any(v < losses[0] for v in losses[1:])",
            "all(v <= losses[0] for v in losses)",
            "not any([losses[-1] < losses[0], losses[-1] < 0])",
            "(np.array(losses) < losses[0]).any()",
            "all(v > w for v, w in zip(losses, losses[1:]))",
            "len(list(filter(lambda v: v < losses[0], losses))) > 1",
        )
    ),
    *(
        shown_of(number)
        for number in (
            "next((i for i, v in enumerate(losses) if v < losses[0]), None)",
            "sorted(range(len(losses)), key=lambda i: losses[i])[:2]",
            "len({round(v, 1) for v in losses})",
            "min(range(len(losses)), key=lambda i: losses[i])",
            "sorted(range(len(losses)), key=losses.__getitem__)[0]",
        )
    ),
    ASSERTED,
    FOUND,
    ROWS,
    COUNTED,
)
JUMPS = (
    (NUMBERED, "at += 1\nif at == 1:\n    n = loss.item()\n    break", "n"),
    (NUMBERED, "at += 1\nif at == 1:\n    n = loss.item()\n    continue\nat += 0", "n"),
    (NUMBERED, "at += 1\nif at % 2:\n    total += (out > b).sum().item()\n    continue\nat += 0", "total"),
    (NUMBERED, CAUGHT, "n"),
    (NUMBERED, INNER, "total"),
    (NOTED, "at += 1\nnote(loss.item(), at)", "noted"),
    (RESULT, "result = result + Result(loss.item() * len(a), len(a))", "result.mean()"),
    (RESULT, "result += Result().add(loss.item(), len(a))\nprint(result.total / result.count)", ""),
    (RESULT, "results.append(Result((out > b).sum().item(), len(a)))", "sum(results).mean()"),
    (RESULT, "results.append(Result((out > b).sum().item(), len(a)))", "sum(results, Result()).mean()"),
    (METERS, "meters.log(len(a), loss=loss.item())", "meters['loss'].mean()"),
    (METERS, "named.log(len(a), loss=loss.item())", "named['loss'].mean()"),
    *((HISTORY, each, "") for each in ASKED),
)
