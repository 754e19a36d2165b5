"""The part that each cell plays."""

from __future__ import annotations

from typing import Any

from nbddp.options import Options
from nbddp.server.cells import MOST_NAMES, cells_of
from tests.analysis.cells import BEFORE, TRAINING, notebook


def roles(*cells: str) -> list[str]:
    return [cell["role"] for cell in cells_of(notebook(*cells), Options())["cells"]]


def test_what_trains_what_it_needs_and_what_it_does_not():
    assert roles(*BEFORE, "unused = 3", TRAINING) == ["kept", "kept", "kept", "left-out", "train"]


def test_a_mark_says_it_whatever_was_found():
    assert roles(*BEFORE, '# %% tags=["ddp-skip"]\nprint(1)', TRAINING)[3] == "skip"
    assert roles(*BEFORE, '# %% tags=["ddp-setup"]\nunused = 3', TRAINING)[3] == "setup"


def test_without_a_plan_only_marks_are_known_and_the_reason_is_told():
    answer: dict[str, Any] = cells_of(notebook("a = 1", '# %% tags=["ddp-skip"]\nb = 2'), Options())
    assert answer["training"] is None
    assert [cell["role"] for cell in answer["cells"]] == ["", "skip"]
    assert [d["level"] for d in answer["diagnostics"]] == ["error"]


def test_reasons_name_what_is_needed_and_not_without_end():
    many = "\n".join(f"n{k} = {k}" for k in range(MOST_NAMES + 2))
    used = " + ".join(f"n{k}" for k in range(MOST_NAMES + 2))
    answer = cells_of(notebook(*BEFORE, many, TRAINING.replace("range(3)", f"range({used})")), Options())
    why = answer["cells"][3]["why"]
    assert "n0" in why
    assert "…" in why
    assert f"n{MOST_NAMES + 1}" not in why
