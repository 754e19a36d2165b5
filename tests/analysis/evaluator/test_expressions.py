"""The extents of expressions."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import PICKED, WHOLE, Extent, Value, binary
from tests.analysis.cells import BEFORE, TRAINING, batch, extent, node, plan, seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("-loss.item()", M),
        ("not epoch", U),
        ("loss.item() < 0.5", V),
        ("epoch < 2", U),
        ("y == 1", S),
        ("loss is None", U),
        ("loss.item() if epoch else 0.0", M),
        ("1.0 if loss.item() < 0.5 else 0.0", U),  # the ranks decide that together
        ("1.0 if x.max() < 0.5 else 0.0", V),
        ("1.0 if y == 1 else x", S),
        ("loss.item() % 2", V),
        ("len(x) % 2", V),
        ("x[0]", S),
        ("x @ x", S),
        ("x.T @ x", T),
        ("(loss.item(), epoch)", M),
        ("(loss.item(), epoch)[1]", U),
        ("(loss.item(), epoch)[-2]", M),
        ("[loss.item(), epoch][0]", M),
        ("{'loss': loss.item(), 'epoch': epoch}['epoch']", U),
        ("{'loss': loss.item(), 'epoch': epoch}['loss']", M),
        ("{**{'loss': loss.item()}, 'epoch': epoch}['loss']", M),
        ("[v.item() for v in [loss, loss]][0]", M),
        ("{k: loss.item() for k in ('a', 'b')}['a']", M),
        ("(lambda v: v * 2)(loss.item())", M),
        ("loss.item() and epoch", V),  # where it is zero, each rank knows for itself
        ("epoch and loss.item()", M),
        ("[0.1, 0.2][y]", S),
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


def of(extent: Extent, *, equal: bool = False) -> Value:
    return Value(extent=extent, equal=equal)


@pytest.mark.parametrize("extent", [M, T])
def test_powers_and_remainders_of_what_adds_up_do_not(extent):
    assert binary(of(extent), of(U), ast.Pow()).extent is V
    assert binary(of(extent), of(U), ast.Mod()).extent is V


@pytest.mark.parametrize("extent", [U, S])
def test_powers_of_what_is_the_same_or_for_each_sample_stay(extent):
    assert binary(of(extent), of(U), ast.Pow()).extent is extent


def test_the_size_of_the_share_by_a_number_is_alike_on_all_ranks():
    assert binary(of(T, equal=True), of(U), ast.Mult()).equal
    assert not binary(of(T), of(U), ast.Mult()).equal


@pytest.mark.parametrize(
    ("source", "picked"),
    [("x[y == 1]", True), ("x[:16]", True), ("x[0]", False), ("x[:, 0]", False), ("x[:2]", False)],
)
def test_some_of_the_samples_are_told_from_all(source, picked):
    made = plan(*BEFORE, batch(f"n = {source}"))
    assert bool(made.facts.value(node(made, ast.Subscript, source)).of(PICKED)) is picked


def test_what_a_comprehension_leaves_out_is_some_of_the_samples():
    made = plan(*BEFORE, batch("n = [v for v in y if v > 0]", "m = [v for v in y]"))
    assert made.facts.value(node(made, ast.ListComp, "[v for v in y if v > 0]")).of(PICKED)
    assert not made.facts.value(node(made, ast.ListComp, "[v for v in y]")).of(PICKED)


def test_names_of_a_comprehension_are_put_back():
    assert seen("v", "v = 1", "n = [v for v in x]", "n = (v)") is U


def test_an_unknown_name_is_noted_and_a_known_one_is_not():
    made = plan(*BEFORE, batch("n = nowhere + epoch"))
    assert list(made.facts.undefined) == ["nowhere"]


def test_a_list_that_a_function_of_a_library_is_given_holds_nothing_of_an_earlier_call():
    """Each rank evaluates all data: what comes of it is whole, though the training calls the same on its part."""
    joined = "def joined(a):\n    return torch.cat([a, a], 1)\ndef total_of(a):\n    return joined(a).sum()"
    step = TRAINING.replace("model(x)", "model(x) + 0 * total_of(x)").rstrip()
    whole = "for x, y in test_loader:\n        if len(x) < 5:\n            break\n        total += total_of(x)\n"
    made = plan(*BEFORE, joined, f"{step}\n    total = 0.0\n    {whole}    print(total)")
    assert extent(made, "total") in WHOLE
