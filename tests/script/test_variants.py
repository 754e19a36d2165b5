"""Shorter variants of parts, where nothing more is needed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from nbddp.edits import Edit
from nbddp.script.variants import requests
from tests.analysis.cells import BEFORE, DATA, IMPORTS, MODEL, TRAINING, evaluation, plan

GATHER = evaluation("n = []", "n.append(model(x).argmax(1))", "print(torch.cat(n))")


def asked(part: str, *cells: str, edits: Sequence[Edit] = ()) -> list[str]:
    return requests(plan(*cells), edits, [part])


def use(*uses: str) -> Edit:
    return Edit("reduce", 0, 0, "", "text", uses)


@pytest.mark.parametrize(
    ("edits", "variant"),
    [
        ([use("sum_over_ranks", "adds floats")], ":floats"),
        ([use("sum_over_ranks", "adds floats"), use("sum_over_ranks", "adds tensors")], ":tensors"),
        ([use("sum_over_ranks", "adds anything")], ""),
        ([use("sum_over_ranks", "adds floats"), use("sum_over_ranks")], ""),
        ([use("sum_over_ranks")], ""),
    ],
)
def test_sums_are_as_short_as_the_widest_of_them(edits, variant):
    assert asked("sum_over_ranks", *BEFORE, TRAINING, edits=edits) == [f"sum_over_ranks{variant}"]


@pytest.mark.parametrize(
    ("edits", "lists"),
    [
        ([use("mean_over_ranks", "lists of numbers")], True),
        ([use("mean_over_ranks", "lists of numbers"), use("mean_over_ranks")], False),
        ([use("mean_over_ranks")], False),
    ],
)
def test_means_of_lists_alone_have_a_form_of_their_own(edits, lists):
    found = asked("mean_over_ranks", *BEFORE, TRAINING, edits=edits)
    assert found == [f"mean_over_ranks{':lists' if lists else ''}"]


@pytest.mark.parametrize(
    ("options", "variant"),
    [
        ("", ":plain"),
        (", shuffle=False", ":plain"),
        (", num_workers=0", ":in_order"),
        (", shuffle=True", ""),
        (", sampler=other", ""),
    ],
)
def test_batches_in_the_order_of_the_data(options, variant):
    data = "other = torch.utils.data.RandomSampler(range(21))\n" + DATA.replace(
        "DataLoader(test_set, batch_size=10)", f"DataLoader(test_set, batch_size=10{options})")  # fmt: skip
    assert asked("share_of", IMPORTS, data, MODEL, GATHER) == [f"share_of{variant}"]


def test_a_loader_of_a_library_may_put_samples_together_otherwise():
    theirs = DATA.replace("test_loader = ", "from torch_geometric.loader import DataLoader as Graphs\n\ntest_loader = ")
    theirs = theirs.replace("DataLoader(test_set", "Graphs(test_set")
    assert asked("share_of", IMPORTS, theirs, MODEL, GATHER) == ["share_of:in_order"]


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("model.train()", True),
        ("torch.save(model.state_dict(), 'm')", True),
        ("print(model.weight)", False),
        ("print(model)", False),
    ],
)
def test_where_ddp_stands_for_a_model_that_is_only_called_and_saved(line, plain):
    get = "def get():\n    return model\n"
    found = asked("DDP", *BEFORE, get, TRAINING.replace("model(x)", "get()(x)") + f"    {line}\n")
    assert (found == ["DDP:plain.state_dict", "DDP:plain.load_state_dict"]) is plain


def test_where_the_training_names_ddp_it_is_torchs_own():
    assert asked("DDP", *BEFORE, TRAINING + "    print(model)\n") == []


def test_other_parts_are_as_they_are():
    assert asked("report", *BEFORE, TRAINING) == ["report"]
