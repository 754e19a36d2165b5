"""The extents of expressions."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import PICKED, PLACED, WHOLE, Extent
from tests.analysis.cells import BEFORE, TRAINING, batch, extent, node, plan, seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("-loss.item()", M),
        ("not epoch", U),
        ("loss.item() if epoch else 0.0", M),
        ("1.0 if loss.item() < 0.5 else 0.0", U),  # the ranks decide that together
        ("1.0 if x.max() < 0.5 else 0.0", V),
        ("1.0 if y == 1 else x", S),
        ("(loss.item(), epoch)", M),
        ("[v.item() for v in [loss, loss]][0]", M),
        ("{k: loss.item() for k in ('a', 'b')}['a']", M),
        ("(lambda v: v * 2)(loss.item())", M),
        ("loss.item() and epoch", V),  # where it is zero, each rank knows for itself
        ("epoch and loss.item()", M),
    ],
)
def test_extent(source, expected):
    assert seen(source, f"n = [{source}]") is expected


@pytest.mark.parametrize(
    ("line", "source", "expected"),
    [
        ("n = (k := loss.item()) + 1", "k := loss.item()", M),
        ("n = f'{loss.item()}' + ''", "f'{loss.item()}' + ''", V),
        ("n = f'{epoch}' + ''", "f'{epoch}' + ''", U),
    ],
)
def test_expressions_inside_of_others(line, source, expected):
    assert seen(source, line) is expected


def test_what_a_comprehension_leaves_out_is_some_of_the_samples():
    made = plan(*BEFORE, batch("n = [v for v in y if v > 0]", "m = [v for v in y]"))
    assert made.facts.value(node(made, ast.ListComp, "[v for v in y if v > 0]")).of(PICKED)
    assert not made.facts.value(node(made, ast.ListComp, "[v for v in y]")).of(PICKED)


def test_names_of_a_comprehension_are_put_back():
    assert seen("v", "v = 1", "n = [v for v in x]", "n = (v)") is U


def test_a_list_that_a_function_of_a_library_is_given_holds_nothing_of_an_earlier_call():
    """Each rank evaluates all data: what comes of it is whole, though the training calls the same on its part."""
    joined = "def joined(a):\n    return torch.cat([a, a], 1)\ndef total_of(a):\n    return joined(a).sum()"
    step = TRAINING.replace("model(x)", "model(x) + 0 * total_of(x)").rstrip()
    whole = "for x, y in test_loader:\n        if len(x) < 5:\n            break\n        total += total_of(x)\n"
    made = plan(*BEFORE, joined, f"{step}\n    total = 0.0\n    {whole}    print(total)")
    assert extent(made, "total") in WHOLE


@pytest.mark.parametrize("moved", ["tuple(t.to('cpu') for t in both)", "[t.cuda() for t in both]"])
def test_what_moves_the_tensors_of_a_batch_goes_through_no_samples(moved):
    loop = f"""for both in train_loader:
    both = {moved}
    loss = F.cross_entropy(model(both[0]), both[1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()"""
    made = plan(*BEFORE, loop)
    assert not made.facts.value(node(made, ast.Subscript, "both[0]")).of(PLACED)
