"""The command of a run, and what is known before it."""

import os
import sys
from pathlib import Path

import pytest

from nbddp.run.doctor import doubts, only_whole_epochs, problems
from nbddp.run.folder.folders import create
from nbddp.run.start.command import Origin, RunOptions, among_visible, build, environment
from nbddp.run.start.machine_facts import facts, gpus, visible
from nbddp.watch_points import Watch, WatchPoint

ORIGIN = Origin("/venv/bin/python", Path("/home/me/my work"), {"HOME": "/home/me", "PATH": "/bin"})


@pytest.fixture
def folder(tmp_path):
    return create(tmp_path, "run")


def test_what_was_not_asked_for_is_left_to_the_script(folder):
    command = build(folder, RunOptions(), "", ORIGIN)
    assert command.arguments == (str(folder.script),)
    assert command.argv[:3] == ("/venv/bin/python", "-X", "faulthandler")
    assert command.argv[4:] == command.arguments
    assert command.cwd == "/home/me/my work"


def test_options_and_parameters_are_passed_on(folder):
    options = RunOptions(2, (0, 1), 7, "gloo", "old.pt", "3e", ("--lr", "-0.1", "--name", "a b"))
    command = build(folder, options, 'parser.add_argument("--seed")', ORIGIN)
    assert " ".join(command.arguments[1:]) == "--nproc 2 --seed 7 --lr -0.1 --name a b"
    asked = {"NBDDP_BACKEND": "gloo", "NBDDP_RESUME": "old.pt", "NBDDP_CHECKPOINT_EVERY": "3e"}
    assert asked.items() <= command.environment.items()
    assert command.environment["NBDDP_CHECKPOINT"] == str(folder.checkpoint)
    assert command.environment["CUDA_VISIBLE_DEVICES"] == "0,1"


def test_a_script_that_seeds_itself_is_asked_for_no_seed(folder):
    assert "--seed" not in build(folder, RunOptions(seed=7), "torch.manual_seed(0)", ORIGIN).arguments


def test_what_the_notebook_hands_over_is_an_option(folder):
    folder.snapshot.write_bytes(b"")
    assert build(folder, RunOptions(), "", ORIGIN).arguments[1:] == ("--snapshot", str(folder.snapshot))


def test_the_environment_is_the_kernels_and_says_where_to_report(folder):
    given = environment(folder, RunOptions(), ORIGIN.environ)
    assert (given["HOME"], given["PATH"]) == ("/home/me", "/bin")
    assert given["NBDDP_EVENTS"] == str(folder.events)
    assert "NBDDP_START" not in given
    folder.start.write_bytes(b"")
    assert environment(folder, RunOptions(), ORIGIN.environ)["NBDDP_START"] == str(folder.start)


def test_what_belongs_to_the_kernels_own_job_is_left_out(folder):
    job = {"RANK": "3", "WORLD_SIZE": "8", "MASTER_PORT": "29500", "MASTER_ADDR": "x", "SLURM_PROCID": "0"}
    job |= {"TORCHELASTIC_RUN_ID": "1", "NBDDP_STOP": "/old/run/stop", "LOCAL_RANK": "3"}
    given = environment(folder, RunOptions(), {**job, "SLURM_JOB_ID": "9"})
    assert not set(job) & set(given) - {"NBDDP_STOP"}
    assert given["NBDDP_STOP"] == str(folder.stop)
    assert given["SLURM_JOB_ID"] == "9"


def test_a_notebooks_way_of_drawing_is_not_the_scripts(folder):
    inline = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    assert environment(folder, RunOptions(), inline)["MPLBACKEND"] == "Agg"
    assert environment(folder, RunOptions(), {"MPLBACKEND": "pdf"})["MPLBACKEND"] == "pdf"


def test_devices_are_counted_as_the_kernel_counts_them():
    assert among_visible((0, 2), None) == "0,2"
    assert among_visible((1,), "2, 3") == "3"
    assert among_visible((0,), "GPU-8f3a,GPU-11") == "GPU-8f3a"


def test_gpus_are_those_that_the_driver_lists_and_the_kernel_may_see(tmp_path):
    for number, name in enumerate(("NVIDIA H100", "NVIDIA A10")):
        place = tmp_path / f"0000:0{number}:00.0"
        place.mkdir()
        (place / "information").write_text(f"Model: \t\t {name}\nIRQ:   16\n")
    names = gpus(tmp_path)
    assert names == ("NVIDIA H100", "NVIDIA A10")
    assert gpus(tmp_path / "nowhere") == ()
    assert visible(names, {}) == names
    assert visible(names, {"CUDA_VISIBLE_DEVICES": "1"}) == ("NVIDIA A10",)
    assert visible(names, {"CUDA_VISIBLE_DEVICES": ""}) == ()
    assert visible(names, {"CUDA_VISIBLE_DEVICES": "0,7,1"}) == ("NVIDIA H100",)
    assert visible(names, {"CUDA_VISIBLE_DEVICES": "-1"}) == ()


