"""A forked child is to be reached by signals from its first moment."""

import signal
import subprocess
import sys

import pytest

CHILD = """
import os, signal, sys
from nbddp.run.processes.fork import fork

signal.signal(signal.{name}, lambda *_: None)  # as a supervisor notes that it is asked to stop
os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.{name}))  # the parent's handlers are still there
pid = fork()
if pid == 0:
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), *sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
"""


@pytest.mark.parametrize(
    ("name", "status"), [("SIGTERM", -signal.SIGTERM), ("SIGHUP", -signal.SIGHUP), ("SIGINT", -signal.SIGINT)]
)
def test_a_signal_that_comes_at_once_is_not_lost_on_the_parents_handler(name, status):
    done = subprocess.run(
        [sys.executable, "-c", CHILD.format(name=name)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == [str(status)]  # and nothing is held back in the parent


def test_the_child_has_default_signals_and_not_these_descriptors():
    text = """
import os, signal
from nbddp.run.processes.fork import fork

signal.signal(signal.SIGTERM, lambda *_: None)
reads, writes = os.pipe()
pid = fork(close=[writes])
if pid == 0:
    try:
        os.write(writes, b"x")
    except OSError:
        os._exit(7 if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL else 1)
    os._exit(2)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "7 False\n"
