"""How a number of each batch is kept, and what is read of it afterwards.

In the lines NUMBER is the number of a batch. What is kept is made anew before each pass; `once` stands before the training.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "list"]


@dataclass(frozen=True)
class Kept:
    title: str
    before: str
    each: str
    result: str
    once: str = ""
    after: str = ""
    kind: Kind = "number"


SUMS = (
    Kept("a name", "total = 0.0", "total += NUMBER", "total"),
    Kept("a name, written out", "total = 0.0", "total = total + NUMBER", "total"),
    Kept("a name and a count", "total = count = 0", "total += NUMBER\ncount += 1", "total / count"),
    Kept("an attribute", "state.total = 0.0", "state.total += NUMBER", "state.total", "class State: pass\nstate = State()"),
    Kept("setattr", "state.total = 0.0", "setattr(state, 'total', getattr(state, 'total') + NUMBER)", "state.total",
         "class State: pass\nstate = State()"),
    Kept("a namespace", "state = SimpleNamespace(total=0.0)", "state.total += NUMBER", "state.total",
         "from types import SimpleNamespace"),
    Kept("an item of a dict", "sums = {'v': 0.0}", "sums['v'] += NUMBER", "sums['v']"),
    Kept("dict.update", "sums = {'v': 0.0}", "sums.update(v=sums['v'] + NUMBER)", "sums['v']"),
    Kept("dict.get", "sums = {}", "sums['v'] = sums.get('v', 0) + NUMBER", "sums['v']"),
    Kept("an item of a list", "sums = [0.0, 0]", "sums[0] += NUMBER\nsums[1] += 1", "sums[0] / sums[1]"),
    Kept("a tuple made anew", "sums = (0.0, 0)", "sums = (sums[0] + NUMBER, sums[1] + 1)", "sums[0] / sums[1]"),
    Kept("a comprehension over zip", "sums = [0.0, 0]", "sums = [s + n for s, n in zip(sums, (NUMBER, 1))]", "sums[0]"),
    Kept("a closure with nonlocal", "add = adder()", "last = add(NUMBER)", "last",
         "def adder():\n    total = 0.0\n    def add(value):\n        nonlocal total\n        total += value\n        return total\n    return add"),
    Kept("a global", "total = 0.0", "add(NUMBER)", "total",
         "total = 0.0\ndef add(value):\n    global total\n    total += value"),
    Kept("a class variable", "Sums.total = 0.0", "Sums.total += NUMBER", "Sums.total", "class Sums:\n    total = 0.0"),
    Kept("a class method", "Sums.total = 0.0", "Sums.add(NUMBER)", "Sums.total",
         "class Sums:\n    total = 0.0\n    @classmethod\n    def add(cls, value):\n        cls.total += value"),
    Kept("a meter", "meter = Meter()", "meter.update(NUMBER)", "meter.average()",
         "class Meter:\n    def __init__(self):\n        self.sum, self.count = 0.0, 0\n    def update(self, value):\n"
         "        self.sum += value\n        self.count += 1\n    def average(self):\n        return self.sum / self.count"),
    Kept("a meter that holds its average", "meter = Meter()", "meter.update(NUMBER, len(a))", "meter.avg",
         "class Meter:\n    def __init__(self):\n        self.sum = self.count = self.avg = 0\n    def update(self, value, n=1):\n"
         "        self.sum += value * n\n        self.count += n\n        self.avg = self.sum / self.count"),
    Kept("a bound method", "meter = Meter()\nadd = meter.update", "add(NUMBER)", "meter.sum",
         "class Meter:\n    def __init__(self):\n        self.sum = 0.0\n    def update(self, value):\n        self.sum += value"),
    Kept("an object that is called", "meter = Meter()", "meter(NUMBER)", "meter.sum",
         "class Meter:\n    def __init__(self):\n        self.sum = 0.0\n    def __call__(self, value):\n        self.sum += value"),
    Kept("an object with +=", "meter = Meter()", "meter += NUMBER", "meter.sum",
         "class Meter:\n    sum = 0.0\n    def __iadd__(self, value):\n        self.sum += value\n        return self"),
    Kept("a dataclass", "sums = Sums()", "sums.total += NUMBER", "sums.total",
         "from dataclasses import dataclass\n@dataclass\nclass Sums:\n    total: float = 0.0"),
    Kept("Counter.update", "counts = Counter()", "counts.update({'v': NUMBER})", "counts['v']", "from collections import Counter"),
    Kept("a Counter", "counts = Counter()", "counts['v'] += NUMBER", "counts['v']", "from collections import Counter"),
    Kept("a defaultdict of numbers", "sums = defaultdict(float)", "sums['v'] += NUMBER", "sums['v']",
         "from collections import defaultdict"),
    Kept("an array", "sums = np.zeros(2)", "sums[0] += NUMBER", "sums[0]"),
    Kept("a tensor", "total = torch.zeros(1)", "total += NUMBER", "total.item()"),
    Kept("a tensor's method", "total = torch.zeros(())", "total.add_(NUMBER)", "total.item()"),
    Kept("operator.iadd", "total = 0.0", "total = operator.iadd(total, NUMBER)", "total", "import operator"),
    Kept("a walrus in a condition", "total = 0.0", "if (value := NUMBER) > -1:\n    total += value", "total"),
    Kept("a condition on a constant", "total = 0.0", "total = total + NUMBER if FAST else total", "total", "FAST = True"),
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
)  # fmt: skip

LISTS = (
    Kept("a list", "log = []", "log.append(NUMBER)", "log", kind="list"),
    Kept("the sum of a list", "log = []", "log.append(NUMBER)", "sum(log) / len(log)"),
    Kept("an alias of append", "log = []\nadd = log.append", "add(NUMBER)", "log", kind="list"),
    Kept("+= of a list", "log = []", "log += [NUMBER]", "log", kind="list"),
    Kept("extend", "log = []", "log.extend([NUMBER])", "log", kind="list"),
    Kept("insert", "log = []", "log.insert(0, NUMBER)", "log", kind="list"),
    Kept("a lambda", "log = []\nadd = lambda value: log.append(value)", "add(NUMBER)", "log", kind="list"),
    Kept("functools.partial", "log = []\nadd = partial(record, log)", "add(NUMBER)", "log",
         "from functools import partial\ndef record(log, value):\n    log.append(value)", kind="list"),
    Kept("a walrus", "log = []", "log.append(value := NUMBER)", "(log, value)", kind="list"),
    Kept("a tuple of lists", "log = ([], [])", "log[0].append(NUMBER)\nlog[1].append(len(log[0]))", "log", kind="list"),
    Kept("a dict of lists", "log = {'v': []}", "log['v'].append(NUMBER)", "log", kind="list"),
    Kept("setdefault", "log = {}", "log.setdefault('v', []).append(NUMBER)", "log['v']", kind="list"),
    Kept("a defaultdict of lists", "log = defaultdict(list)", "log['v'].append(NUMBER)", "log['v']",
         "from collections import defaultdict", kind="list"),
    Kept("a dict by step", "log = {}", "log[len(log)] = NUMBER", "log", kind="list"),
    Kept("rows of lists", "log = []", "log.append([len(log), NUMBER])", "log", kind="list"),
    Kept("rows of tuples, zip(*rows)", "log = []", "log.append((len(log), NUMBER))", "list(zip(*log))[1]", kind="list"),
    Kept("rows of dicts", "log = []", "log.append({'v': NUMBER})", "[row['v'] for row in log]", kind="list"),
    Kept("dataclass rows", "log = []", "log.append(Row(len(log), NUMBER))", "log",
         "from dataclasses import dataclass\n@dataclass\nclass Row:\n    step: int\n    value: float", kind="list"),
    Kept("namedtuple rows", "log = []", "log.append(Row(len(log), NUMBER))", "[row.value for row in log]",
         "from collections import namedtuple\nRow = namedtuple('Row', 'step value')", kind="list"),
    Kept("a deque", "log = deque()", "log.append(NUMBER)", "sum(log) / len(log)", "from collections import deque"),
    Kept("a deque of the last two", "log = deque(maxlen=2)", "log.append(NUMBER)", "list(log)", "from collections import deque",
         kind="list"),
    Kept("np.mean", "log = []", "log.append(NUMBER)", "np.mean(log).item()"),
    Kept("np.std", "log = []", "log.append(NUMBER)", "np.std(log).item()"),
    Kept("np.median", "log = []", "log.append(NUMBER)", "np.median(log).item()"),
    Kept("np.append", "log = np.array([])", "log = np.append(log, NUMBER)", "log.tolist()", kind="list"),
    Kept("an array by step", "log, step = np.zeros(9), 0", "log[step] = NUMBER\nstep += 1", "log.sum().item()"),
    Kept("statistics.mean", "log = []", "log.append(NUMBER)", "statistics.mean(log)", "import statistics"),
    Kept("math.fsum", "log = []", "log.append(NUMBER)", "math.fsum(log)", "import math"),
    Kept("functools.reduce", "log = []", "log.append(NUMBER)", "reduce(lambda s, n: s + n, log)", "from functools import reduce"),
    Kept("itertools.accumulate", "log = []", "log.append(NUMBER)", "list(accumulate(log))", "from itertools import accumulate",
         kind="list"),
    Kept("the largest of a list", "log = []", "log.append(NUMBER)", "sorted(log)[-1]"),
    Kept("tensors, stacked", "log = []", "log.append(torch.tensor(NUMBER))", "torch.stack(log).double().mean().item()"),
    Kept("a frame of rows", "log = []", "log.append({'v': NUMBER})", "frame['v'].sum().item()", "import pandas as pd",
         after="frame = pd.DataFrame(log)"),
    Kept("a frame by loc", "frame = pd.DataFrame(columns=['v'])", "frame.loc[len(frame)] = [NUMBER]", "frame['v'].tolist()",
         "import pandas as pd", kind="list"),
    Kept("a string", "text = ''", "text += f'{NUMBER} '", "text", kind="list"),
    Kept("a list of strings", "lines = []", "lines.append(f'{NUMBER:.4f}')", "' '.join(lines)", kind="list"),
    Kept("a text buffer", "out = io.StringIO()", "out.write(f'{NUMBER} ')", "out.getvalue()", "import io", kind="list"),
    Kept("a file", "open('log.txt', 'w').close()", "with open('log.txt', 'a') as f:\n    f.write(f'{NUMBER}\\n')", "values",
         after="with open('log.txt') as f:\n    values = [float(line) for line in f]", kind="list"),
    Kept("a queue", "log = Queue()", "log.put(NUMBER)", "sum(log.queue)", "from queue import Queue"),
    Kept("an array.array", "log = array('d')", "log.append(NUMBER)", "log.tolist()", "from array import array", kind="list"),
    Kept("a print at each step", "pass", "print('step', NUMBER)", "0"),
)  # fmt: skip

KEPT = (*SUMS, *LISTS)
