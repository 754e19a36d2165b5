"""Scripts with real processes: how they start, how they end, and what they leave behind, which is nothing."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch

from nbddp.script.copy_parts import parts_for
from nbddp.script.launcher import Needs, launcher

LIMIT = 90.0
ALL_GONE = 20.0  # seconds: a worker of torch's looks every five whether the process that it works for is there
HEAD = '''"""A script for a test."""

{imports}

lr = 0.5
sizes = [1, 2]
flag = False


def train(rank, world_size, rank_device):
    print("train", rank, world_size, rank_device, lr, sizes, flag, flush=True)
    work(rank, world_size)


def work(rank, world_size):
{body}


{parts}


{launcher}'''


def write(folder: Path, body: str, *names: str, **needs: Any) -> Path:
    """A script whose `work` has this body, with the parts that it names."""
    end = launcher({"lr": 0.5, "sizes": [1, 2], "flag": False}, Needs(**needs))
    parts = parts_for([*names, *end.parts])
    imports = "\n".join(sorted({*parts.imports, *end.imports, "import os", "import time", "import torch"}))
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    path = folder / "script.py"
    path.write_text(HEAD.format(imports=imports, body=lines, parts=parts.source, launcher=end.source))
    return path


def clean() -> dict[str, str]:
    """This environment, without places among other processes."""
    names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "OMP_NUM_THREADS", "PYTHONHASHSEED")
    return {k: v for k, v in os.environ.items() if k not in names and not k.startswith(("NBDDP_", "SLURM_"))}


@contextlib.contextmanager
def started(script: Path, *words: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """The script as a process; whatever is left of it at the end is killed, and that is an error of its own."""
    with (script.parent / "out").open("w") as out, (script.parent / "err").open("w") as err:
        process = subprocess.Popen(
            [sys.executable, str(script), *words], stdout=out, stderr=err, env={**clean(), **environment}, text=True,
            start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        left = members(process.pid)
        for member in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
        process.wait()


def members(session: int) -> list[psutil.Process]:
    """All processes of a session: also those whose parent has gone."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
            if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def eventually(true: Callable[[], Any], seconds: float = LIMIT) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := true():
            return found
        time.sleep(0.02)  # between two looks
    raise AssertionError(f"not within {seconds:g} s")


def run(script: Path, *words: str, **environment: str) -> tuple[int, str, str]:
    with started(script, *words, **environment) as process:
        status = process.wait(LIMIT)
        eventually(lambda: not members(process.pid), 10)
    return status, (script.parent / "out").read_text(), (script.parent / "err").read_text()


SUM = 'print("sum", sum_over_ranks(rank + 1), "threads", torch.get_num_threads())'


def test_it_starts_a_process_for_each_rank_and_one_speaks(tmp_path):
    script = write(tmp_path, SUM, "sum_over_ranks:numbers")
    status, out, err = run(script, "--nproc", "2", "--lr", "0.25", "--sizes", "7", "--flag")
    threads = max(1, torch.get_num_threads() // 2)
    assert (status, err) == (0, "")
    assert out.splitlines() == ["train 0 2 cpu 0.25 [7] True", f"sum 3 threads {threads}"]


def test_workers_of_a_loader_start_as_in_a_notebook(tmp_path):
    script = write(tmp_path, 'print("workers", mp.get_start_method())', workers=True)
    expected = "forkserver" if sys.version_info >= (3, 14) else "fork"
    assert run(script, "--nproc", "1")[1].splitlines()[-1] == f"workers {expected}"


def test_bars_are_drawn_by_one_process_and_errors_by_any(tmp_path):
    body = 'print(f"bar of {rank}", file=sys.stderr)'
    status, _, err = run(write(tmp_path, body, bars=True), "--nproc", "2")
    assert (status, err) == (0, "bar of 0\n")
    failing = write(tmp_path, f'{body}\nif rank == 1:\n    raise ValueError("bad sample")', bars=True)
    done = under_torchrun(failing)
    assert done.returncode == 1
    assert "ValueError: bad sample" in done.stderr


def test_each_is_seeded_alike_where_the_notebook_does_not(tmp_path):
    body = "found = torch.rand(1).item()\nprint(sum_over_ranks(found) == world_size * found, found)"
    script = write(tmp_path, body, "sum_over_ranks:numbers", seed=frozenset({"torch"}))
    words = ("--nproc", "2", "--seed", "3"), ("--nproc", "1", "--seed", "3"), ("--nproc", "1", "--seed", "4")
    first, again, other = (run(script, *each)[1].splitlines()[-1] for each in words)
    assert first == again != other
    assert first.startswith("True")


def test_what_asks_the_environment_finds_its_place(tmp_path):
    names = "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"
    script = write(tmp_path, f"print([os.environ[name] for name in {names}])", place=True)
    assert run(script, "--nproc", "2")[1].splitlines()[-1] == "['0', '0', '2', '2']"


def under_torchrun(script: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script)]
    return subprocess.run([*command, *words], capture_output=True, text=True, env=clean(), timeout=LIMIT, check=False)


