"""Numbers kept by names, containers and arrays."""

from __future__ import annotations

from tests.spellings.kept.kept import Kept

SUMS = (
    Kept("a name", "total = 0.0", "total += NUMBER", "total"),
    Kept("a name, written out", "total = 0.0", "total = total + NUMBER", "total"),
    Kept("a name and a count", "total = count = 0", "total += NUMBER\ncount += 1", "total / count"),
    Kept(
        "an attribute",
        "state.total = 0.0",
        "state.total += NUMBER",
        "state.total",
        "class State: pass\nstate = State()",
    ),
    Kept(
        "setattr",
        "state.total = 0.0",
        "setattr(state, 'total', getattr(state, 'total') + NUMBER)",
        "state.total",
        "class State: pass\nstate = State()",
    ),
    Kept(
        "a namespace",
        "state = SimpleNamespace(total=0.0)",
        "state.total += NUMBER",
        "state.total",
        "from types import SimpleNamespace",
    ),
    Kept(
        "vars",
        "state.total = 0.0",
        "vars(state)['total'] += NUMBER",
        "state.total",
        "class State: pass\nstate = State()",
    ),
    Kept("a dict joined in its place", "sums = {'v': 0.0}", "sums |= {'v': sums['v'] + NUMBER}", "sums['v']"),
    Kept("dict.update by a dict", "sums = {'v': 0.0}", "sums.update({'v': sums['v'] + NUMBER})", "sums['v']"),
    Kept("an item of a dict", "sums = {'v': 0.0}", "sums['v'] += NUMBER", "sums['v']"),
    Kept("dict.update", "sums = {'v': 0.0}", "sums.update(v=sums['v'] + NUMBER)", "sums['v']"),
    Kept("dict.get", "sums = {}", "sums['v'] = sums.get('v', 0) + NUMBER", "sums['v']"),
    Kept("an item of a list", "sums = [0.0, 0]", "sums[0] += NUMBER\nsums[1] += 1", "sums[0] / sums[1]"),
    Kept("a tuple made anew", "sums = (0.0, 0)", "sums = (sums[0] + NUMBER, sums[1] + 1)", "sums[0] / sums[1]"),
    Kept("a comprehension over zip", "sums = [0.0, 0]", "sums = [s + n for s, n in zip(sums, (NUMBER, 1))]", "sums[0]"),
    Kept(
        "a closure with nonlocal",
        "add = adder()",
        "last = add(NUMBER)",
        "last",
        "def adder():\n    total = 0.0\n    def add(value):\n        nonlocal total\n        total += value\n"
        "        return total\n    return add",
    ),
    Kept(
        "Counter.update",
        "counts = Counter()",
        "counts.update({'v': NUMBER})",
        "counts['v']",
        "from collections import Counter",
    ),
    Kept("a Counter", "counts = Counter()", "counts['v'] += NUMBER", "counts['v']", "from collections import Counter"),
    Kept(
        "a defaultdict of numbers",
        "sums = defaultdict(float)",
        "sums['v'] += NUMBER",
        "sums['v']",
        "from collections import defaultdict",
    ),
    Kept("an array", "sums = np.zeros(2)", "sums[0] += NUMBER", "sums[0]"),
    Kept("a tensor", "total = torch.zeros(1)", "total += NUMBER", "total.item()"),
    Kept("a tensor's method", "total = torch.zeros(())", "total.add_(NUMBER)", "total.item()"),
    Kept("operator.iadd", "total = 0.0", "total = operator.iadd(total, NUMBER)", "total", "import operator"),
    Kept("a walrus in a condition", "total = 0.0", "if (value := NUMBER) > -1:\n    total += value", "total"),
    Kept(
        "a condition on a constant", "total = 0.0", "total = total + NUMBER if FAST else total", "total", "FAST = True"
    ),
    Kept("squares", "total = 0.0", "total += NUMBER ** 2", "total"),
    Kept("a running mean", "mean = count = 0", "count += 1\nmean += (NUMBER - mean) / count", "mean"),
    Kept("a moving average", "ema = 0.0", "ema = 0.9 * ema + 0.1 * NUMBER", "ema"),
    Kept("max", "best = -1.0", "best = max(best, NUMBER)", "best"),
    Kept("min", "best = 1e9", "best = min(best, NUMBER)", "best"),
    Kept("the smallest by a condition", "best = 1e9", "if NUMBER < best:\n    best = NUMBER", "best"),
    Kept("how often it was high", "high = 0", "if NUMBER > LIMIT:\n    high += 1", "high"),
    Kept("how often, by a comparison", "high = 0", "high += NUMBER > LIMIT", "high"),
    Kept("whether ever", "seen = False", "seen = seen or NUMBER > LIMIT", "seen"),
    Kept("the last", "last = 0.0", "last = NUMBER", "last"),
    Kept("the last, rounded", "last = 0.0", "last = round(NUMBER, 3)", "last"),
    Kept("the sum of rounded ones", "total = 0.0", "total += round(NUMBER, 3)", "total"),
    Kept("the last, formatted", "last = ''", "last = f'{NUMBER:.3f}'", "last", kind="list"),
    Kept("a stop when it is low", "steps = 0", "steps += 1\nif NUMBER < LIMIT:\n    break", "steps"),
    Kept("a number or a constant", "last = 0.0", "last = NUMBER if FAST else 1.0", "last", "FAST = True"),
)
