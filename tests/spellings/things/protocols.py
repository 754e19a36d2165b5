"""What is kept by way of iterators, context managers, exceptions, threads of control, files."""

from __future__ import annotations

from tests.spellings.things.thing import Thing

TIMER = """from contextlib import contextmanager
spans = []
@contextmanager
def span(name):
    spans.append(name)
    held = []
    try:
        yield held
    finally:
        spans.append(sum(held))"""
LOOKUP = """class Log(dict):
    def add(self, **values):
        for name, value in values.items():
            self.setdefault(name, []).append(value)
    def __missing__(self, name):
        return []
    def means(self):
        return {name: sum(held) / len(held) for name, held in self.items()}
class Held(list):
    def put(self, value):
        self.append(value)
        return self
    @property
    def mean(self):
        return sum(self) / max(1, len(self))"""
TRIED = """class Low(Exception):
    pass
def check(value):
    if value < 1:
        raise Low(value)
    return value"""
LISTENERS = """class Bus:
    def __init__(self):
        self.listeners, self.total = [], 0.0
    def on(self, function):
        self.listeners.append(function)
        return function
    def fire(self, *values, **named):
        for function in self.listeners:
            function(*values, **named)"""

PROTOCOLS = (
    Thing(
        "spans.clear()",
        ("with span('s') as held:\n    held.append(N)", "with span('t') as held:\n    held.extend([N, M])"),
        ("spans", "len(spans)", "[s for s in spans if s != 's']"),
        TIMER,
    ),
    Thing(
        "log_of = Log()",
        ("log_of.add(a=N)", "log_of.add(a=N, b=M)", "log_of['c'] = N", "log_of['a'] = log_of['a'] + [N]"),
        ("log_of", "log_of.get('a')", "len(log_of)", "sorted(log_of)", "log_of['a']", "sum(log_of['a'])"),
        LOOKUP,
    ),
    Thing(
        "held_in = Held()",
        ("held_in.put(N)", "held_in.append(N)", "held_in.put(N).put(M)", "held_in += [N]"),
        ("held_in", "held_in.mean", "len(held_in)", "held_in[-1:]", "sum(held_in)"),
        LOOKUP,
        "held_in",
    ),
    Thing(
        "tried, failed = 0.0, 0",
        ("try:\n    tried += check(N)\nexcept Low:\n    failed += 1",
         "try:\n    tried = check(N)\nexcept Low as error:\n    failed = error.args[0]",
         "try:\n    tried += N\nfinally:\n    failed += 1",
         "try:\n    tried += 1 / int(N > 2)\nexcept ZeroDivisionError:\n    failed += 1",
         "try:\n    check(N)\nexcept Low:\n    continue\ntried += M",
         "try:\n    check(N)\nexcept Low:\n    pass\nelse:\n    tried += N"),
        ("tried", "failed", "(tried, failed)"),
        TRIED,
        "tried, failed",
    ),
    Thing(
        "bus, heard = Bus(), []\nbus.on(heard.append)",
        ("bus.fire(N)", "bus.total += N\nbus.fire(bus.total)", "bus.on(lambda v: None)\nbus.fire(N)"),
        ("heard", "sum(heard)", "len(heard)", "bus.total", "len(bus.listeners)"),
        LISTENERS,
    ),
    Thing(
        "numbers, taken = itertools.count(), []",
        ("taken.append(next(numbers))", "taken.append((next(numbers), N))",
         "taken.extend(itertools.islice(numbers, 2))", "taken = list(itertools.chain(taken, [N]))",
         "taken += itertools.repeat(N, 2)", "taken = list(itertools.accumulate([*taken, N]))[-2:]"),
        ("taken", "len(taken)", "taken[-1]", "next(numbers)"),
        "import itertools",
        "taken",
    ),
    Thing(
        "out = io.StringIO()",
        ("out.write(f'{N} ')", "print(N, file=out)", "print(step, M, file=out)",
         "csv.writer(out).writerow([step, N])"),
        ("out.getvalue()", "len(out.getvalue().split())"),
        "import io, csv",
    ),
    Thing(
        "open('notes.txt', 'w').close()",
        ("with open('notes.txt', 'a') as f: f.write(f'{N}\\n')",
         "with open('notes.txt', 'a') as f: print(step, N, file=f)",
         "with open('last.json', 'w') as f: json.dump({'v': N}, f)", "Path('last.txt').write_text(str(N))"),
        ("len(Path('notes.txt').read_text().split())", "Path('notes.txt').read_text()"),
        "import json\nfrom pathlib import Path",
    ),
    Thing(
        "heap = []",
        ("heapq.heappush(heap, N)", "heapq.heappush(heap, N)\nif len(heap) > 2: heapq.heappop(heap)",
         "heapq.heappush(heap, (N, step))", "bisect.insort(heap, N)"),
        ("heap", "heap[0]", "sorted(heap)", "len(heap)", "heapq.nsmallest(1, heap)"),
        "import heapq, bisect",
    ),
    Thing(
        "switch = 'low'",
        ("match N > 2:\n    case True:\n        switch = 'high'\n    case _:\n        switch = 'low'",
         "switch = 'high' if N > 2 else switch", "while N > 3 and switch == 'low':\n    switch = 'high'",
         "assert N > -99\nswitch = f'{N:.1f}'", "switch = 'high' if N > 2 and M > 1 else 'low'",
         "for v in (N, M):\n    if v > 3:\n        break\nelse:\n    switch = 'none'",
         "switch = ('low', 'high')[N > 2]"),
        ("switch", "switch == 'high'", "len(switch)"),
        names="switch",
    ),
)  # fmt: skip
