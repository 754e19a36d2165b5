"""Runs as jobs of a real SLURM, as their users see them."""

from __future__ import annotations

import re

import pytest

from tests.cluster.conftest import events
from tests.magics.kernel import Kernel

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("cluster")]

RUN = ("python", "-m", "nbddp", "run", "long.py", "--on", "slurm", "--nodes", "2", "--nproc", "2")
LINE = re.compile(r"^epoch \d+: loss .*$", re.MULTILINE)


def own(epochs, pause=0.05):
    return ("--", "--", "--epochs", str(epochs), "--pause", str(pause))


def nbddp(cluster, place, *words):
    return cluster.call("python", "-m", "nbddp", *words, cwd=place)


def has(place, name):
    return lambda: events(place, name)


def job_of(place):
    return str(events(place, "queued")[0]["job"])


def log(place):
    return "".join(path.read_text() for path in place.glob(".nbddp/runs/*/logs/rank0.log"))


def end(process):
    text, _ = process.communicate(timeout=500)
    return process.returncode, text


def test_the_same_digits_as_on_one_machine(cluster, place):
    status, there = cluster.call(*RUN, *own(3), cwd=place)
    assert status == 0, there
    assert {event["rank"]: event["host"] for event in events(place, "rank")} == {0: "nbA", 1: "nbA", 2: "nbB", 3: "nbB"}
    assert "queued as job" in there
    _, here = nbddp(cluster, place, "run", "long.py", "--nproc", "4", "--", "--epochs", "3", "--pause", "0.05")
    assert LINE.findall(there) == LINE.findall(here) != []


def test_a_cell_trains_on_two_machines_and_the_result_comes_back(cluster, place):
    kernel = Kernel(place, around=cluster.words(), SLURM_JOB_ID="999", SLURM_NTASKS="7", SBATCH_PARTITION="nowhere")
    try:
        cells = (place / "long.py").read_text().split("# %%")[1:]
        for cell in cells[:3]:
            assert kernel.run(cell.partition("\n")[2]).status == "ok"
        kernel.run("%load_ext nbddp\nepochs, pause = 3, 0.05\nbefore = model[0].weight.clone()")
        body = cells[3].partition("\n")[2]
        reply = kernel.run(f"%%ddp_train --on slurm --nodes 2 --nproc 2\n{body}", timeout=300)
        assert reply.status == "ok", reply.error
        assert kernel.value("run.state.phase, len(run.history), len(losses)") == "done 3 3"
        assert kernel.value("bool((before == model[0].weight).all())") == "False"
        assert kernel.value("sorted({rank.host for rank in run.state.ranks.values()})") == "['nbA', 'nbB']"
        assert kernel.value("run.folder.logged_ranks") == "[0, 1, 2, 3]"
        assert kernel.value("run.state.job.number.isdigit()") == "True"
    finally:
        kernel.end()


def test_preempted_by_a_higher_partition_it_goes_on_where_it_was(cluster, place):
    process = cluster.start(*RUN, "--partition", "low", *own(14, 0.15), cwd=place)
    cluster.until(lambda: "epoch 2" in log(place))
    cluster.call("sbatch", "--partition=high", "--nodes=2", "--ntasks-per-node=8", "--wrap", "sleep 3", cwd=place)
    cluster.until(has(place, "requeue"))
    assert "queued" in nbddp(cluster, place, "runs")[1]
    status, text = end(process)
    assert status == 0, text
    assert "Attempt 1 ended after" in text
    assert "preempted by another job" in text
    assert [line.split(":")[0] for line in LINE.findall(text)] == [f"epoch {number}" for number in range(14)]


def test_at_the_time_limit_it_goes_back_into_the_queue(cluster, place):
    process = cluster.start(*RUN, "--time", "2", *own(18, 0.5), cwd=place)
    status, text = end(process)
    assert status == 0, text
    assert "it came near its time limit" in text
    assert [line.split(":")[0] for line in LINE.findall(text)] == [f"epoch {number}" for number in range(18)]


def test_a_limit_that_is_too_short_for_an_epoch_ends_it_with_what_to_do(cluster, place):
    status, text = cluster.call(*RUN, "--time", "1", *own(3, 100.0), cwd=place)
    assert status != 0
    assert "before a checkpoint was written" in text
    assert "--time" in text


def test_a_node_that_fails_is_made_up_for(cluster, place):
    process = cluster.start(*RUN, *own(30, 0.2), cwd=place)
    cluster.until(lambda: "epoch 2" in log(place))
    victims = cluster.call("bash", "-c", "ip netns pids nbB 2>/dev/null", cwd=place)[1].split()
    assert victims
    cluster.call("bash", "-c", f"kill -9 {' '.join(victims)}", cwd=place)
    cluster.until(has(place, "requeue"), 200)
    assert "nbB failed" in str(events(place, "requeue")[0]["why"]) or "SLURM" in str(events(place, "requeue")[0]["why"])
    cluster.start("slurmd", "-N", "nbB", cwd=place, machine="nbB", CGROUP="1").communicate(timeout=60)
    status, text = end(process)
    assert status == 0, text
    assert [line.split(":")[0] for line in LINE.findall(text)] == [f"epoch {number}" for number in range(30)]


def test_cancelled_by_somebody(cluster, place):
    process = cluster.start(*RUN, *own(99, 0.2), cwd=place)
    cluster.until(lambda: "epoch 1" in log(place))
    cluster.call("scancel", job_of(place), cwd=place)
    status, text = end(process)
    assert status != 0
    assert "It was cancelled, with scancel or by an administrator." in text
    assert "· killed ·" in text
    assert "It was cancelled" in nbddp(cluster, place, "runs")[1]


