"""Methods of models, optimizers and scalers."""

from __future__ import annotations

import ast

from nbddp.analysis.values import Extent
from tests.analysis.cells import BEFORE, DATA, IMPORTS, MODEL, TRAINING, batch, node, plan

M = Extent.MEAN


def test_a_model_in_evaluation_mode_is_asleep_and_train_wakes_it():
    cell = "model.eval()\nfirst = model(torch.zeros(1, 8))\nmodel.train()\nlast = model(torch.zeros(1, 8))"
    made = plan(*BEFORE, cell, batch("n = first, last"))
    passes = {made.program.source(s) for s, seen in made.facts.passes.items() if any(p.awake for p in seen)}
    assert "last = model(torch.zeros(1, 8))" in passes
    assert "first = model(torch.zeros(1, 8))" not in passes


def test_what_a_model_is_given_is_noted_of_each_call_that_runs_it():
    """Also of a call that is not run again, since it would change nothing."""
    cell = "def score(x):\n    return model(x).sum()\n\ndef of_a_share(x):\n    return score(x)\n"
    made = plan(
        *BEFORE, cell, batch("n = of_a_share(x)\n        n = of_a_share(x)") + "\nprint(score(torch.zeros(1, 8)))"
    )
    passes = {made.program.source(n): {p.of_part for p in seen} for n, seen in made.facts.passes.items()}
    assert (passes["of_a_share(x)"], passes["score(torch.zeros(1, 8))"]) == ({True}, {False})
    assert len([n for n in made.facts.passes if made.program.source(n) == "of_a_share(x)"]) == 2


def test_steps_are_noted_with_their_optimizers():
    made = plan(*BEFORE, TRAINING)
    fact = made.facts.calls[node(made, ast.Call, "optimizer.step()")]
    assert {o.name for o in fact.optimizers} == {"torch.optim.SGD"}
    assert not made.facts.calls[node(made, ast.Call, "optimizer.zero_grad()")].optimizers


def test_a_scaler_steps_for_the_optimizer_that_it_is_given():
    cell = TRAINING.replace("loss.backward()", "scaler.scale(loss).backward()").replace(
        "optimizer.step()", "scaler.step(optimizer)")  # fmt: skip
    made = plan(IMPORTS, DATA, MODEL + "scaler = torch.amp.GradScaler()\n", cell)
    assert {o.name for o in made.facts.calls[node(made, ast.Call, "scaler.step(optimizer)")].optimizers} == {
        "torch.optim.SGD"
    }
    assert made.facts.value(node(made, ast.Call, "scaler.scale(loss)")).extent is M
