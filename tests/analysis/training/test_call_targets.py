"""What a called name stands for that is no function."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.training.call_targets import Meanings

TEXT = """
def one(): pass
def two(): pass
def maker():
    def inner(): pass
    return inner
class Thing:
    def __call__(self): pass
    def make(self):
        def kept(): pass
        return kept
alias = one
again = alias
either = one if x else two
table = {"a": one, "b": two}
taken = table["a"]
got = table.get("b")
part = partial(one, 3)
thing = Thing()
made = maker()
thing.run = thing.make()
run = thing.run
line = lambda: 1
result = one()
number = 3
def runs(loader, compute, *, last): pass
runs(one, Thing(), last=part.two)
class Holder:
    def take(self, given): self.taken = given
Holder().take(lambda: 1)
for item in [one, two]:
    pass
for k, pair in enumerate((two,)):
    pass
"""


def meanings() -> Meanings:
    tree = ast.parse(TEXT)
    functions = {n.name: [n] for n in tree.body if isinstance(n, ast.FunctionDef)}
    parts = {
        c.name: [p for p in c.body if isinstance(p, ast.FunctionDef)] for c in tree.body if isinstance(c, ast.ClassDef)
    }
    called = {name: found[:1] for name, found in parts.items()}
    methods = {p.name: [p] for found in parts.values() for p in found}
    found = Meanings(functions, methods, called)  # type: ignore[arg-type]
    found.learn(ast.walk(tree))
    return found


def named(name: str) -> set[str]:
    return {getattr(found, "name", "lambda") for found in meanings().of(name)}


@pytest.mark.parametrize(
    ("name", "functions"),
    [
        ("alias", {"one"}),
        ("again", {"one"}),
        ("either", {"one", "two"}),
        ("taken", {"one", "two"}),
        ("got", {"one", "two"}),
        ("part", {"one"}),
        ("thing", {"__call__"}),
        ("made", {"inner"}),
        (".run", {"kept"}),
        ("run", {"kept"}),
        ("line", {"lambda"}),
        ("item", {"one", "two"}),
        ("pair", {"two"}),
        ("compute", {"__call__"}),
        ("given", {"lambda"}),
        (".taken", {"lambda"}),
    ],
)
def test_functions_behind_a_name(name, functions):
    assert named(name) == functions


@pytest.mark.parametrize("name", ["number", "result", "nowhere", "loader"])
def test_what_is_none(name):
    assert named(name) == set()


@pytest.mark.parametrize(
    ("text", "makes"),
    [
        ("partial(one)", True),
        ("setattr(x, 'one', one)", True),
        ("maker()", True),
        ("one()", False),
        ("x.step(one)", False),
    ],
)
def test_whether_a_call_makes_a_function(text, makes):
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    assert meanings().makes_function(call) is makes
