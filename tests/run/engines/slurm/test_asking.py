"""SLURM's commands, called."""

from __future__ import annotations

import sys

from nbddp.run.engines.slurm.asking import called


def test_a_command_with_what_it_prints():
    said = called([sys.executable, "-c", "import sys; print('x'); sys.exit('no such job')"])
    assert (said.status, said.text, said.error) == (1, "x\n", "no such job")


def test_one_that_there_is_not():
    assert called(["there-is-no-such-command"]).status == 127


def test_one_that_does_not_answer_is_given_up():
    said = called([sys.executable, "-c", "import threading; threading.Event().wait()"], within=0.2)
    assert said.status == 124
    assert "has not answered" in said.error


def test_jobs_around_do_not_reach_a_command():
    script = "import os; print(*sorted(name for name in os.environ if name.startswith('S')))"
    environ = {"SLURM_JOB_ID": "1", "SBATCH_PARTITION": "x", "SLURM_CONF": "/etc/x"}
    assert called([sys.executable, "-c", script], environ).text == "SLURM_CONF\n"
