"""What is known of a name: a wrong yes leaves out what the training needs, or claims what is not so."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.library import Effect, Samples, effect_of, filled, is_class, learns, makes
from nbddp.analysis.library.lookup import BUILTINS, ENTRIES, METHODS
from nbddp.analysis.values import Extent
from tests.analysis.cells import BEFORE, TRAINING, node, plan, seen

NAMES = [*ENTRIES, *BUILTINS, *(f".{word}" for word in METHODS)]
CHANCES = [n for n in ENTRIES if effect_of(n).noise or (effect_of(n).chance and makes(n) != "split")]
CHANCES = [n for n in CHANCES if effect_of(n).samples is not Samples.KEEPS and (effect_of(n).reads or n == "random")]
MODULES = ("random", "time", "psutil", "uuid", "distributions")


@pytest.mark.parametrize(
    "name",
    ["len", "print", "torch.zeros", "numpy.mean", "ValueError", "os.path.join", "str.join", "torch.Tensor.mean"],
)
def test_what_reads(name):
    assert effect_of(name).reads


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
        "list.append",
        "pandas.DataFrame.to_csv",
        "numpy.ndarray.sort",
        "torch.nn.Module.train",
        "pathlib.Path.unlink",
    ],
)
def test_what_may_change_something(name):
    assert not effect_of(name).reads


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("optimizer", ["torch.optim.SGD", "bitsandbytes.optim.Adam8bit"]),
        ("scheduler", ["torch.optim.lr_scheduler.StepLR", "transformers.get_linear_schedule_with_warmup"]),
        ("loss", ["torch.nn.MSELoss", "torch.nn.NLLLoss2d"]),
        ("model", ["torch.nn.Linear", "torchvision.models.resnet18", "transformers.BertForMaskedLM",
                   "transformers.AutoModel.from_pretrained", "timm.create_model"]),
        ("sampler", ["torch.utils.data.WeightedRandomSampler"]),
        ("dataset", ["torchvision.datasets.MNIST", "datasets.load_dataset", "torch.utils.data.Subset"]),
        ("split", ["torch.utils.data.random_split"]),
        ("loader", ["torch.utils.data.DataLoader", "torch_geometric.loader.DataLoader"]),
        ("file", ["open", "gzip.open"]),
        ("tensor", ["torch.zeros", "numpy.random.rand", "torch.randn"]),
        ("", ["torch.nn.functional.relu", "torch.nn.init.ones_", "torch.nn.utils.clip_grad_norm_", "helpers.zeros",
              "torchvision.models.ResNet18_Weights.DEFAULT", "transformers.AutoTokenizer.from_pretrained",
              "torch.utils.data.default_collate", "torchvision.transforms.ToTensor", "helpers.Sampler",
              "torch.optim.lr_scheduler", "torch.optim.swa_utils", "helpers.get_loader", "torch.sum"]),
    ],
)  # fmt: skip
def test_what_a_call_makes(kind, names):
    assert {name: makes(name) for name in names} == dict.fromkeys(names, kind)


def test_layers_that_learn():
    assert all(map(learns, ["torch.nn.Linear", "torch.nn.PReLU", "helpers.ReLU"]))
    assert not any(map(learns, ["torch.nn.ReLU", "torch.nn.MaxPool2d"]))


def test_a_class_by_its_name():
    assert is_class("torch.nn.Linear")
    assert not is_class("torch.nn.functional")


# What one entry says, another word of it may not deny. --------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in NAMES if effect_of(n).effect is Effect.WRITES or makes(n) == "file"])
def test_what_writes_or_opens_a_file_does_not_only_read(name):
    """Nor is it left out with cells that only show something: the training may read the file."""
    assert not effect_of(name).reads


def test_what_seeds_changes_what_no_name_shows():
    assert not [n for n in NAMES if effect_of(n).seeds and effect_of(n).effect not in (Effect.WORLD, Effect.UNKNOWN)]


def test_what_is_to_be_seen_changes_nothing_but_files_and_settings():
    allowed = (Effect.READS, Effect.PICTURE, Effect.WRITES)
    assert not [n for n in NAMES if effect_of(n).display and effect_of(n).effect not in allowed]


def test_what_hands_on_what_it_is_given_is_not_fresh():
    things = [n for n in NAMES if effect_of(n).gives]
    assert not [n for n in things if effect_of(n).fresh]


def test_what_changes_something_is_not_fresh():
    changes = [n for n in (*ENTRIES, *BUILTINS) if not effect_of(n).reads and effect_of(n).fresh]
    assert not changes


def test_a_number_of_samples_is_no_thing():
    counted = [n for n in NAMES if effect_of(n).samples not in (Samples.EACH, Samples.KEEPS)]
    assert not [n for n in counted if makes(n)]


@pytest.mark.parametrize("root", CHANCES)
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
        'pd.DataFrame.to_csv(table, "data.csv")',
    ],
)
def test_a_file_that_may_be_read_keeps_its_writer(cell):
    imports = "import numpy as np\nimport scipy.io\nimport matplotlib.pyplot as plt\nfrom pathlib import Path"
    assert cell in kept(f"{imports}\nimport pandas as pd\ntable = pd.DataFrame()", cell)


def test_a_picture_goes_with_the_cell_that_shows_it():
    imports = "import matplotlib.pyplot as plt"
    assert kept(imports, 'plt.savefig("loss.png")') == []


@pytest.mark.parametrize(
    ("made", "change"),
    [
        ("flat = np.ravel(data)", "flat /= 255"),
        ("flat = torch.flatten(data)", "flat.mul_(2)"),
        ("first = next(iter(layers))", "first.weight.data.zero_()"),
        ("first = next(layers[0].parameters())", "first.data.zero_()"),
        ("options = vars(args)", 'options["rate"] = 0.1'),
        ("first, second = data.split(50)", "first.zero_()"),
        ("turned = np.swapaxes(data, 0, 1)", "turned[0] = 0"),
    ],
)
def test_what_changes_a_part_changes_what_it_is_taken_from(made, change):
    """Where the training uses that, and not the part."""
    things = "import argparse\nimport numpy as np\ndata = torch.randn(100, 8)\nlayers = [nn.Linear(8, 8)]"
    args = "args = argparse.Namespace(rate=1.0)"
    use = TRAINING.replace("model(x)", "model(layers[0](x) + data[:10]) * args.rate")
    found = plan(*BEFORE, f"{things}\n{args}", f"{made}\n{change}", use)
    assert change in [found.program.source(s.node) for s in found.kept]


@pytest.mark.parametrize("made", ["total = np.max(data)", "two = np.copy(data)", "two = torch.matmul(data, data.T)"])
def test_what_is_fresh_is_changed_alone(made):
    change = f"{made.split()[0]} *= 2"
    assert kept("import numpy as np\ndata = torch.randn(100, 8)", f"{made}\n{change}", "data") == []


def kept(imports: str, cell: str, used: str = "") -> list[str]:
    """The statements of a cell between the model and the training that the script has."""
    made = plan(*BEFORE, imports, cell, f"{used}\n{TRAINING}")
    return [made.program.source(s.node) for s in made.kept if s.cell.number == len(BEFORE) + 2]


@pytest.mark.parametrize(
    ("asked", "extent", "shape"),
    [
        ("Tensor(len(x), 1)", Extent.SAMPLES, (None, 1)),
        ("Tensor(np.random.random((len(x), 1)))", Extent.SAMPLES, (None, 1)),
        ("torch.Tensor(3, 2)", Extent.UNIFORM, (3, 2)),
        ("torch.LongTensor([[1, 2]])", Extent.UNIFORM, (1, 2)),
    ],
)
def test_a_type_of_tensors_takes_a_size_or_numbers(asked, extent, shape):
    kind = "import numpy as np\nTensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor\n"
    made = plan(*BEFORE, kind, TRAINING.replace("        loss =", f"        noise = {asked}\n        loss =", 1))
    value = made.facts.value(node(made, ast.expr, asked))
    assert (value.extent, value.shape) == (extent, shape)


def test_a_name_of_another_type_stays():
    assert (filled("torch.Tensor", sized=True), filled("torch.randn", sized=True)) == ("torch.zeros", "torch.randn")
