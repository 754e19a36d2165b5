"""What a run ran on."""

from __future__ import annotations

import pytest

from nbddp.run.start.machine_facts import gpus, visible

NAMES = ("A", "B", "C")


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        (None, NAMES),
        ("", ()),
        ("1", ("B",)),
        ("2, 0", ("C", "A")),
        ("0,7,1", ("A",)),  # CUDA ignores what comes after one that is not there
        ("-1,0", ()),
        ("GPU-1234", ("GPU-1234",)),
        ("0,,1", ("A", "B")),
    ],
)
def test_gpus_that_are_left(asked, kept):
    assert visible(NAMES, {} if asked is None else {"CUDA_VISIBLE_DEVICES": asked}) == kept


def test_gpus_as_their_driver_lists_them(tmp_path):
    for place, text in (("0", "Model: \t NVIDIA X\nIRQ: 1\n"), ("1", "IRQ: 1\n")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "information").write_text(text)
    assert gpus(tmp_path) == ("NVIDIA X", "GPU")
    assert gpus(tmp_path / "nowhere") == ()
