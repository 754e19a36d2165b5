"""What is known to leave its arguments and the world as they were: a wrong yes leaves out what the training needs."""

from __future__ import annotations

import pytest

from nbddp.analysis.library import CONVERSIONS, READING_METHODS, SURELY_CHANGING, is_ambient, is_display, is_pure, under


@pytest.mark.parametrize("name", ["len", "print", "torch.zeros", "numpy.mean", "ValueError", "os.path.join"])
def test_pure(name):
    assert is_pure(name)


@pytest.mark.parametrize(
    "name",
    [
        "torch.manual_seed",
        "numpy.random.shuffle",
        "random.shuffle",
        "torch.nn.init.ones_",
        "torch.nn.init.kaiming",
        "heapq.heappush",
        "helpers.prepare",
        "setattr",
        "exec",
        "open",
        "torch.add_",
        "torch.set_num_threads",
    ],
)
def test_not_known_to_be_pure(name):
    assert not is_pure(name)


@pytest.mark.parametrize(
    ("name", "roots", "yes"),
    [
        ("torch.nn.Linear", ("torch.nn",), True),
        ("torch.nn", ("torch.nn",), True),
        ("torch.nnx", ("torch.nn",), False),
        ("torch.set_num_threads", ("torch.set_",), True),
        ("torch", ("torch.nn",), False),
    ],
)
def test_under(name, roots, yes):
    assert under(name, roots) is yes


def test_what_shows_and_what_changes_the_world():
    assert is_display("matplotlib.pyplot.plot")
    assert not is_display("numpy.zeros")
    assert is_ambient("torch.manual_seed")
    assert not is_ambient("torch.zeros")


def test_no_method_only_reads_and_surely_changes():
    assert not READING_METHODS & SURELY_CHANGING
    assert CONVERSIONS <= READING_METHODS  # but for models, of which they change the parameters
