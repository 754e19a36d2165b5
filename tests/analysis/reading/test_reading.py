"""What later decisions ask of a reading."""

from __future__ import annotations

import ast

import pytest

from tests.analysis.cells import BEFORE, TRAINING, batch, evaluation, node, plan

UNUSED = "unused = 3\n"
SHOW = "def show(value):\n    print(value)\n"


def test_what_is_kept_has_the_training_and_not_what_it_does_not_need():
    made = plan(*BEFORE, UNUSED, TRAINING)
    texts = [made.program.source(s.node) for s in made.kept]
    assert "unused = 3" not in texts
    assert "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)" in texts
    assert [s.cell.number for s in made.training] == [5]
    assert not [n for n in made.nodes() if isinstance(n, ast.Name) and n.id == "unused"]


def test_calls_by_their_qualified_names_in_the_order_of_the_text():
    made = plan(*BEFORE, TRAINING)
    found = [made.program.source(c.node.func) for c in made.calls("torch.randint", "torch.randn")]
    assert found == ["torch.randn", "torch.randint"]  # those of the evaluation's data are not kept
    assert list(made.calls("torch.nowhere")) == []


def test_the_statement_of_the_cells_that_holds_a_node():
    made = plan(*BEFORE, TRAINING)
    found = made.top_level(node(made, ast.Call, "loss.backward()"))
    assert found is not None
    assert isinstance(found.node, ast.For)
    assert made.top_level(ast.Pass()) is None


def test_evaluations_that_are_dealt_out():
    made = plan(*BEFORE, evaluation("n = 0", "n += len(x)", "print(n)"))
    assert made.dealt == {f.node for f in made.roles.evaluation_loops}
    assert not plan(*BEFORE, evaluation("n = 0", "n = max(n, x.max().item())", "print(n)")).dealt


@pytest.mark.parametrize(("line", "yes"), [("print(1)", True), ("show(1)", False), ("n = print", False)])
def test_whether_a_statement_prints(line, yes):
    made = plan(*BEFORE, SHOW, batch(line))
    inner = next(f for f in made.roles.batch_loops).node
    assert isinstance(inner, ast.For)
    assert made.is_print(inner.body[-1]) is yes


def test_how_code_asks_for_its_rank():
    made = plan(*BEFORE, SHOW, batch("show(1)"))
    assert made.rank(node(made, ast.Call, "show(1)")) == "rank"
    assert made.rank(node(made, ast.Call, "print(value)")) == "dist.get_rank()"
    taken = plan(*BEFORE, "rank = 3", batch("n = rank"))
    assert taken.rank(node(taken, ast.Call, "loss.backward()")) != "rank"


def test_what_the_training_is_left_to():
    assert plan(*BEFORE, TRAINING).framework is None
    cell = "from accelerate import Accelerator\naccelerator = Accelerator()"
    made = plan(*BEFORE, cell, TRAINING.replace("loss.backward()", "accelerator.backward(loss)"))
    assert made.framework is not None
    assert made.framework.framework.name == "Accelerate"
