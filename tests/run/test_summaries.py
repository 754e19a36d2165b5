"""Runs beside each other: a row for each, as JSON and as a table."""

from __future__ import annotations

import json
import sys

import pytest

import nbddp
from nbddp.run import verbs
from nbddp.run.folder.folders import create

SCRIPT = 'lr = 0.1\nname = "digits"\n\n\ndef train(rank):\n    loss = 1\n'
METRICS = '{"event": "metrics", "rank": 0, "time": %d, "epoch": %d, "values": {"total": %s, "accuracy": %s}}'
END = '{"event": "exit", "time": 30.0, "rank": null, "status": %d}'


@pytest.fixture
def folders(tmp_path):
    good, bad = (create(tmp_path, name, now=1_700_000_000.0 + n) for n, name in enumerate(["good", "bad"]))
    for folder in (good, bad):
        folder.script.write_text(SCRIPT)
        folder.write_command({"arguments": ["script.py", "--lr", "0.5", "--fast"]})
    launch = '{"event": "launch", "time": 5.0, "rank": null, "name": "x", "nproc": 2, "sums": ["total"]}'
    middle = ['{"event": "step", "rank": 0, "time": 6.0, "step": 1, "epoch": 0, "values": {"noise": 1.0}}'] * 1000
    epoch = '{"event": "epoch", "rank": 0, "time": 10.0, "epoch": 1, "epochs": 2}'
    rows = [METRICS % (9, 0, "30.0", "0.9"), *middle, epoch, METRICS % (20, 1, "20.0", "0.8")]
    good.events.write_text("\n".join([launch, *rows, END % 0]) + "\n")
    good.log(0).write_text("epoch 0: loss 0.2\nepoch 1: loss 0.4\n")
    error = (
        '{"event": "error", "rank": 1, "time": 7.0, "type": "ValueError", "message": "bad label", "traceback": [%s]}'
    )
    place = json.dumps({"file": str(bad.script), "line": 6, "function": "train"})
    bad.line_map.write_text(json.dumps([{"script": 6, "cell": 4, "line": 2, "source": "loss = 1"}]))
    bad.events.write_text("\n".join([launch, error % place, END % 1]) + "\n")
    return tmp_path


def test_parameters_numbers_and_reasons(folders):
    good, bad = nbddp.runs(folders)
    assert (good["state"], good["seconds"], good["processes"], good["epoch"]) == ("done", 25.0, 2, 2)
    assert good["parameters"] == {"lr": 0.5, "name": "digits", "fast": True}
    assert good["last"] == {"accuracy": 0.8, "loss": 0.4, "noise": 1.0}
    assert good["best"] == {"accuracy": 0.9, "loss": 0.2}
    assert (bad["state"], bad["failure"]) == ("failed", "rank 1: ValueError: bad label, cell 4, line 2, in train")


def test_as_json(folders, capsys):
    assert verbs.runs_as_json(folders) == 0
    assert json.loads(capsys.readouterr().out) == nbddp.runs(folders)


def test_in_words_with_the_reason_of_a_failure(folders, capsys):
    assert verbs.runs(folders) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "    rank 1: ValueError: bad label"


def test_as_a_table(folders, monkeypatch):
    table = nbddp.runs(folders).to_frame()
    assert list(table["lr"]) == [0.5, 0.5]
    assert table["best.loss"][0] == 0.2
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="needs pandas"):
        nbddp.runs(folders).to_frame()


def test_a_folder_of_which_nothing_can_be_read_is_a_row(tmp_path):
    folder = create(tmp_path, "empty")
    folder.events.write_bytes(b"\xff{\n")
    (row,) = nbddp.runs(tmp_path)
    assert (row["name"], row["parameters"], row["best"]) == (folder.name, {}, {})
