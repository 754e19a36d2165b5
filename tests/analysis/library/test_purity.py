"""What is known to leave its arguments and the world as they were: a wrong yes leaves out what the training needs."""

from __future__ import annotations

import pytest

from nbddp.analysis.library import (
    AMBIENT_METHODS,
    CONVERSIONS,
    FRESH_METHODS,
    OPENS,
    READING_METHODS,
    SURELY_CHANGING,
    WRITES,
    WRITING_METHODS,
    is_ambient,
    is_display,
    is_pure,
    under,
)
from nbddp.analysis.library.constructors import CHANCES, KEEPS_EXTENT, RANDOM
from nbddp.analysis.library.sinks import PICTURES
from nbddp.analysis.values import Extent
from tests.analysis.cells import BEFORE, TRAINING, plan, seen

MODULES = ("random", "time", "psutil", "uuid", "distributions")


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


@pytest.mark.parametrize("name", sorted({*WRITES, *OPENS} - PICTURES))
def test_what_writes_is_not_pure(name):
    """Nor is it left out with cells that only show something: the training may read the file."""
    assert not is_pure(name)


def test_no_method_both_writes_and_only_reads():
    assert not (WRITING_METHODS | AMBIENT_METHODS) & (READING_METHODS | FRESH_METHODS)
    assert "to_hdf" in WRITING_METHODS & AMBIENT_METHODS
    assert "savefig" in WRITING_METHODS - AMBIENT_METHODS  # goes with the cell that draws it


@pytest.mark.parametrize("root", [r for r in (*RANDOM, *CHANCES) if r not in KEEPS_EXTENT])
def test_what_draws_or_asks_the_machine_is_no_number_of_all_ranks(root):
    call = f"{root}(3)" if root.rpartition(".")[2] not in MODULES else f"{root}.function(3)"
    imports = "import datetime, glob, numpy, os, psutil, random, time, timeit, uuid"
    assert seen(call, f"n = [{call}]", before=imports) in (Extent.SAMPLES, Extent.REPEATED)


@pytest.mark.parametrize(
    "cell",
    [
        'np.savez_compressed("data.npz", x=np.ones(3))',
        'scipy.io.savemat("data.mat", {"x": np.ones(3)})',
        'plt.imsave("picture.png", np.ones((3, 3)))',
        'torch.jit.save(torch.jit.script(nn.Linear(8, 2)), "first.pt")',
        'torch.hub.download_url_to_file("http://example.org/data.bin", "data.bin")',
        'Path("ready").touch()',
    ],
)
def test_a_file_that_may_be_read_keeps_its_writer(cell):
    imports = "import numpy as np\nimport scipy.io\nimport matplotlib.pyplot as plt\nfrom pathlib import Path"
    assert cell in kept(imports, cell)


def test_a_picture_goes_with_the_cell_that_shows_it():
    imports = "import matplotlib.pyplot as plt"
    assert kept(imports, 'plt.savefig("loss.png")') == []


def kept(imports: str, cell: str) -> list[str]:
    """The statements of a cell between the model and the training that the script has."""
    made = plan(*BEFORE, imports, cell, TRAINING)
    return [made.program.source(s.node) for s in made.kept if s.cell.number == len(BEFORE) + 2]
