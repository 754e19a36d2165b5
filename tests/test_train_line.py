"""What stands on a cell's `%%ddp_train` line counts wherever the notebook is exported; what is asked for there wins."""

import pytest

from nbddp.diagnostics import CannotExport
from nbddp.export import export
from nbddp.magics.first_line.arguments import parser
from nbddp.notebook import Notebook, cell_from_source
from nbddp.options import Options
from nbddp.train_line import FLAGS, SETTINGS, CannotParse, TrainLine, parse_train_line

BEFORE = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"""
LOOP = """\
for epoch in range(2):
    for x, y in loader:
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()"""


def script(line: str, options: Options | None = None) -> str:
    cells = (cell_from_source(BEFORE, 1), cell_from_source(f"%%ddp_train{line}\n{LOOP}", 2))
    return export(Notebook("x.ipynb", cells), options).text


@pytest.mark.parametrize(
    ("line", "options"),
    [
        (" --nproc 3", Options(nproc=3)),
        (" --batch-per-rank --background", Options(batch_per_rank=True)),
        (" --devices 0,1 --sync-batchnorm -- --lr 3", Options(sync_batchnorm=True)),
        (" --seed 3 --fresh", Options()),
        (" --on slurm --nodes 2 --nproc 8 -- --mem=1G", Options(nproc=8, slurm=True)),
    ],
)
def test_the_same_bytes_as_with_the_option(line, options):
    assert script(line) == script("", options)


def test_what_is_asked_for_elsewhere_wins():
    assert script(" --nproc 3", Options(nproc=4)) == script("", Options(nproc=4))
    assert script(" --batch-per-rank", Options(batch_per_rank=False)) == script("")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (" --npoc 3", "unrecognized arguments: --npoc 3"),
        (" --nproc 0", "it takes a number of processes, at least 1, not '0'"),
        (" --export 'x", "No closing quotation"),
        (" --snapshot x-y", "it takes names of variables such as xs,ys, not 'x-y'"),
    ],
)
def test_a_line_that_the_magic_would_refuse_is_refused_in_a_file_too(line, said):
    with pytest.raises(CannotExport) as refused:
        script(line)
    [found] = refused.value.diagnostics
    assert (found.rule, found.cell, found.line) == ("options", 2, 1)
    assert said in found.message


def test_the_rest_is_for_the_run():
    line = parse_train_line("--devices 0,1 --nproc 2 --background -- --lr 0.5")
    assert line == TrainLine(Options(nproc=2), ("--devices=0,1",), ("--lr", "0.5"))
    with pytest.raises(CannotParse):
        parse_train_line("--devices")


def test_it_knows_every_option_of_the_magic():
    of_scripts = {"--nproc", "--batch-per-rank", "--sync-batchnorm", "--exact", "--shard", "--snapshot"}
    known = {f"--{name}" for name in (*FLAGS, *SETTINGS, "mode")} | of_scripts
    assert known == {name for name in parser().options if name not in ("-h", "--help")}
