"""Defects planted in a right script, one of each kind: verify finds each of them, and calls it by its name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nbddp.export import export
from nbddp.verify import verify

NOTEBOOKS = Path(__file__).parents[1] / "e2e" / "notebooks"
ALL = os.environ.get("NBDDP_TEST_ALL") == "1"  # `make test-all`; else each on 2 or on 3 processes, in turns
UNGUARDED = ("if any(apart):", "if False:")  # the script's own watch over its ranks is put to sleep
NO_DDP = ("model = DDP(Net().to(device))", "model = Net().to(device)")

# name of the cause -> notebook and what of its script is written otherwise
PLANTED = {
    "batch not split": ("digits", "batch", [("batch_size=per_rank(batch_size)", "batch_size=batch_size")]),
    "no sampler": ("digits", "samples", [("sampler=train_sampler)", "shuffle=True)")]),
    "no sampler, own draws": (
        "digits",
        "samples",
        [
            ("sampler=train_sampler)", "shuffle=True)"),
            ("    # ── cell 7: the training loop", "    torch.manual_seed(rank)\n    # ── cell 7: the training loop"),
        ],
    ),
    "no set_epoch": ("digits", "epoch", [("train_sampler.set_epoch(epoch)", "pass")]),
    "forward bypass": ("digits", "gradients", [("F.cross_entropy(model(x)", "F.cross_entropy(model.module(x)")]),
    "forward bypass, unguarded": (
        "digits",
        "gradients",
        [("F.cross_entropy(model(x)", "F.cross_entropy(model.module(x)"), UNGUARDED],
    ),
    "gradients not averaged": ("digits", "gradients", [NO_DDP]),
    "gradients not averaged, unguarded": ("digits", "gradients", [NO_DDP, UNGUARDED]),
    "count not reduced": ("digits", "metric", [("correct = sum_over_ranks(correct)", "pass")]),
    "loss not reduced": ("digits", "metric", [("running_loss = mean_over_ranks(running_loss)", "pass")]),
    "sum of the loss not scaled": ("sum_loss", "sum", [("(world_size * loss).backward()", "loss.backward()")]),
    "unequal seed": ("digits", "seed", [("torch.manual_seed(0)", "torch.manual_seed(rank)")]),
    "scheduler stepped by one rank": (
        "function_loop",
        "scheduler",
        [("        scheduler.step()", "        if rank == 0:\n            scheduler.step()")],
    ),
}


RUNS = [(name, nproc) for place, name in enumerate(PLANTED) for nproc in (2, 3) if ALL or place % 2 == nproc % 2]


def divisible(name: str, folder: Path) -> Path:
    """The notebook with batches that 2 and 3 processes can share, the last one of an epoch among them."""
    notebook = folder / f"{name}.py"
    text = (NOTEBOOKS / notebook.name).read_text()
    notebook.write_text(text.replace("batch_size = 50", "batch_size = 48").replace("3500", "3456"))
    return notebook


@pytest.mark.parametrize(("planted", "nproc"), RUNS)
def test_a_planted_defect_is_found_and_named(planted, nproc, helper, tmp_path):
    name, cause, changes = PLANTED[planted]
    notebook = divisible(name, tmp_path)
    script = export(notebook).text
    for before, after in changes:
        assert before in script
        script = script.replace(before, after)
    compile(script, "script", "exec")
    report = verify(notebook, script=script, nproc=nproc, helper=helper)
    assert (report.verdict, report.status) == ("different", 2), report
    assert cause in [found.name for found in report.causes], report
    assert all(found.defect for found in report.causes), report


@pytest.mark.parametrize("nproc", [2, 3])
def test_without_a_defect_there_is_none(nproc, helper, tmp_path):
    report = verify(divisible("digits", tmp_path), nproc=nproc, helper=helper)
    assert (report.verdict, report.status, report.causes) == ("same", 0, ()), report
