"""A rank that hangs: the others wait in a collective, and the state says which rank waits where."""

import pytest

from nbddp.run.supervision.culprit import in_cells

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("start", ["warm", "cold"])
def test_a_silent_run_is_asked_for_its_stacks_and_goes_on_waiting(train, wait_until, start):
    run = train("hang1", start=start, quiet=1.5)
    wait_until(lambda: run.state.hang and "wait_for_ever" in run.state.hang.stacks.get("1", ""), 60)
    hang = run.state.hang
    assert sorted(hang.stacks) == ["0", "1"]
    assert "in train" in hang.stacks["0"]
    assert "wait_for_ever" not in hang.stacks["0"]
    assert hang.quiet >= 1.5
    assert not run.state.over
    assert len(run.processes()) >= 4
    assert run.stop("now") == []
    assert run.wait(5).phase == "stopped"


def test_lines_of_a_stack_are_shown_as_cells(tmp_path):
    script = tmp_path / "script.py"
    stack = f'Thread 0x1 (most recent call first):\n  File "{script}", line 7 in train\n  File "/usr/x.py", line 7 in f'
    shown = in_cells(stack, {7: {"script": 7, "cell": 3, "line": 2, "source": "x"}}, script)
    assert "cell 3, line 2 in train" in shown
    assert 'File "/usr/x.py", line 7 in f' in shown
