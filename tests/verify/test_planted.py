"""Defects planted in a right script, one of each kind: verify finds each of them, and calls it by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbddp.export import export
from nbddp.verify import verify

NOTEBOOKS = Path(__file__).parents[1] / "e2e" / "notebooks"
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


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_defect_is_found_and_named(planted, helper):
    name, cause, changes = PLANTED[planted]
    notebook = NOTEBOOKS / f"{name}.py"
    script = export(notebook).text
    for before, after in changes:
        assert before in script
        script = script.replace(before, after)
    compile(script, "script", "exec")
    report = verify(notebook, script=script, helper=helper)
    assert (report.verdict, report.status) == ("different", 2), report
    assert cause in [found.name for found in report.causes], report
    assert all(found.defect for found in report.causes), report


def test_without_a_defect_there_is_none(helper):
    report = verify(NOTEBOOKS / "digits.py", helper=helper)
    assert (report.verdict, report.status, report.causes) == ("same", 0, ()), report
