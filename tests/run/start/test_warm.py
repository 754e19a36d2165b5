"""A warm start must be a start: nothing that the script can see tells it from a cold one, and nothing is ever stale."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nbddp.run.folder.errors import NotWarm
from nbddp.run.run import Run
from nbddp.run.start.command import Origin, RunOptions
from nbddp.run.start.warm import WarmHelper

SCRIPTS = Path(__file__).parents[1].joinpath("scripts")
PROBE = (SCRIPTS / "probe.py").read_text()
DRAWN = {"unseeded", "numpy", "torch", "initial_seed"}  # differ from process to process


@pytest.fixture
def place(tmp_path):
    """A folder with a module of the user's own."""
    (tmp_path / "local_module.py").write_text("VALUE = 1\n")
    return tmp_path


def start(text, place, helper, environ=None, **options):
    origin = Origin(sys.executable, place, {**os.environ, "PROBE": "a b", **(environ or {})})
    return Run.start(text, "probe", RunOptions(**options), origin=origin, helper=helper)


def probe(place, helper):
    run = start(PROBE, place, helper, arguments=("--some", "word with space"))
    state = run.wait(60)
    assert state.phase == "done", run.failure
    return state, {name: json.loads((place / f"{name}.json").read_text()) for name in ("main", "rank0", "rank1")}, run


@pytest.mark.thorough
def test_the_script_sees_the_same_as_in_a_cold_start(place, helper):
    _, cold, cold_run = probe(place, None)
    state, warm, warm_run = probe(place, helper)
    assert (state.start, state.why_cold) == ("warm", "")
    for name, facts in cold.items():
        for key, value in facts.items():
            if key not in DRAWN:
                expected = json.loads(json.dumps(value).replace(cold_run.name, warm_run.name))
                assert (name, key, warm[name][key]) == (name, key, expected)
    assert warm["main"]["name"] == "__main__"
    assert warm["rank1"]["name"] == "__mp_main__"
    assert warm["main"]["path"][0] == str(place)
    assert warm["main"]["argv"][1:] == ["--some", "word with space"]
    for log in (warm_run.folder.stdout, cold_run.folder.stdout):
        assert sorted(log.read_text().splitlines()) == ["main speaks", "rank 0 speaks", "rank 1 speaks"]


def test_no_two_processes_draw_the_same_unseeded_numbers(place, helper):
    runs = [probe(place, helper)[1] for _ in range(2)]
    for key in DRAWN:
        drawn = [facts[key] for run in runs for facts in run.values()]
        assert len(set(drawn)) == len(drawn)


def test_a_changed_module_of_the_users_own_is_never_stale(place, helper):
    for value in (1, 2):
        (place / "local_module.py").write_text(f"VALUE = {value}\n")
        os.utime(place / "local_module.py", (value, value))
        state, facts, _ = probe(place, helper)
        assert state.start == "warm"
        assert [seen["local"] for seen in facts.values()] == [value] * 3


