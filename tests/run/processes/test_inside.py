"""The entry of each process of a run, also where torchrun starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import nbddp
from nbddp.notebook import notebook_from_percent
from nbddp.run.folder.folder import RunFolder
from nbddp.run.folder.folders import create
from nbddp.run.run import Run
from nbddp.run.start.command import INSIDE, RunOptions, environment
from nbddp.watch_points import to_json
from tests.run.watching.test_runs import NOTEBOOK

TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(INSIDE))


def under_torchrun(folder: RunFolder, happens: str) -> subprocess.CompletedProcess[str]:
    script = nbddp.export(notebook_from_percent(NOTEBOOK.replace("HAPPENS", happens), "small.py"))
    folder.script.write_text(script.text)
    folder.watch.write_text(to_json(script.watch))
    environ = environment(folder, RunOptions(), os.environ) | {"OMP_NUM_THREADS": "1"}
    command = (*TORCHRUN, str(folder.script), "--epochs", "3000")
    return subprocess.run(
        command, env=environ, cwd=folder.path, capture_output=True, text=True, timeout=120, check=False
    )


def told(folder: RunFolder, kind: str) -> list[dict[str, object]]:
    events = [json.loads(line) for line in folder.events.read_text().splitlines()]
    return [event for event in events if event["event"] == kind]


def test_what_torchrun_starts_is_watched_stopped_and_brings_its_result(tmp_path):
    folder = create(tmp_path, "small")
    folder.stop.touch()
    done = under_torchrun(folder, "pass")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    run = Run.attach(folder)
    state = run.state
    assert (state.world_size, sorted(state.ranks), state.step, len(run.history)) == (2, [0, 1], 6, 1)
    assert run.log(0).splitlines() == run.log(1).splitlines()
    assert run.log(0).splitlines()[1:] == ["behind"]
    assert run.log(0).startswith(f"epoch 0: {run.result().values['losses'][0]:.6f}")
    assert sorted(event["rank"] for event in told(folder, "end")) == [0, 1]


@pytest.mark.thorough
def test_an_error_under_torchrun_is_told_once_by_its_rank(tmp_path):
    folder = create(tmp_path, "small")
    done = under_torchrun(folder, 'if torch.distributed.get_rank() == 1: raise ValueError("bad label")')
    assert done.returncode == 1
    errors = [event for event in told(folder, "error") if not event["victim"]]
    assert [(e["rank"], e["type"], e["message"]) for e in errors] == [(1, "ValueError", "bad label")]
    assert Run.attach(folder).state.culprit.rank == 1


def test_modules_are_found_as_without_it_also_where_it_is_found_by_the_same_folder(tmp_path):
    root = str(INSIDE.parents[3])
    (tmp_path / "where.py").write_text("import sys; print(sys.path.count(sys.argv[1]), sys.path[:2])")
    command = (sys.executable, str(INSIDE), str(tmp_path / "where.py"), root)
    environ = {**os.environ, "PYTHONPATH": root}
    done = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == f"1 {[str(tmp_path), root]}\n", done.stderr
