"""Numbers kept one after another."""

from __future__ import annotations

from tests.spellings.kept.kept import Kept

LISTS = (
    Kept("a list", "log = []", "log.append(NUMBER)", "log", kind="list"),
    Kept("the sum of a list", "log = []", "log.append(NUMBER)", "sum(log) / len(log)"),
    Kept("an alias of append", "log = []\nadd = log.append", "add(NUMBER)", "log", kind="list"),
    Kept("+= of a list", "log = []", "log += [NUMBER]", "log", kind="list"),
    Kept("extend", "log = []", "log.extend([NUMBER])", "log", kind="list"),
    Kept("insert", "log = []", "log.insert(0, NUMBER)", "log", kind="list"),
    Kept("a lambda", "log = []\nadd = lambda value: log.append(value)", "add(NUMBER)", "log", kind="list"),
    Kept(
        "functools.partial",
        "log = []\nadd = partial(record, log)",
        "add(NUMBER)",
        "log",
        "from functools import partial\ndef record(log, value):\n    log.append(value)",
        kind="list",
    ),
    Kept("a walrus", "log = []", "log.append(value := NUMBER)", "(log, value)", kind="list"),
    Kept("a tuple of lists", "log = ([], [])", "log[0].append(NUMBER)\nlog[1].append(len(log[0]))", "log", kind="list"),
    Kept("a dict of lists", "log = {'v': []}", "log['v'].append(NUMBER)", "log", kind="list"),
    Kept("setdefault", "log = {}", "log.setdefault('v', []).append(NUMBER)", "log['v']", kind="list"),
    Kept(
        "a defaultdict of lists",
        "log = defaultdict(list)",
        "log['v'].append(NUMBER)",
        "log['v']",
        "from collections import defaultdict",
        kind="list",
    ),
    Kept("a dict by step", "log = {}", "log[len(log)] = NUMBER", "log", kind="list"),
    Kept("rows of lists", "log = []", "log.append([len(log), NUMBER])", "log", kind="list"),
    Kept("rows of tuples, zip(*rows)", "log = []", "log.append((len(log), NUMBER))", "list(zip(*log))[1]", kind="list"),
    Kept("rows of dicts", "log = []", "log.append({'v': NUMBER})", "[row['v'] for row in log]", kind="list"),
    Kept(
        "dataclass rows",
        "log = []",
        "log.append(Row(len(log), NUMBER))",
        "log",
        "from dataclasses import dataclass\n@dataclass\nclass Row:\n    step: int\n    value: float",
        kind="list",
    ),
    Kept(
        "namedtuple rows",
        "log = []",
        "log.append(Row(len(log), NUMBER))",
        "[row.value for row in log]",
        "from collections import namedtuple\nRow = namedtuple('Row', 'step value')",
        kind="list",
    ),
    Kept("a deque", "log = deque()", "log.append(NUMBER)", "sum(log) / len(log)", "from collections import deque"),
    Kept(
        "a deque of the last two",
        "log = deque(maxlen=2)",
        "log.append(NUMBER)",
        "list(log)",
        "from collections import deque",
        kind="list",
    ),
    Kept(
        "a deque that turns",
        "log = deque([0.0, 0.0])",
        "log[0] += NUMBER\nlog.rotate(1)",
        "list(log)",
        "from collections import deque",
        kind="list",
    ),
    Kept("+= of a tuple", "log = ()", "log += (NUMBER,)", "log", kind="list"),
)