@pytest.mark.parametrize("name", ["numpy.py", "random.py", "torch/__init__.py"])
def test_a_file_that_hides_an_imported_module_makes_the_start_cold(tmp_path, helper, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("")
    run = start("print('x')", tmp_path, helper)
    state = run.wait(30)
    assert (state.phase, state.start) == ("done", "cold")
    assert Path(name).parts[0] in state.why_cold


def test_a_folder_that_hides_nothing_is_no_reason(tmp_path, helper):
    (tmp_path / "torch").mkdir()
    (tmp_path / "utils.py").write_text("")
    assert start("print('x')", tmp_path, helper).wait(30).start == "warm"


@pytest.mark.thorough
def test_a_variable_that_is_read_at_import_makes_the_start_cold_and_the_helper_new(tmp_path):
    helper = WarmHelper.start(("torch",))
    try:
        first = helper.process.pid
        state = start("print('x')", tmp_path, helper, {"OMP_NUM_THREADS": "3"}).wait(60)
        assert (state.phase, state.start) == ("done", "cold")
        assert "OMP_NUM_THREADS" in state.why_cold
        assert helper.process.pid != first
    finally:
        helper.close()


def test_the_reason_why_there_is_no_helper_is_kept(tmp_path):
    state = start("print('x')", tmp_path, NotWarm("This is no Linux.")).wait(30)
    assert (state.phase, state.start, state.why_cold) == ("done", "cold", "This is no Linux.")


@pytest.mark.thorough
def test_another_interpreter_is_started_cold(tmp_path, helper):
    other = tmp_path / "python"
    other.symlink_to(sys.executable)
    origin = Origin(str(other), tmp_path, dict(os.environ))
    run = Run.start("print('x')", "other", origin=origin, helper=helper)
    state = run.wait(30)
    assert (state.phase, state.start) == ("done", "cold")
    assert "a different Python" in state.why_cold


def test_without_torch_the_start_is_cold_and_says_so(tmp_path):
    helper = WarmHelper.start(("json",))
    try:
        state = start("print('x')", tmp_path, helper).wait(30)
        assert (state.phase, state.start) == ("done", "cold")
        assert "torch" in state.why_cold
    finally:
        helper.close()


def test_packages_that_are_not_installed_or_not_safe_are_left_alone(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("raise SystemExit('imported')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    helper = WarmHelper.start(("mine", "tensorflow", "no_such_package"))
    try:
        assert helper.wait_until_ready(30)
        assert helper.process.poll() is None
    finally:
        helper.close()


def test_more_packages_can_be_loaded_later(tmp_path, helper):
    helper.load(["tqdm"])
    text = "import sys; print('tqdm' in sys.modules)"
    run = start(text, tmp_path, helper)
    assert run.wait(30).start == "warm"
    assert run.folder.stdout.read_text() == "True\n"


@pytest.mark.thorough
def test_the_helper_goes_with_its_kernel_and_the_run_does_not(tmp_path, wait_until):
    kernel = """
import os, sys, time
from pathlib import Path
from nbddp.run.folder.errors import NotWarm
from nbddp.run.run import Run
from nbddp.run.start.command import RunOptions
from nbddp.run.start.warm import WarmHelper
helper = WarmHelper.start()
text = Path(sys.argv[1]).read_text()
run = Run.start(text, "orphan", RunOptions(arguments=("--epochs", "100", "--pause", "0.01")), helper=helper)
print(helper.process.pid, run.folder.path, flush=True)
os.kill(os.getpid(), 9)
"""
    words = [sys.executable, "-c", kernel, str(SCRIPTS / "train.py")]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=environ, check=False, timeout=90)
    assert done.returncode == -signal.SIGKILL, done.stderr
    pid, path = done.stdout.strip().split(" ", 1)
    wait_until(lambda: not Path("/proc", pid).exists() or " Z " in Path("/proc", pid, "stat").read_text(), 10)
    run = Run.attach(path)
    assert run.state.start == "warm"
    state = run.wait(60)
    assert (state.phase, len(state.history)) == ("done", 100)
    assert run.load("words") == ["a", 1, None]
    assert run.processes() == []


def test_the_numbers_are_those_of_a_cold_start_to_the_last_bit(train):
    warm, cold = train(), train(start="cold")
    assert (warm.wait(60).phase, cold.wait(60).phase) == ("done", "done")
    assert warm.history[-1]["mean_loss"] == cold.history[-1]["mean_loss"]
    weights = [run.load("model")["weight"].tolist() for run in (warm, cold)]
    assert weights[0] == weights[1]


def test_a_seed_of_hashes_that_the_script_sets_costs_no_interpreter(tmp_path, helper):
    """Processes that are forked hash alike as they are."""
    text = """
import os, sys, torch.multiprocessing as mp
def work(rank):
    sys.stdout.write(f"{'nbddp.run.start.warm_ranks' not in sys.modules} {hash('word')}\\n")  # in one piece
if __name__ == "__main__":
    os.environ["PYTHONHASHSEED"] = "0"
    mp.spawn(work, nprocs=2)
"""
    run = start(text, tmp_path, helper)
    assert run.wait(60).phase == "done", run.failure
    first, second = run.folder.stdout.read_text().splitlines()
    assert first == second
    assert first.startswith("False ")  # no new interpreter


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "value"), [("MKL_CBWR", "COMPATIBLE"), ("OMP_NUM_THREADS", "1000")])
def test_a_variable_that_the_script_sets_for_libraries_reaches_its_ranks(tmp_path, helper, name, value):
    text = f"""
import os, sys, torch.multiprocessing as mp
def work(rank):
    print("a new interpreter:", "nbddp.run.start.warm_ranks" not in sys.modules)
if __name__ == "__main__":
    os.environ["{name}"] = "{value}"
    mp.spawn(work, nprocs=1)
"""
    run = start(text, tmp_path, helper)
    assert run.wait(60).phase == "done", run.failure
    assert run.folder.stdout.read_text() == "a new interpreter: True\n"


