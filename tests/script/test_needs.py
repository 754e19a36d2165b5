"""What a notebook wants of the processes that train it."""

from __future__ import annotations

import pytest

from nbddp.options import Options
from nbddp.script.from_modules import modules_of
from nbddp.script.launcher import Needs
from nbddp.script.layout import lay_out
from nbddp.script.needs import needs_of
from tests.analysis.cells import BEFORE, TRAINING, plan


def needs(*cells: str, options: Options | None = None) -> Needs:
    made = plan(*BEFORE, *cells, options=options)
    return needs_of(made, lay_out(made, modules_of(made, []), set(), set(), set()))


def test_of_a_plain_notebook_they_are_few():
    found = needs(TRAINING)
    assert (found.nproc, found.gpu, found.snapshot) == (2, False, ())
    assert not any((found.workers, found.bars, found.checkpoints, found.slurm, found.place))


@pytest.mark.parametrize(
    ("cell", "field"),
    [
        ("model.cuda()", "gpu"),
        ("other = DataLoader(train_set, num_workers=2)\nnext(iter(other))", "workers"),
        ("from tqdm import tqdm\nfor k in tqdm(range(3)):\n    torch.manual_seed(k)", "bars"),
        ("import os\nprint(os.environ.get('LOCAL_RANK'))\nos.environ['A'] = os.environ.get('LOCAL_RANK', '')", "place"),
    ],
)
def test_what_the_text_tells(cell, field):
    training = TRAINING.replace("in train_loader", "in other") if field == "workers" else TRAINING
    assert getattr(needs(cell, training), field)
    assert not getattr(needs(TRAINING), field)


@pytest.mark.parametrize(("option", "field"), [("checkpoints", "checkpoints"), ("slurm", "slurm")])
def test_what_was_asked_for(option, field):
    assert getattr(needs(TRAINING, options=Options(**{option: True})), field)  # type: ignore[arg-type]


def test_on_gpus_the_number_of_processes_is_left_to_them():
    assert needs("model.cuda()", TRAINING).nproc is None
    assert needs("model.cuda()", TRAINING, options=Options(nproc=3)).nproc == 3
