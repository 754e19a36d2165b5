"""Numbers that are kept by things of classes and functions of the notebook's own, and by Python's less common ways."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from tests.spellings.judge import outcome
from tests.spellings.program import CELLS, STEP, filled

LOG = """class Log(dict):
    def add(self, **values):
        for name, value in values.items():
            self.setdefault(name, []).append(value)"""
HELD = """class Held(list):
    def put(self, value):
        self.append(value)
        return self
    def append(self, value):
        super().append(value)
    @property
    def mean(self):
        return sum(self) / max(1, len(self))"""
WINDOW = """from collections import UserDict, deque
class Window(deque):
    def __init__(self, size):
        super().__init__(maxlen=size)
class Named(UserDict):
    pass
class Inner(Named):
    def put(self, name, value):
        self[name] = self.get(name, 0.0) + value"""
RETURNS = """log = []
class Odd(Exception):
    pass
def check(value):
    if int(value) % 2:
        raise Odd(value)
def put(value):
    if int(value) % 2:
        return
    log.append(1)"""
WAYS = (
    # containers of the notebook's own: they hold what is put into them
    (LOG, "log = Log()", "log.add(a=NUMBER)", "log"),
    (LOG, "log = Log(a=[])", "log['a'].append(NUMBER)", "log['a']"),
    (LOG, "log = Log()", "log['a'] = NUMBER", "log.get('a')"),
    (HELD, "held = Held()", "held.put(NUMBER)", "held"),
    (HELD, "held = Held()", "held.append(NUMBER)", "held[-1]"),
    (HELD, "held = Held([0.0])", "held.put(NUMBER)", "held.mean"),
    (HELD, "held = Held()", "held += [NUMBER]", "sum(held)"),
    (WINDOW, "held = Window(3)", "held.append(NUMBER)", "list(held)"),
    (WINDOW, "held = Inner()", "held.put('a', NUMBER)", "held['a']"),
    # what each rank does as often as its own numbers say
    ("", "s = 'low'", "for v in (NUMBER * 3, len(a)):\n    if v > 3: break\nelse:\n    s = 'none'", "s"),
    ("", "s = 0", "for v in (NUMBER * 3, len(a)):\n    if v > 3: break\n    s += 1", "s"),
    ("", "s = 0", "for v in (NUMBER * 3, len(a)):\n    if v < 7: continue\n    s += 1", "s"),
    ("", "s = 0", "for k in range(int(NUMBER)):\n    s += 1", "s"),
    ("", "s = 0", "for k in range(len(a)):\n    if a[k, 0] > 1: break\n    s += 1", "s"),
    ("", "s = 0", "match int(NUMBER):\n    case 0: s += 1\n    case 1 | 2: s += 5\n    case _: s += 7", "s"),
    ("", "seen = set()", "seen.add(round(NUMBER))", "len(seen)"),
    (RETURNS, "log = []", "put(NUMBER)", "len(log)"),
    (RETURNS, "s = 0", "try:\n    check(NUMBER)\n    s += 1\nexcept Odd:\n    s += 2\nelse:\n    s += 4", "s"),
    ("", "s = 0", "try:\n    assert NUMBER > 2\nexcept AssertionError:\n    s = s + 10\nelse:\n    s += 1", "s"),
    ("", "s = 0", "try:\n    [0, 1, 2][int(NUMBER)]\nexcept IndexError:\n    s += 1", "s"),
)
NUMBERS = ("loss.item()", "(model(a) > b).sum().item()")


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(("once", "before", "each", "shown"), WAYS)
def test_what_is_kept_of_each_step(once: str, before: str, each: str, shown: str, number: str, tmp_path: Path) -> None:
    body = f"{before}\n{STEP}{indent(each, '    ')}\nprint({shown})"
    text = filled(CELLS, once=once or "pass", training=indent(body, "    "), show="", end="")
    found = outcome(text.replace("NUMBER", number).replace("@LIMIT@", "0"), (2, 3), tmp_path, cell=2)
    assert found.verdict != "WRONG", found.why
