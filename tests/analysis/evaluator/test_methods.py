"""What methods give: of tensors, containers, models and optimizers."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import Extent, is_uneven
from tests.analysis.cells import BEFORE, DATA, IMPORTS, MODEL, TRAINING, batch, node, plan, seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("x.size(0)", T),
        ("x.size(1)", U),
        ("x.size()[0]", T),
        ("x.numel()", T),
        ("x.dim()", U),
        ("loss.item()", M),
        ("x.sum()", T),
        ("x.sum(0)", T),
        ("x.sum(1)", S),
        ("x.sum(dim=0)", T),
        ("x.sum(axis=1)", S),
        ("x.mean()", M),
        ("x.mean(1)", S),
        ("x.mean().item()", M),
        ("x.view(-1)", S),
        ("x.detach().cpu().numpy()", S),
        ("x.mul(2)", S),
        ("loss.mul(len(x))", T),
        ("loss.add(1)", M),
        ("x.sum().add(1)", V),
        ("loss.div(2)", M),
        ("loss.exp()", V),
        ("x.exp()", S),
        ("x.max()", V),
        ("x.max(1)", S),
        ("loss.abs()", V),
        ("x.sum().sqrt()", V),
        ("x.eq(y)", S),
        ("x.eq(y).sum()", T),
    ],
)
def test_extents_of_tensors(call, expected):
    assert seen(call, f"n = {call}") is expected


@pytest.mark.parametrize(
    ("before", "lines", "source", "expected"),
    [
        ("log = []", ["log.append(loss.item())", "n = log[0]"], "log[0]", M),
        ("log = []", ["log.append(epoch)", "n = log[0]"], "log[0]", U),
        ("log = []", ["log.extend(y.tolist())", "n = log[0]"], "log[0]", S),
        ("log = {}", ["log.update(a=loss.item())", "n = log['a']"], "log['a']", M),
        ("log = {}", ["log.update({'a': loss.item()})", "n = log['a']"], "log['a']", M),
        ("log = {'a': 0.0}", ["log.setdefault('b', loss.item())", "n = log['b']"], "log['b']", M),
        ("log = {'a': 0.0, 'b': []}", ["log['b'].append(loss.item())", "n = log['b'][0]"], "log['b'][0]", M),
        ("log = {'a': 1}", ["log['b'] = loss.item()", "n = log.get('b')"], "log.get('b')", M),
        ("log = {'a': 1}", ["log['b'] = loss.item()", "n = log.get('a')"], "log.get('a')", U),
        ("log = [1]", ["log.append(loss.item())", "n = log.pop()"], "log.pop()", M),
        ("log = {'a': 1}", ["n = list(log.values())[0]"], "list(log.values())[0]", U),
    ],
)
def test_containers_hold_what_was_put_in(before, lines, source, expected):
    assert seen(source, *lines, before=before) is expected


def uneven(before: str, *lines: str) -> bool:
    made = plan(*BEFORE, before, batch(*lines, "n = log"))
    return is_uneven(made.facts, made.facts.value(node(made, ast.Name, "log")))


@pytest.mark.parametrize(
    ("before", "lines"),
    [
        ("log = []", ["if x.max() > 2:", "    log.append(loss.item())"]),
        ("log = []", ["for v in y:", "    if v > 0:", "        log.append(v)"]),
        ("log = []", ["if x.max() > 2:", "    log.extend([loss.item()])"]),
        ("log = [1]", ["if x.max() > 2:", "    log.pop()"]),
        ("log = [1]", ["if x.max() > 2:", "    log.clear()"]),
        ("log = [1]", ["if x.max() > 2:", "    log.remove(1)"]),
        ("log = {1}", ["if x.max() > 2:", "    log.discard(1)"]),
        ("log = {'a': 1}", ["if x.max() > 2:", "    log.popitem()"]),
        ("log = [1]", ["if x.max() > 2:", "    del log[0]"]),
        ("log = {}", ["del log[y[0].item()]"]),
        ("log = {}", ["log.setdefault(y[0].item(), []).append(1)"]),
        ("log = {}", ["log[y[0].item()] = 1"]),
    ],
)
def test_containers_that_may_be_longer_on_one_rank(before, lines):
    assert uneven(before, *lines)


@pytest.mark.parametrize(
    ("before", "lines"),
    [
        ("log = []", ["log.append(loss.item())"]),
        ("log = []", ["if epoch > 1:", "    log.append(loss.item())"]),
        ("log = {}", ["log[epoch] = loss.item()"]),
        ("log = {}", ["log.setdefault(epoch, []).append(loss.item())"]),
        ("log = [1]", ["log.pop()"]),
        ("log = [1]", ["log.clear()"]),
        ("log = [1]", ["log.remove(1)"]),
        ("log = [1]", ["if epoch > 1:", "    log.clear()"]),
        ("log = [1]", ["del log[0]"]),
        ("log = {}", ["del log[epoch]"]),
    ],
)
def test_containers_that_are_as_long_on_all(before, lines):
    assert not uneven(before, *lines)


def test_a_step_that_a_framework_calls_is_looked_at_and_is_no_training_of_the_notebooks_own():
    net = """
    import lightning as L
    class Net(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 2)
        def training_step(self, batch, i):
            x, t = batch
            return self.layer(x).sum()
    """
    made = plan(IMPORTS, DATA, net, "L.Trainer().fit(Net(), train_loader)")
    assert made.facts.value(node(made, ast.Call, "self.layer(x)")).extent is S
    assert not made.roles.models


def test_what_changes_in_place_makes_the_name_differ():
    assert seen("total", "total.add_(loss.detach())", "n = (total)", before="total = torch.zeros(1)") is M
    assert seen("total", "total.copy_(x[0])", "n = (total)", before="total = torch.zeros(8)") is S
    assert seen("total", "total.fill_(epoch)", "n = (total)", before="total = torch.zeros(1)") is U


def test_a_model_in_evaluation_mode_is_asleep_and_train_wakes_it():
    cell = "model.eval()\nfirst = model(torch.zeros(1, 8))\nmodel.train()\nlast = model(torch.zeros(1, 8))"
    made = plan(*BEFORE, cell, batch("n = first, last"))
    passes = {made.program.source(s) for s in made.facts.passes}
    assert "last = model(torch.zeros(1, 8))" in passes
    assert "first = model(torch.zeros(1, 8))" not in passes


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