@pytest.mark.thorough
def test_values_that_are_shared_rather_than_sent_are_spawned(tmp_path, helper):
    text = """
import torch, torch.multiprocessing as mp
def work(rank, shared, queue):
    shared[rank] = rank + 1
    queue.put(rank)
if __name__ == "__main__":
    shared = torch.zeros(2).share_memory_()
    queue = mp.get_context("spawn").SimpleQueue()
    mp.spawn(work, args=(shared, queue), nprocs=2)
    print(shared.tolist(), sorted([queue.get(), queue.get()]))
"""
    run = start(text, tmp_path, helper)
    assert run.wait(90).phase == "done", run.failure
    assert run.folder.stdout.read_text() == "[1.0, 2.0] [0, 1]\n"


@pytest.mark.parametrize("body", ["raise KeyError('why')", "raise SystemExit(3)", "import os; os._exit(4)"])
def test_torch_raises_its_own_exceptions(tmp_path, helper, body):
    text = f"""
import torch.multiprocessing as mp
def work(rank):
    if rank == 1:
        {body}
    import time
    time.sleep(60)
if __name__ == "__main__":
    try:
        mp.spawn(work, nprocs=2)
    except Exception as error:
        code = getattr(error, "exit_code", None)
        print(type(error).__name__, error.error_index, code, "KeyError: 'why'" in str(error))
"""
    run = start(text, tmp_path, helper)
    assert run.wait(30).phase == "done"
    expected = {"r": "ProcessRaisedException 1 None True", "i": "ProcessExitedException 1 4 False"}
    seen = run.folder.stdout.read_text().strip()
    assert seen == (expected[body[0]] if "SystemExit" not in body else "ProcessExitedException 1 3 False")


def test_spawn_without_join_gives_a_context(tmp_path, helper):
    text = """
import torch.multiprocessing as mp
def work(rank):
    print("rank", rank)
if __name__ == "__main__":
    context = mp.spawn(work, nprocs=1, join=False)
    while not context.join():
        pass
    print("joined", len(context.pids()))
"""
    run = start(text, tmp_path, helper)
    assert run.wait(30).phase == "done", run.failure
    assert run.folder.stdout.read_text() == "rank 0\njoined 1\n"


@pytest.mark.parametrize(("code", "status"), [("3", 3), ("0", 0), ("'a sentence'", 1), ("", 0)])
def test_the_exit_status_is_the_scripts(tmp_path, helper, code, status):
    text = f"import atexit, sys\natexit.register(print, 'at exit')\nsys.exit({code})"
    run = start(text, tmp_path, helper)
    state = run.wait(30)
    assert state.exit.status == status
    assert run.folder.stdout.read_text() == "at exit\n"
    if status == 1:
        assert run.folder.stderr.read_text() == "a sentence\n"
        assert run.failure.message == "a sentence"


def test_a_pool_of_threads_that_nobody_has_ended_ends_with_the_script(tmp_path, helper):
    pool = "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)\n"
    run = start(f"{pool}print(pool.submit(abs, -3).result())", tmp_path, helper)
    assert run.wait(30).phase == "done"
    assert run.folder.stdout.read_text() == "3\n"


def test_forking_leaves_this_process_alone(helper, tmp_path):
    state = random.getstate()
    assert start("print('x')", tmp_path, helper).wait(30).phase == "done"
    assert random.getstate() == state
