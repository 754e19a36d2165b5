"""Which cells count as executed, in IPython itself."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from nbddp.magics.executed.record import Record, _counts


@pytest.fixture
def shell() -> Any:
    made = InteractiveShell()  # type: ignore[no-untyped-call]
    made.run_cell("early = 1", store_history=True)
    made.run_cell("early / 0", store_history=True)
    yield made
    made.history_manager.end_session()


@pytest.fixture
def record(shell: Any) -> Record:
    made = Record(shell)
    shell.events.register("pre_run_cell", made.begins)
    shell.events.register("post_run_cell", made.ended)
    return made


def run(shell: Any, source: str, cell_id: str | None = None) -> None:
    shell.run_cell(source, store_history=True, cell_id=cell_id)


def sources(record: Record) -> list[str]:
    return [cell.source for cell in record.cells]


def test_what_was_executed_before_is_known(record):
    assert "early = 1" in sources(record)


def test_the_latest_execution_of_each_cell(shell, record):
    for source, identity in (("a = 1", "x"), ("b = 1", "y"), ("a = 2", "x"), ("c = 1", None), ("c = 1", None)):
        run(shell, source, identity)
    assert sources(record)[-3:] == ["b = 1", "a = 2", "c = 1"]


def test_of_a_cell_that_failed_what_had_run(shell, record):
    run(shell, "a = 1\nb = 2\nif a:\n    b = 3\n    1 / 0\nc = 3", "x")
    assert sources(record)[-1] == "a = 1\nb = 2"
    run(shell, "this is no Python", "x")
    assert sources(record)[-1] == "a = 1\nb = 2"


def test_silent_executions_and_questions_to_nbddp_are_no_cells(shell, record):
    before = sources(record)
    shell.run_cell("a = 1", silent=True)
    for question in ("%ddp runs", "%ddp", "%ddp?", "%%ddp_train?", "?%%dp_train", "%%single_train --nproc 2 --help"):
        run(shell, question)
    run(shell, "", "x")
    assert sources(record) == before


@pytest.mark.parametrize("source", ["%%ddp_train -- --help\nx = 1", "%%dp_train\nprint('--help')", "%ddp_of_mine"])
def test_what_only_looks_like_a_question_is_a_cell(source):
    assert _counts(source)
