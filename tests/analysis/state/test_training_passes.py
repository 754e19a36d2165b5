"""Which training loops a script goes through, and what names mean in them."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.state import is_conditional, is_repeated, meaning, passages, passages_before
from nbddp.analysis.state.training_passes import argument
from tests.analysis.cells import BEFORE, TRAINING, node, plan

INNER = "".join(f"    {line}\n" for line in TRAINING.strip().split("\n")).replace("model(", "net(")
FIT = "def fit(net, epochs=3):\n" + INNER
WHILE = TRAINING.replace("for epoch in range(3):", "epoch = 0\nwhile epoch < 3:") + "    epoch += 1\n"


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.strip("\n").split("\n"))


@pytest.mark.parametrize(
    ("cells", "calls"),
    [
        ((TRAINING,), [[]]),
        ((FIT, "fit(model)"), [["fit(model)"]]),
        ((FIT, "fit(model)\nfit(model, 5)"), [["fit(model)"], ["fit(model, 5)"]]),
        ((TRAINING + TRAINING,), [[], []]),
        ((WHILE,), [[]]),
        ((FIT, "run = lambda: fit(model)\nrun()"), [["run()", "fit(model)"]]),
    ],
)
def test_each_time_that_a_loop_is_gone_through(cells, calls):
    made = plan(*BEFORE, *cells)
    assert [[made.program.source(c) for c in p.calls] for p in passages(made)] == calls


def test_a_while_loop_that_counts_nothing_takes_no_state():
    cell = TRAINING.replace("for epoch in range(3):", "while True:") + "    break\n"
    assert passages(plan(*BEFORE, cell)) == []


def test_those_of_cells_before_are_told_apart():
    made = plan(*BEFORE, TRAINING, "# %%\n%%ddp_train\n" + TRAINING.strip().replace("epoch", "again"))
    assert [ast.unparse(p.fact.node.target) for p in passages(made)] == ["again"]  # type: ignore[union-attr]
    assert [ast.unparse(p.fact.node.target) for p in passages_before(made)] == ["epoch"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("header", "repeated", "conditional"),
    [("for fold in range(2):\n", True, False), ("if input():\n", False, True), ("with open('x'):\n", False, False)],
)
def test_whether_it_is_repeated_or_may_be_left_out(header, repeated, conditional):
    made = plan(*BEFORE, FIT, f"{header}    fit(model)")
    (passage,) = passages(made)
    assert (is_repeated(made, passage), is_conditional(made, passage)) == (repeated, conditional)


def test_an_argument_means_what_it_means_at_the_call():
    made = plan(*BEFORE, "other = nn.Linear(8, 2)", FIT, "fit(other)\nfit(model)")
    found = [meaning(made, p.fact.names, "net", p.calls).objs for p in passages(made)]
    assert len(found) == 2
    assert len(found[0]) == len(found[1]) == 1
    assert found[0] != found[1]


@pytest.mark.parametrize(
    ("call", "name", "given"),
    [("fit(model)", "net", "model"), ("fit(model, 5)", "epochs", "5"), ("fit(model, epochs=6)", "epochs", "6"),
     ("fit(model)", "epochs", None), ("fit(model)", "nowhere", None)],
)  # fmt: skip
def test_the_expression_that_a_parameter_gets(call, name, given):
    made = plan(*BEFORE, FIT, call)
    found = argument(made, node(made, ast.Call, call), name)
    assert (ast.unparse(found) if found is not None else None) == given


def test_of_a_method_the_first_parameter_is_the_thing():
    cls = "class T:\n    def fit(self, net):\n" + indented(INNER) + "\nt = T()\n"
    made = plan(*BEFORE, cls, "t.fit(model)")
    call = node(made, ast.Call, "t.fit(model)")
    assert [ast.unparse(a) for n in ("self", "net") if (a := argument(made, call, n)) is not None] == ["t", "model"]
