"""What a turn of a loop gets, and which loaders it draws from."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis import Plan
from nbddp.analysis.values import Extent, LoopFact, spread
from tests.analysis.cells import BEFORE, TRAINING, node, plan, seen

HEADER = "    for x, y in train_loader:"
NAMES = "from itertools import islice, cycle, chain\nfrom tqdm import tqdm\n"
GENERATOR = """
def few(loader):
    for k, pair in enumerate(loader):
        if k < 3:
            yield pair
"""
OBJECT = """
class Wrapped:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        return iter(self.loader)
"""


def training_loop(header: str, *read: str) -> tuple[Plan, LoopFact]:
    """What is known of the loop over the batches with this header."""
    made = plan(
        *BEFORE,
        NAMES + GENERATOR + OBJECT,
        TRAINING.replace(HEADER, f"    for {header}:\n        read = {read}".replace("'", "")),
    )
    inner = [f for f in made.facts.loops.values() if f.backward and f.parents]
    (fact,) = inner
    return made, fact


@pytest.mark.parametrize(
    ("header", "cut", "indirect"),
    [
        ("x, y in train_loader", False, False),
        ("i, (x, y) in enumerate(train_loader)", False, False),
        ("x, y in tqdm(train_loader)", False, False),
        ("x, y in islice(train_loader, 3)", True, True),
        ("x, y in islice(cycle(train_loader), 30)", True, True),
        ("(x, y), _ in zip(train_loader, range(3))", True, False),
        ("x, y in few(train_loader)", True, True),
        ("x, y in Wrapped(train_loader)", True, False),
    ],
)
def test_all_batches_of_a_loader_or_others(header, cut, indirect):
    made, fact = training_loop(header)
    assert {made.program.source(o.node) for o in fact.loaders} == {"DataLoader(train_set, batch_size=10, shuffle=True)"}
    assert (fact.cut, bool(fact.indirect)) == (cut, indirect)


@pytest.mark.parametrize(
    ("header", "name", "expected"),
    [
        ("x, y in train_loader", "x", Extent.SAMPLES),
        ("i, (x, y) in enumerate(train_loader)", "i", Extent.UNIFORM),
        ("i, (x, y) in enumerate(train_loader)", "y", Extent.SAMPLES),
        ("(x, y), w in zip(train_loader, [1, 2])", "w", Extent.UNIFORM),
        ("(x, y), w in zip(train_loader, [1, 2])", "x", Extent.SAMPLES),
        ("x, y in few(train_loader)", "x", Extent.SAMPLES),
        ("x, y in Wrapped(train_loader)", "x", Extent.SAMPLES),
    ],
)
def test_what_a_turn_gets(header, name, expected):
    made, fact = training_loop(header, name)
    reads = [n for n in ast.walk(fact.node) if isinstance(n, ast.Name) and n.id == name and n in made.facts.values]
    assert {made.facts.value(n).extent for n in reads if isinstance(n.ctx, ast.Load)} == {expected}


def test_turns_of_a_literal_are_gone_through_one_by_one():
    lines = ("for name, part in [('a', loss.item()), ('b', 1)]:", "    n = part if name == 'b' else 0", "m = (n)")
    assert seen("n", *lines) is Extent.UNIFORM


def test_after_something_was_appended_the_turns_are_no_longer_those_of_the_literal():
    lines = ("rows = [1, 2]", "rows.append(loss.item())", "for row in rows:", "    n = (row)")
    assert seen("row", *lines) is Extent.MEAN


def test_items_of_a_dictionary_are_known_by_their_keys():
    lines = (
        "parts = {'a': loss.item(), 'b': 1}",
        "for k, v in parts.items():",
        "    n = v if k == 'b' else 0",
        "m = (n)",
    )
    assert seen("n", *lines) is Extent.UNIFORM


def test_parameters_of_several_models_in_a_list_are_all_held():
    made = plan(*BEFORE, "other = nn.Linear(8, 2)\nboth = list(model.parameters()) + list(other.parameters())\n"
                "optimizer = torch.optim.SGD(both, lr=0.1)", TRAINING)  # fmt: skip
    optimizer = made.facts.value(node(made, ast.Name, "optimizer"))
    held = {o for obj in optimizer.of("optimizer") for o in made.facts.fields[obj, "params"].objs}
    assert len(held) == 2


@pytest.mark.parametrize(
    ("made", "length", "tensor"),
    [
        ("items = [1 for _ in range(len(x))]", Extent.SUM, Extent.SAMPLES),
        ("items = [k for k in range(4) for _ in x]", Extent.SUM, Extent.SAMPLES),
        ("items = [k for k in range(4)]", Extent.UNIFORM, Extent.UNIFORM),
        ("items = []\nfor _ in x: items.append(1)", Extent.SUM, Extent.SAMPLES),
        ("items = []\nfor i in range(len(x)): items.append(i)", Extent.VARYING, Extent.SAMPLES),
        ("items = []\nfor i in range(3): items.append(i)", Extent.UNIFORM, Extent.UNIFORM),
    ],
)
def test_what_has_an_item_for_each_sample(made: str, length: Extent, tensor: Extent) -> None:
    lines = (*made.split("\n"), "n = len(items), torch.tensor(items)")
    assert seen("len(items)", *lines) is length
    assert seen("torch.tensor(items)", *lines) is tensor


@pytest.mark.parametrize(("loader", "whole"), [("test_loader", True), ("train_loader", False)])
@pytest.mark.parametrize("kept", ["torch.cat(list(predict({})))", "torch.cat([*zip(*both({}))][0])"])
def test_what_a_generator_gives_where_no_loop_deals_it_out(kept: str, loader: str, whole: bool) -> None:
    """Before the training, too: a loader on which something trains later gives each rank its share."""
    functions = (
        "def predict(it):\n    for x, y in it: yield model(x)\ndef both(it):\n    for x, y in it: yield model(x), y"
    )
    text = kept.format(loader)
    made = plan(*BEFORE, functions, f"kept = {text}\nkept = kept - 1", f"{TRAINING}\nprint(kept)\n")
    assert made.program.statement_of(node(made, ast.BinOp, "kept - 1")) in {s.node for s in made.kept}
    value = made.facts.value(node(made, ast.BinOp, "kept - 1").left)
    assert (spread(value) in (Extent.UNIFORM, Extent.REPEATED)) is whole
