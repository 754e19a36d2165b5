"""Numbers kept by classes, their instances and functions."""

from __future__ import annotations

from tests.spellings.kept.kept import Kept

OBJECTS = (
    Kept(
        "a global",
        "total = 0.0",
        "add(NUMBER)",
        "total",
        "total = 0.0\ndef add(value):\n    global total\n    total += value",
    ),
    Kept("a class variable", "Sums.total = 0.0", "Sums.total += NUMBER", "Sums.total", "class Sums:\n    total = 0.0"),
    Kept(
        "a class method",
        "Sums.total = 0.0",
        "Sums.add(NUMBER)",
        "Sums.total",
        "class Sums:\n    total = 0.0\n    @classmethod\n    def add(cls, value):\n        cls.total += value",
    ),
    Kept(
        "a meter",
        "meter = Meter()",
        "meter.update(NUMBER)",
        "meter.average()",
        "class Meter:\n    def __init__(self):\n        self.sum, self.count = 0.0, 0\n"
        "    def update(self, value):\n"
        "        self.sum += value\n        self.count += 1\n    def average(self):\n"
        "        return self.sum / self.count",
    ),
    Kept(
        "a meter that holds its average",
        "meter = Meter()",
        "meter.update(NUMBER, len(a))",
        "meter.avg",
        "class Meter:\n    def __init__(self):\n        self.sum = self.count = self.avg = 0\n"
        "    def update(self, value, n=1):\n"
        "        self.sum += value * n\n        self.count += n\n        self.avg = self.sum / self.count",
    ),
    Kept(
        "a bound method",
        "meter = Meter()\nadd = meter.update",
        "add(NUMBER)",
        "meter.sum",
        "class Meter:\n    def __init__(self):\n        self.sum = 0.0\n    def update(self, value):\n"
        "        self.sum += value",
    ),
    Kept(
        "a decorated function",
        "log = []",
        "noted(NUMBER)",
        "log",
        "log = []\ndef note(function):\n    def inner(value):\n        log.append(function(value))\n    return inner\n"
        "@note\ndef noted(value):\n    return value * 2",
        kind="list",
    ),
    Kept(
        "a buffer of a module",
        "sums.total.zero_()",
        "sums.total += NUMBER",
        "sums.total.item()",
        "class Sums(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('total', torch.zeros(()))\nsums = Sums()",
    ),
    Kept(
        "an object that is called",
        "meter = Meter()",
        "meter(NUMBER)",
        "meter.sum",
        "class Meter:\n    def __init__(self):\n        self.sum = 0.0\n    def __call__(self, value):\n"
        "        self.sum += value",
    ),
    Kept(
        "an object with +=",
        "meter = Meter()",
        "meter += NUMBER",
        "meter.sum",
        "class Meter:\n    sum = 0.0\n    def __iadd__(self, value):\n        self.sum += value\n        return self",
    ),
    Kept(
        "a dataclass",
        "sums = Sums()",
        "sums.total += NUMBER",
        "sums.total",
        "from dataclasses import dataclass\n@dataclass\nclass Sums:\n    total: float = 0.0",
    ),
)