def test_cancelled_by_somebody_while_it_waits(cluster, place):
    process = cluster.start(*RUN, "--", "--hold", cwd=place)
    cluster.until(has(place, "queued"))
    cluster.call("scancel", job_of(place), cwd=place)
    status, text = end(process)
    assert status != 0
    assert "It was cancelled, with scancel or by an administrator, before it had started." in text
    assert "· killed ·" in text
    assert "before it had started" in nbddp(cluster, place, "runs")[1]


def test_stopped_while_it_waits(cluster, place):
    process = cluster.start(*RUN, "--", "--hold", cwd=place)
    cluster.until(has(place, "queued"))
    assert "has ended" in nbddp(cluster, place, "stop")[1]
    _, text = end(process)
    assert "It was cancelled while it waited in the queue." in text
    assert "· stopped ·" in text


@pytest.mark.parametrize(("grade", "phase"), [("epoch", "stopped"), ("now", "stopped"), ("kill", "killed")])
def test_stopped_in_three_grades(cluster, place, grade, phase):
    process = cluster.start(*RUN, *own(99, 0.1), cwd=place)
    cluster.until(lambda: "epoch 1" in log(place))
    assert nbddp(cluster, place, "stop", "--grade", grade)[0] == 0
    _, text = end(process)
    assert f"· {phase} ·" in text
    assert bool(list(place.glob(".nbddp/runs/*/result.pt"))) is (grade == "epoch")
    assert list(place.glob(".nbddp/runs/*/checkpoint.pt"))


def test_attached_to_from_the_other_machine_after_its_starter_has_gone(cluster, place):
    status, text = cluster.call(*RUN[:5], "--background", *RUN[5:], *own(4), cwd=place)
    assert status == 0
    assert "is queued; see it with" in text
    status, text = end(cluster.start("python", "-m", "nbddp", "attach", cwd=place, machine="nbB"))
    assert status == 0, text
    assert len(LINE.findall(text)) == 4


def test_two_runs_of_one_notebook(cluster, place):
    one, other = (cluster.start(*RUN, *own(2), cwd=place) for _ in range(2))
    assert (end(one)[0], end(other)[0]) == (0, 0)
    assert len(list(place.glob(".nbddp/runs/*/result.pt"))) == 2


def test_a_script_that_is_edited_in_the_queue(cluster, place):
    process = cluster.start(*RUN, "--", "--hold", "--", "--epochs", "1", cwd=place)
    cluster.until(has(place, "queued"))
    (place / "long.py").write_text("nonsense, which nobody reads any more")
    (script,) = place.glob(".nbddp/runs/*/script.py")
    script.write_text(script.read_text() + "\n# changed\n")
    cluster.call("scontrol", "release", job_of(place), cwd=place)
    status, text = end(process)
    assert status == 0, text
    assert "was changed while the job was queued" in text


def test_a_folder_that_a_node_does_not_see(cluster, place):
    (pid,) = (line.split()[0] for line in cluster.call("pgrep", "-f", "slurmd -N nbB", cwd=place)[1].splitlines()[:1])
    inside = ("nsenter", "-t", pid, "-m")
    cluster.call(*inside, "mount", "-t", "tmpfs", "none", str(place), cwd=place)
    try:
        status, text = cluster.call(*RUN, *own(2), cwd=place)
    finally:
        cluster.call(*inside, "umount", str(place), cwd=place)
    assert status != 0
    assert re.search(r"nbB does not see the run's folder|not all of them see", text), text


def test_a_controller_that_does_not_answer_ends_nothing(cluster, place):
    process = cluster.start(*RUN, *own(12, 0.3), cwd=place)
    cluster.until(lambda: "epoch 1" in log(place))
    pid = (cluster.folder / "slurmctld.pid").read_text().strip()
    cluster.call("kill", "-STOP", pid, cwd=place)
    try:
        cluster.until(lambda: "epoch 9" in log(place))
    finally:
        cluster.call("kill", "-CONT", pid, cwd=place)
    status, text = end(process)
    assert status == 0, text
    assert len(LINE.findall(text)) == 12


def test_a_controller_that_does_not_answer_is_given_nothing(cluster, place):
    pid = (cluster.folder / "slurmctld.pid").read_text().strip()
    cluster.call("kill", "-STOP", pid, cwd=place)
    try:
        status, text = cluster.call(*RUN, *own(2), cwd=place)
    finally:
        cluster.call("kill", "-CONT", pid, cwd=place)
    assert status != 0
    assert "SLURM's controller does not answer, so nothing was submitted:" in text
    assert events(place) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--partition", "lo"), "There is no partition lo (did you mean low?): there are high, low."),
        (("--nodes", "3"), "--nodes 3: partition low has 2."),
        (("--nproc", "16"), "--nproc 16: no node of partition low has more than 8 CPUs."),
        (("--gpus", "1"), "1 GPUs on each node: no node of partition low has any."),
        (("--time", "soon"), "SLURM did not take the job:"),
        (("--devices", "0"), "--devices is for this machine"),
        (("--", "--qqos=x"), "SLURM did not take the job:"),
    ],
)
def test_what_cannot_be_is_said_before_it_is_queued(cluster, place, words, said):
    status, text = cluster.call(*RUN, *words, cwd=place)
    assert status != 0
    assert said in text
    assert cluster.call("squeue", "--noheader", cwd=place)[1] == ""
