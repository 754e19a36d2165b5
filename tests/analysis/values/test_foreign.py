"""What comes out of modules that are not read: a loader, a model, an optimizer's wrapper, by their use."""

from __future__ import annotations

import pytest

from nbddp.analysis import Plan
from nbddp.analysis.values.foreign import is_foreign
from nbddp.diagnostics import CannotExport
from tests.analysis.cells import BEFORE, DATA, IMPORTS, MODEL, TRAINING, plan

FROM_MODULE = "from helpers import Net, Warmup, fit, folds, load, loaders\n"


def shared(made: Plan) -> dict[str, str]:
    return {made.program.source(obj.node): share.how for obj, share in made.sharding.shares.items()}


@pytest.mark.parametrize("name", ["helpers.load", ".data.Cars", "src.nets.Net", "datasets.toys.Toys", "datasets.make"])
def test_modules_beside_the_notebook_are_foreign(name):
    assert is_foreign(name)


@pytest.mark.parametrize(
    "name", ["torch.nn.Linear", "numpy.load", "json.load", "sklearn.svm.SVC", "len", "datasets.load_dataset"]
)
def test_libraries_are_not(name):
    assert not is_foreign(name)


def test_what_the_training_iterates_is_a_loader_where_it_gets_its_name():
    made = plan(IMPORTS, FROM_MODULE, "train_loader, test_loader = loaders(64)", MODEL, TRAINING)
    assert shared(made) == {"train_loader": "phase"}


def test_a_bar_around_it_changes_nothing():
    loop = TRAINING.replace("in train_loader", "in tqdm(train_loader)")
    made = plan(IMPORTS, FROM_MODULE + "from tqdm import tqdm", "train_loader = load(64)", MODEL, loop)
    assert shared(made) == {"train_loader": "phase"}


@pytest.mark.parametrize("module", ["helpers", "datasets.toys"])
def test_what_a_method_of_a_foreign_thing_makes_is_foreign(module):
    made = f"from {module} import Toys\nfrom tqdm import tqdm\ntoys = Toys(64)\ntrain_loader = toys.train_loader()"
    loop = TRAINING.replace(
        "    for x, y in train_loader", "    bar = tqdm(enumerate(train_loader))\n    for i, (x, y) in bar"
    )
    assert shared(plan(IMPORTS, made, MODEL, loop)) == {"train_loader": "phase"}


def test_what_a_loop_around_the_training_iterates_is_none():
    loop = "for fold in folds(5):\n" + "\n".join(f"    {line}" for line in TRAINING.split("\n"))
    made = plan(*BEFORE[:1], FROM_MODULE, *BEFORE[1:], loop)
    assert list(shared(made)) == ["DataLoader(train_set, batch_size=10, shuffle=True)"]


@pytest.mark.parametrize("names", [FROM_MODULE, "from helpers import *"], ids=["by name", "with a star"])
def test_a_thing_whose_parameters_are_asked_for_is_a_model(names):
    made = plan(IMPORTS, names, DATA, MODEL.replace("nn.Linear(8, 2)", 'Net(8).to("cpu")'), TRAINING)
    assert [m.obj.name for m in made.roles.models] == ["helpers.Net"]
    assert [home.name for home in made.wrapping.homes.values()] == ["model"]


def test_models_that_get_their_names_side_by_side():
    two = "model, other = Net(8), Net(2)"
    made = plan(IMPORTS, FROM_MODULE, DATA, MODEL.replace("model = nn.Linear(8, 2)", two), TRAINING)
    assert [home.name for home in made.wrapping.homes.values()] == ["model"]


def test_steps_of_a_wrapper_are_those_of_its_optimizer():
    cells = MODEL + "optimizer = Warmup(optimizer, 100)\ncriterion = nn.NLLLoss2d()\n"
    made = plan(IMPORTS, FROM_MODULE, DATA, cells, TRAINING.replace("F.cross_entropy", "criterion"))
    assert [o.name for o in made.roles.optimizers] == ["torch.optim.SGD"]
    assert [m.obj.name for m in made.roles.models] == ["torch.nn.Linear"]


def test_a_training_that_a_module_does_is_refused_by_its_name():
    with pytest.raises(CannotExport, match=r"the training runs in 'helpers\.fit'"):
        plan(*BEFORE[:1], FROM_MODULE, *BEFORE[1:], "fit(model, train_loader, optimizer)")