@pytest.mark.thorough
def test_torchrun_starts_it_too(tmp_path):
    script = write(tmp_path, 'print("sum", sum_over_ranks(0.5))', "sum_over_ranks:numbers")
    done = under_torchrun(script, "--lr", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["train 0 2 cpu 2.0 [1, 2] False", "sum 1.0"]


ORDER = 'print(sum_over_ranks(hash("word") % 997) == 2 * (hash("word") % 997), hash("word") % 997)'


@pytest.mark.thorough
def test_sets_of_strings_have_one_order_in_all_processes(tmp_path):
    script = write(tmp_path, ORDER, "sum_over_ranks:numbers", sets=True)
    found = [run(script, "--nproc", "2")[1].splitlines()[-1], under_torchrun(script).stdout.splitlines()[-1]]
    assert found[0] == found[1]
    assert found[0].startswith("True")


@pytest.mark.thorough
def test_an_order_that_is_asked_for_stays(tmp_path):
    script = write(tmp_path, ORDER, "sum_over_ranks:numbers", sets=True)
    asked = subprocess.run(
        [sys.executable, "-c", 'print(hash("word") % 997)'], env={**clean(), "PYTHONHASHSEED": "7"}, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    _, out, _ = run(script, "--nproc", "2", PYTHONHASHSEED="7")
    assert out.splitlines()[-1] == f"True {asked.stdout.strip()}"


def test_an_error_on_one_rank_ends_all(tmp_path):
    body = 'if rank == 1:\n    raise ValueError("bad sample")'
    status, _, err = run(write(tmp_path, body))
    assert status == 1
    assert "ValueError: bad sample" in err


@pytest.mark.thorough
def test_a_killed_rank_ends_all(tmp_path):
    body = WITH_WORKERS + "if rank == 1:\n    os.kill(os.getpid(), signal.SIGKILL)\nsum_over_ranks(1)"
    script = write(tmp_path, body, "sum_over_ranks:numbers")
    with started(script) as process:
        eventually(lambda: "up" in (tmp_path / "out").read_text())
        assert process.wait(5) == 1
        eventually(lambda: not members(process.pid), ALL_GONE)
    assert "process 1 terminated with signal SIGKILL" in (tmp_path / "err").read_text()


WITH_WORKERS = """
read = iter(torch.utils.data.DataLoader(range(9), num_workers=1))
next(read)
sum_over_ranks(0)  # all have come as far as this
print("up", flush=True)
"""
WAITING = f"""
{WITH_WORKERS}
if rank == 1:
    time.sleep(600)
sum_over_ranks(1)
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("number", "to_all"),
    [(signal.SIGTERM, False), (signal.SIGINT, True), (signal.SIGKILL, False)],
    ids=["SIGTERM to main", "Ctrl-C", "SIGKILL to main"],
)
def test_a_signal_ends_all_at_once_also_in_a_collective(tmp_path, number, to_all):
    script = write(tmp_path, WAITING, "sum_over_ranks:numbers")
    with started(script) as process:
        eventually(lambda: "up" in (tmp_path / "out").read_text())
        (os.killpg if to_all else os.kill)(process.pid, number)
        eventually(lambda: not members(process.pid), ALL_GONE)
        assert process.wait(1) == -number


def test_a_size_that_is_split_says_so():
    found = launcher({"size": 8, "other": 8}, Needs(batches=("size",))).source
    assert found.count('help="of all processes together"') == 1
    assert '"--size", type=int, default=size, help="of all processes together"' in found