def test_facts_name_versions_without_importing_torch():
    known = facts(sys.executable, {})
    assert known["torch"].split(".")[0].isdigit()
    assert known["executable"] == sys.executable


HERE = Origin(sys.executable, Path.cwd(), dict(os.environ))
TWO = ("A100", "A100")


@pytest.mark.parametrize(
    ("options", "names", "said"),
    [
        (RunOptions(), (), []),
        (RunOptions(nproc=2), (), []),
        (RunOptions(nproc=2, devices=(0, 1)), TWO, []),
        (RunOptions(nproc=4, backend="gloo"), TWO, []),
        (RunOptions(nproc=0), (), ["--nproc must be at least 1, not 0"]),
        (RunOptions(nproc=-2), TWO, ["--nproc must be at least 1, not -2"]),
        (RunOptions(nproc=4), TWO, ["4 processes need 4 GPUs, and there are 2: choose --nproc 2, or --backend gloo"]),
        (RunOptions(nproc=2, devices=(1,)), TWO, ["there is 1: choose --nproc 1"]),
        (RunOptions(devices=(0, 5)), TWO, ["There is no GPU 5: there are GPUs 0 to 1."]),
        (RunOptions(devices=(1,)), ("A100",), ["There is no GPU 1: there is only GPU 0."]),
        (RunOptions(devices=(0,)), (), ["this machine has none that torch can use; leave out --devices"]),
        (RunOptions(devices=(1, 1)), TWO, ["--devices 1,1 names a device twice"]),
        (RunOptions(devices=()), TWO, ["names no device"]),
        (RunOptions(backend="nccl"), (), ["--backend nccl needs GPUs"]),
        (RunOptions(backend="glo"), (), ["torch has no backend glo"]),
        (RunOptions(resume="/no/such.pt"), (), ["There is no checkpoint /no/such.pt"]),
        (RunOptions(resume=__file__), (), [f"{__file__} is not a complete checkpoint"]),
        (RunOptions(nproc=0, devices=(9,)), TWO, ["--nproc must be at least 1", "no GPU 9"]),
    ],
)
def test_each_problem_is_told_before_the_launch_and_all_at_once(tmp_path, options, names, said):
    found = problems(tmp_path, options, HERE, names)
    assert len(found) == len(said)
    for sentence, part in zip(found, said, strict=True):
        assert part in sentence
        assert sentence.endswith(".")


def test_places_where_no_run_can_be_are_told(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("")
    (said,) = problems(file, RunOptions(), HERE, ())
    assert "is not a folder" in said
    monkeypatch.setattr("nbddp.run.doctor.ROOM", 1 << 60)
    (said,) = problems(tmp_path, RunOptions(), HERE, ())
    assert "MB left, too little" in said


def test_a_folder_that_cannot_be_written_to_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr("nbddp.run.doctor.os.access", lambda *_: False)
    (said,) = problems(tmp_path, RunOptions(), HERE, ())
    assert "cannot be written to" in said


def test_a_missing_python_torch_or_folder_is_told(tmp_path, monkeypatch):
    no_python, no_folder = problems(tmp_path, RunOptions(), Origin("/no/python", tmp_path / "gone", {}), ())
    assert "no Python at /no/python" in no_python
    assert "no longer exists" in no_folder
    monkeypatch.setattr("nbddp.run.doctor.torch_version", lambda: None)
    (said,) = problems(tmp_path, RunOptions(), HERE, ())
    assert "torch is not installed" in said


def test_more_processes_than_cores_are_a_doubt_and_no_problem(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1}, raising=False)
    origin = Origin.here()
    assert doubts(RunOptions(nproc=2), origin, ()) == doubts(RunOptions(), origin, ()) == []
    assert doubts(RunOptions(nproc=4), origin, ("A", "B", "C", "D")) == []  # a GPU each
    (said,) = doubts(RunOptions(nproc=4), origin, ())
    assert said == "4 processes share 2 cores: they take turns, and --nproc 2 is likely to be faster."
    assert problems(Path.cwd(), RunOptions(nproc=4), origin, ()) == []


@pytest.mark.parametrize(
    ("every", "watch", "why"),
    [
        (None, Watch("epochs", whole="of this"), ""),
        ("3e", Watch("epochs", whole="of this"), ""),
        ("500", Watch("epochs", whole="of this"), "of this"),
        ("10m", Watch("batches"), ""),
        ("10m", Watch("trainer"), "nbddp found no loop over epochs that it can continue in the middle"),
    ],
)
def test_where_an_epoch_cannot_be_left_it_is_said_before_the_start(every, watch, why):
    said = [f"--checkpoint-every {every}: checkpoints are written only after whole epochs: {why}."] if why else []
    assert only_whole_epochs(RunOptions(checkpoint_every=every), [WatchPoint(1, 0, "", watch)]) == said
