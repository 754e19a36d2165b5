"""Old runs deleted, and never one that lives; a run looked at briefly."""

import json
import os
import time

from nbddp.run.folder.folder import RESERVED
from nbddp.run.folder.folders import bytes_in, create, runs_in
from nbddp.run.prune import Bytes, glance, prune
from nbddp.run.run import Run


def test_pruning_deletes_old_runs_and_never_a_living_one(train, tmp_path, wait_until):
    old = [train(epochs=1) for _ in range(3)]
    for run in old:
        assert run.wait(30).phase == "done"
    living = train(epochs=4_000, pause=0.01)
    wait_until(lambda: living.state.step >= 2)
    assert [folder.name for folder in prune(tmp_path, keep=1)] == [run.name for run in old[:2]]
    assert [folder.name for folder in prune(tmp_path)] == [old[2].name]
    assert runs_in(tmp_path) == [living.folder]
    living.stop("kill")
    assert prune(tmp_path, keep=1) == []
    assert prune(tmp_path) == [living.folder]


def test_pruning_spares_a_run_that_has_just_been_made_and_one_of_another_machine(tmp_path):
    young, old, elsewhere = (create(tmp_path, name, now=1_700_000_000.0 + n) for n, name in enumerate("abc"))
    long_ago = time.time() - 1000
    os.utime(old.path, (long_ago, long_ago))
    elsewhere.supervisor.write_text(json.dumps({"pid": 1, "started": "1", "boot": "b", "host": "another"}))
    assert "started on another" in Run(elsewhere).state.warnings[0].message
    assert prune(tmp_path) == [old]
    assert runs_in(tmp_path) == [young, elsewhere]
    elsewhere.events.write_text('{"event": "exit", "time": 1.0, "rank": null, "status": 0}\n')
    assert prune(tmp_path) == [elsewhere]


def test_pruning_by_size_keeps_the_newest_that_fit(tmp_path):
    folders = [create(tmp_path, name, now=1_700_000_000.0 + n) for n, name in enumerate("abcd")]
    long_ago = time.time() - 1000
    for number, folder in enumerate(folders):
        folder.checkpoint.write_bytes(b"x" * (100_000 if number else 10))
        os.utime(folder.path, (long_ago, long_ago))
    assert bytes_in(folders[3]) == 100_000 + RESERVED
    assert prune(tmp_path, Bytes(250_000)) == folders[:2]  # the first is small, but older than one that has to go
    assert prune(tmp_path, Bytes(250_000)) == []
    assert prune(tmp_path, Bytes(1)) == folders[2:]


def test_a_glance_at_a_long_run_shows_its_beginning_and_its_end(tmp_path):
    folder = create(tmp_path, "long")
    lines = ['{"event": "launch", "time": 5.0, "rank": null, "name": "long"}']
    step = '{"event": "step", "rank": 0, "time": 6.0, "step": %d, "epoch": %d, "values": {"loss": 1.0}}'
    lines += [step % (n, n // 100) for n in range(1, 20_000)]
    lines += ['{"event": "exit", "time": 99.0, "rank": null, "status": 0, "signal": null}']
    folder.events.write_text("\n".join(lines) + "\n")
    state = glance(folder)
    assert (state.name, state.phase, state.started, state.ended, state.step) == ("long", "done", 5.0, 99.0, 19_999)
    assert state.unreadable == 0


def test_a_run_that_ends_while_it_is_glanced_at_is_not_lost(tmp_path, monkeypatch):
    folder = create(tmp_path, "short")
    folder.events.write_text('{"event": "launch", "time": 5.0, "rank": null, "name": "short"}\n')
    ended = '{"event": "exit", "time": 9.0, "rank": null, "status": 0, "signal": null}\n'

    def ends_now(folder):
        with folder.events.open("a") as file:
            file.write(ended)
        return "Its processes have gone."

    monkeypatch.setattr("nbddp.run.engines.this_machine.why_lost", ends_now)
    assert glance(folder).phase == "done"


def test_a_glance_sees_an_end_for_which_the_disk_had_no_room(tmp_path, monkeypatch):
    folder = create(tmp_path, "full")
    folder.events.write_text('{"event": "launch", "time": 5.0, "rank": null, "name": "full"}\n')
    monkeypatch.setattr("nbddp.run.engines.this_machine.why_lost", lambda _: "Its processes have gone.")
    assert glance(folder).phase == "lost"
    folder.reserve.write_text('{"event": "exit", "time": 9.0, "rank": null, "status": 0, "signal": null}\n')
    assert glance(folder).phase == "done"
