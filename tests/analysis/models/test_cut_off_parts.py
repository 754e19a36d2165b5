"""Parts through which no gradient comes back."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.models.cut_off_parts import cut_off

NEAR = """
    def near(self, z):
        table = self.book.weight
        return z @ table
    def again(self, z):
        return self.near(z) if z.sum() > 0 else self.again(z + 1)
"""


def found(*lines: str, init: str = "pass") -> set[str]:
    body = "\n".join(f"        {line}" for line in lines)
    tree = ast.parse(
        f"class Net(Module):\n    def __init__(self):\n        {init}\n    def forward(self, x):\n{body}{NEAR}"
    )
    (owner,) = tree.body
    assert isinstance(owner, ast.ClassDef)
    forward = owner.body[1]
    assert isinstance(forward, ast.FunctionDef)
    return cut_off(owner, forward) & {"book"}


@pytest.mark.parametrize(
    "lines",
    [
        ("z = self.book(x)", "z = x + (z - x).detach()", "return z"),
        ("near = torch.argmin((x - self.book.weight) ** 2, dim=1)", "return x[near]"),
        ("with torch.no_grad():", "    z = self.book(x)", "return x, z"),
        ("z = self.book(x).detach()", "if x.sum() > 0:", "    z = z + 1", "return z"),
        ("z = self.book(x)", "if self.training:", "    z = z.detach()", "return z"),
        ("z = self.book(x)", "if x.sum() > 0:", "    z = torch.zeros_like(z)", "return x + z"),
        ("z = self.near(x)", "return x + (z - x).detach()"),
        ("with torch.no_grad():", "    z = self.near(x)", "return x, z"),
    ],
)
def test_nothing_comes_back(lines):
    assert found(*lines) == {"book"}


@pytest.mark.parametrize(
    "lines",
    [
        ("return self.book(x)",),
        ("z = self.book(x)", "loss = F.mse_loss(z, x.detach())", "z = x + (z - x).detach()", "return z, loss"),
        ("z = self.near(x)", "if x.sum() > 0:", "    z = z + x", "return z"),
        ("if self.deep:", "    x = x.flatten(1)", "else:", "    x = x.mean(1)", "return self.near(x)"),
        ("z = self.again(x)", "return z"),
        ("outs = []", "for _ in range(3):", "    outs.append(self.book(x))", "return outs"),
        ("self.last = self.book(x)", "return x"),
        ("z = self.book(x)", "while x.sum() > 0:", "    x = x + z", "return x"),
    ],
)
def test_something_does(lines):
    assert found(*lines) == set()


def test_a_class_that_freezes_parts_itself():
    lines = ("with torch.no_grad():", "    z = self.book(x)", "return x, z")
    assert found(*lines, init="self.book.weight.requires_grad = False") == set()


@pytest.mark.parametrize(
    ("decode", "unread", "expected"),
    [
        ("return self.nodes(z), self.edges(z)", {1}, {"edges"}),
        ("return self.nodes(z), self.edges(z)", {0}, {"nodes"}),
        ("return self.nodes(z), self.edges(z)", set(), set()),
        ("h = self.nodes(z)\n        return h, self.edges(h)", {1}, {"edges"}),
        ("return z + self.nodes(z) + self.edges(z)", {1}, set()),
    ],
)
def test_what_a_method_gives_back_at_places_that_nobody_reads(decode, unread, expected):
    two = "a, b = self.decode(x)\n        return a, b" if "," in decode else "a = self.decode(x)\n        return a, x"
    (owner,) = ast.parse(
        f"class Net(Module):\n    def decode(self, z):\n        {decode}\n    def forward(self, x):\n        {two}"
    ).body
    assert isinstance(owner, ast.ClassDef)
    forward = owner.body[1]
    assert isinstance(forward, ast.FunctionDef)
    assert cut_off(owner, forward, frozenset(unread)) == expected
