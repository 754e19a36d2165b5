"""Defects planted in a right script, one of each kind: verify finds each of them, and calls it by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbddp.export import export
from nbddp.verify import verify
from tests.verify.claims import verification

NOTEBOOKS = Path(__file__).parents[1] / "e2e" / "notebooks"
NO_DDP = ("ddp_model = DDP(model)", "ddp_model = model")
BYPASS = ("F.cross_entropy(ddp_model(x)", "F.cross_entropy(model(x)")

# name of the cause -> notebook and what of its script is written otherwise
PLANTED = {
    "batch not split": ("digits", "batch", [("batch_size=batch_size // world_size", "batch_size=batch_size")]),
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
    "forward bypass": ("digits", "gradients", [BYPASS]),
    "gradients not averaged": ("digits", "gradients", [NO_DDP]),
    "count not reduced": ("digits", "metric", [("correct = sum_over_ranks(correct)", "pass")]),
    "loss not reduced": ("digits", "metric", [("running_loss = sum_over_ranks(running_loss) / world_size", "pass")]),
    "sum of the loss not scaled": ("sum_loss", "sum", [("(world_size * loss).backward()", "loss.backward()")]),
    "unequal seed": ("digits", "seed", [("torch.manual_seed(0)", "torch.manual_seed(rank)")]),
    "scheduler stepped by one rank": (
        "function_loop",
        "scheduler",
        [("        scheduler.step()", "        if rank == 0:\n            scheduler.step()")],
    ),
}


def turns(place: int, nproc: int) -> list[pytest.MarkDecorator]:
    """Each is proved on 2 or on 3 processes, in turns, and with `make test-all` on both."""
    return [] if place % 2 == nproc % 2 else [pytest.mark.thorough]


RUNS = [
    pytest.param(name, n, id=f"{name}-{n}", marks=turns(place, n)) for place, name in enumerate(PLANTED) for n in (2, 3)
]


def divisible(name: str, folder: Path) -> Path:
    """The notebook with batches that 2 and 3 processes can share, the last one of an epoch among them."""
    notebook = folder / f"{name}.py"
    text = (NOTEBOOKS / notebook.name).read_text()
    notebook.write_text(text.replace("batch_size = 50", "batch_size = 48").replace("3500", "3456"))
    return notebook


@pytest.mark.parametrize(("planted", "nproc"), RUNS)
def test_a_planted_defect_is_found_and_named(planted, nproc, request, tmp_path, proved):
    name, cause, changes = PLANTED[planted]
    notebook = divisible(name, tmp_path)
    script = export(notebook).text
    for before, after in changes:
        assert before in script
        script = script.replace(before, after)
    compile(script, "script", "exec")

    def judge() -> None:
        report = verify(notebook, script=script, nproc=nproc, helper=request.getfixturevalue("helper"))
        assert (report.verdict, report.status) == ("different", 2), report
        assert cause in [found.name for found in report.causes], report
        assert all(found.defect for found in report.causes), report

    proved(verification(f"{name} with '{planted}'", notebook, nproc, script=script), judge)


@pytest.mark.parametrize("nproc", [2, 3])
def test_without_a_defect_there_is_none(nproc, request, tmp_path, proved):
    notebook = divisible("digits", tmp_path)

    def judge() -> None:
        report = verify(notebook, nproc=nproc, helper=request.getfixturevalue("helper"))
        assert (report.verdict, report.status, report.causes) == ("same", 0, ()), report

    proved(verification("digits without a defect", notebook, nproc), judge)
