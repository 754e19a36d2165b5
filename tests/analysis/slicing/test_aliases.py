"""Which names may stand for parts of one thing: what is missed here leaves out a statement that the training needs."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.slicing.aliases import Sharing, drawn_on, shared_inside

IMPORTS = {"torch": "torch", "np": "numpy", "DataLoader": "torch.utils.data.DataLoader", "plt": "matplotlib.pyplot"}


def sharing(text: str) -> Sharing:
    found = Sharing(IMPORTS)
    for statement in ast.parse(text).body:
        found.follow(statement)
    return found


def with_(text: str, name: str) -> set[str]:
    return set(sharing(text).of([name])) - {name}


@pytest.mark.parametrize(
    ("text", "name", "others"),
    [
        ("b = a", "b", {"a"}),
        ("b = a.part", "b", {"a"}),
        ("b = a[0]", "a", {"b"}),
        ("b = a.to(device)", "b", {"a"}),
        ("b = Thing(a)", "b", {"a"}),
        ("b = [a, 1]", "b", {"a"}),
        ("b = a if c else d", "b", {"a", "d"}),
        ("for p in a.parameters():\n    pass", "p", {"a"}),
        ("for i, p in enumerate(a):\n    pass", "p", {"a"}),
        ("for p, q in zip(a, b):\n    pass", "p", {"a"}),
        ("b, c = a, d", "b", {"a"}),
        ("b = a\nc = b", "c", {"a", "b"}),
        ("with a as b:\n    pass", "b", {"a"}),
        ("b = [p for p in a]", "b", {"a"}),
        ("items.append(a)", "a", {"items"}),
        ("b = torch.nn.Sequential(a)", "b", {"a"}),
        ("b = a.view(-1)", "b", {"a"}),
    ],
)
def test_these_share(text, name, others):
    assert with_(text, name) >= others


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("b = len(a)", "b"),
        ("b = a.sum()", "b"),
        ("b = a\nb = 3", "b"),
        ("b = torch.zeros(a)", "b"),
        ("b = a > 3", "b"),
        ("b = 'text'\nc = b", "c"),
        ("device = torch.device('cpu')\nb = device", "b"),
        ("b = [1 for p in a]", "b"),
        ("n = len(a)\nb = Thing(n)", "b"),
        ("loader = DataLoader(a)\nfor x in loader:\n    pass", "x"),
    ],
)
def test_these_do_not(text, name):
    assert with_(text, name) == set()


def test_what_is_held_beside_a_thing_does_not_change_with_it():
    assert with_("losses = fit(a, b)\nlog = losses", "a") == {"losses", "log"}
    assert with_("losses = fit(a, b)", "losses") == {"a", "b"}
    assert with_("c = [a]\nd = [a, b]", "c") == {"a", "d"}


def test_what_cannot_be_changed_is_known_by_name():
    assert sharing("a = 3\nb = [1]\nc = f'{a}'\nd = len(b)").plain() == {"a", "c", "d"}
    assert sharing("a = 3\na = [1]").plain() == frozenset()


def test_inside_of_a_function_the_order_does_not_count():
    body = ast.parse("q = p\np = model.weight\np = 3").body
    assert shared_inside(body, IMPORTS, ["q"]) >= {"q", "p", "model"}


def test_names_of_figures():
    tree = ast.parse(
        "fig, axes = plt.subplots()\nfor ax in axes.flat:\n    ax.plot(x)\nb = ax.title\nc = model\nb2 = plt\nb2 = 3"
    )
    assert drawn_on(tree, IMPORTS) >= {"fig", "axes", "ax", "b"}
    assert not {"c", "x", "b2"} & drawn_on(tree, IMPORTS)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ("1", True),
        ("-1", True),
        ("not a", True),
        ("a is None", True),
        ("'x' in a", True),
        ("len(a) > 3", True),
        ("a > 0", False),  # of a tensor it is a mask, which may be written into
        ("~(a > b)", False),
        ("-a", False),
        ("n > 0", True),
    ],
)
def test_what_cannot_be_changed(value, plain):
    assert ("b" in sharing(f"n = 3\nb = {value}").plain()) is plain
