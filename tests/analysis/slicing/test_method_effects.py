"""Which methods of a notebook's classes change what they are called on."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.slicing.method_effects import changed_by_calls, changing_methods
from tests.analysis.cells import BEFORE, TRAINING, plan


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("def split(self, n):\n        self.train = self.rows[:n]", {"split"}),
        ("def split(self, n):\n        return self.rows[:n]", set()),
        ("def encode(self, w):\n        return self.words.setdefault(w, 0)", {"encode"}),
        ("def encode(self, w):\n        self.words[w] = 1", {"encode"}),
        ("def encode(self, x):\n        return self.layer(x)", set()),
        ("def transform(me):\n        me.rows.mul_(2)", {"transform"}),
        ("def get(self):\n        found = []\n        found.append(self.rows)\n        return found", set()),
        (
            "def get(self):\n        return self.take()\n    def take(self):\n        return self.rows.pop()",
            {"get", "take"},
        ),
    ],
)
def test_methods_by_what_they_do(body, found):
    tree = ast.parse(f"class Data:\n    {body}\n")
    assert changing_methods(list(ast.walk(tree))) == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("self.count += 1", {"stop"}),
        ("self.note()", {"stop"}),
        ("return self.count", set()),
    ],
)
def test_variables_that_change_when_they_are_called(body, found):
    text = f"""
class Stop:
    count = 0
    def __call__(self):
        {body}
    def note(self):
        self.count = 2
class Other:
    def __call__(self):
        return 1
stop, other = Stop(), Other()
stop = Stop()
other = Other()
"""
    assert changed_by_calls(ast.parse(text).body) == found


PYTHON = (
    "import numpy as np\nimport contextlib, itertools, random\nfrom functools import cached_property, partial, reduce\n"
)
ROWS = "rows = [torch.zeros(8) for _ in range(5)]"
OWN_NUMBERS = """class Drawn:
    def __init__(self):
        self.rng = random.Random(0)
    def get(self):
        return self.rng.random()"""
SEEDED = """class Seeded:
    def __enter__(self):
        torch.manual_seed(4)
    def __exit__(self, *error):
        pass"""
SCALED = """class Scaled:
    def __init__(self, x):
        self.x = x
    def __enter__(self):
        self.x.mul_(2)"""
COUNTS = "class Counts:\n    def __init__(self):\n        self.n = 1"


@pytest.mark.parametrize(
    ("made", "changed"),
    [
        ("half = X.mul_", "half(0.5)"),
        ("changes = {'half': X.mul_}", "changes['half'](0.5)"),
        ("half = partial(torch.mul, X, out=X)", "half(0.5)"),
        ("half = partial(torch.Tensor.mul_, X)", "half(0.5)"),
        (ROWS, "{row.add_(1) for row in rows}"),
        (ROWS, "sorted(rows, key=lambda row: row.add_(1).sum().item())"),
        (ROWS, "reduce(lambda a, b: a.add_(b), rows)"),
        ("rows = [{'x': 1, 'y': 2}]", "named = {row['x']: row.pop('y') for row in rows}"),
        ("rows = iter(X)", "first = list(zip(range(5), rows))"),
        ("rows = (row for row in X)", "list(itertools.islice(rows, 3))"),
        ("rows = map(list, X.tolist())", "any(row[0] > 0.5 for row in rows)"),
        ("def turns():\n    yield from X\nrows = turns()", "for row in rows:\n    break"),
        ("rows = open('rows.txt')", "head = [line for line, _ in zip(rows, range(2))]"),
        (f"{COUNTS}\n    def __getitem__(self, i):\n        self.n += 1\nrows = Counts()", "rows[0]"),
        (f"{COUNTS}\n    def __iter__(self):\n        self.n += 1\n        yield 1\nrows = Counts()", "[*rows]"),
        (f"{COUNTS}\n    def __lshift__(self, i):\n        self.n += i\nrows = Counts()", "rows << 3"),
        (f"{COUNTS}\n    def __enter__(self):\n        self.n += 1\nrows = Counts()", "with rows:\n    print('in')"),
        (f"{COUNTS}\n    @property\n    def size(self):\n        self.n += 1\nrows = Counts()", "rows.size"),
        ("class D:\n    @cached_property\n    def x(self):\n        return torch.randn(8)\nrows = D()", "rows.x"),
        (f"{OWN_NUMBERS}\nrows = Drawn()", "rows.get()"),
        ("rows = (row for row in X)\ntake = rows.__next__", "take()"),
        ("rows = np.random.default_rng(0)\norder = rows.permutation", "order(5)"),
        (SEEDED, "with Seeded():\n    print('seeded')"),
        (SCALED, "with Scaled(X) as scaled:\n    print(scaled)"),
    ],
)  # fmt: skip
def test_what_changes_a_thing_without_its_name_being_assigned_is_kept(made, changed):
    use = "later = X, rows" if "rows" in made else "later = X"
    training = TRAINING.replace("for epoch", f"{use}\nprint(later)\nfor epoch", 1)
    start = f"{PYTHON}X = torch.rand(48, 8)"
    assert changed.split("\n")[0] in _kept(start, made, changed, training)


@pytest.mark.parametrize(
    ("made", "looked_at"),
    [
        (ROWS, "{row.sum().item() for row in rows}"),
        (ROWS, "sorted(rows, key=lambda row: row.sum().item())"),
        (f"{COUNTS}\n    def __getitem__(self, i):\n        return self.n\nrows = Counts()", "rows[0]"),
        ("rows = list(map(list, X.tolist()))", "any(row[0] > 0.5 for row in rows)"),
    ],
)
def test_what_is_only_looked_at_is_left_out(made, looked_at):
    training = TRAINING.replace("for epoch", "print(rows)\nfor epoch", 1)
    assert looked_at not in _kept("X = torch.rand(48, 8)", made, looked_at, training)


def _kept(*cells: str) -> list[str]:
    made = plan(*BEFORE, *cells)
    return [made.program.source(s.node).split("\n")[0] for s in made.kept if s.cell.number > len(BEFORE)]
