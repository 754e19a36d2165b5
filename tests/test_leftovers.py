"""What a test leaves running is ended: a run with its test, also where that fails; all else with the last test."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.leftovers import dead

pytest_plugins = ["pytester"]
ROOT = Path(__file__).parents[1]
SUITE = """
import os, signal, subprocess, sys, time
from pathlib import Path
from tests.leftovers import dead

def start(home, **variables):
    code = "import time; time.sleep(300)"
    own = {{**os.environ, **variables}}
    process = subprocess.Popen([sys.executable, "-c", code], env=own, start_new_session=True)
    with Path({pids!r}).open("a") as file:
        print(process.pid, file=file)
    return process

def test_one(tmp_path):
    time.sleep(0.2)
    {body}

def test_two():
    {after}
"""
RUN = 'start(tmp_path, NBDDP_EVENTS=f"{tmp_path}/.nbddp/runs/1/events.jsonl")'
GONE = "assert dead(Path('/proc', Path({pids!r}).read_text().strip()))"
THERE = GONE.replace("assert", "assert not")
Suite = Callable[..., pytest.RunResult]


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Suite:
    pids = str(pytester.path / "pids")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run(body: str, after: str = "pass") -> pytest.RunResult:
        pytester.makepyfile(SUITE.format(pids=pids, body=body, after=after.format(pids=pids)))
        return pytester.runpytest_subprocess("-p", "tests.leftovers", "-p", "no:cacheprovider")

    return run


def living(pytester: pytest.Pytester) -> list[int]:
    pids = (pytester.path / "pids").read_text().split()
    return [int(pid) for pid in pids if not dead(Path("/proc", pid))]


def test_a_run_ends_with_its_test_where_that_fails(suite, pytester):
    suite(f"{RUN}; assert False", GONE).assert_outcomes(failed=1, passed=1)
    assert living(pytester) == []


def test_a_test_that_passes_and_leaves_its_run_does_not_pass(suite, pytester, monkeypatch):
    monkeypatch.setenv("LEFTOVERS_PATIENCE", "0.2")
    result = suite(RUN)
    result.assert_outcomes(passed=2, errors=1)
    assert "left processes of its runs" in result.stdout.str()
    assert living(pytester) == []


def test_any_other_process_ends_with_the_last_test(suite, pytester):
    """What a fixture of all tests has started stays until then."""
    suite("start(tmp_path)", THERE).assert_outcomes(passed=2)
    assert living(pytester) == []


def test_interrupts_reach_what_a_test_starts_also_in_a_background_job(suite):
    code = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        body = f"assert subprocess.check_output([sys.executable, '-c', {code!r}]) == b'True' + os.linesep.encode()"
        suite(body).assert_outcomes(passed=2)
    finally:
        signal.signal(signal.SIGINT, before)
