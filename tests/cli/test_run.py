from pathlib import Path

import pytest

from nbddp.cli import main
from nbddp.diagnostics import CannotExport
from nbddp.notebook import Notebook, cell_from_source
from nbddp.run.folder.errors import LaunchFailed
from nbddp.run.prune import Bytes
from nbddp.run.start.command import JobOptions, RunOptions
from tests.cli.findings import ERROR, WARNING, shown


@pytest.fixture
def started(monkeypatch, compiler):
    """What would have been started; the run itself is tested where it is made."""
    calls = []

    def run(*positional, **named):
        calls.append((*positional, named))
        return 3

    monkeypatch.setattr("nbddp.run.verbs.run", run)
    return calls


def test_the_bytes_that_run_are_those_of_export(started, compiler, notebook):
    assert main(["run", "x.ipynb"]) == 3
    [(script, name, options, named)] = started
    assert (script, name, options) == (compiler.text, "x", RunOptions())
    assert named["root"] == Path.cwd()
    assert named["background"] is False


def test_the_line_map_names_the_cells_lines(started, notebook):
    main(["run", "x.ipynb"])
    assert started[0][-1]["line_map"] == [{"script": 3, "cell": 2, "line": 1, "source": "x = 1"}]


def test_every_option_arrives(started, compiler, notebook):
    words = "--nproc 2 --devices 0,2 --seed 7 --backend gloo --resume a.pt --checkpoint-every 5e --background"
    main(["run", "x.ipynb", *words.split(), "--", "--lr", "0.5", "--", "--export"])
    expected = RunOptions(2, (0, 2), 7, "gloo", str(Path.cwd() / "a.pt"), "5e", ("--lr", "0.5", "--", "--export"))
    assert started[0][2] == expected
    assert started[0][-1]["background"] is True
    assert compiler.asked[0][1].nproc == 2


def test_what_the_cells_line_asks_for_counts_where_nothing_else_is(started, compiler, notebook, monkeypatch):
    line = "%%ddp_train --nproc 3 --devices 0,1 --seed 7 --background --export here.py -- --lr 0.5"
    read = Notebook("x.ipynb", (cell_from_source(f"{line}\nf()", 2),))
    monkeypatch.setattr("nbddp.cli.run.read_notebook", lambda _: read)
    compiler.line_map = ()
    main(["run", "x.ipynb", "--seed", "8", "--nproc", "2", "--", "--lr", "0.1"])
    assert started[0][2] == RunOptions(2, (0, 1), 8, arguments=("--lr", "0.5", "--lr", "0.1"))
    assert started[0][-1]["background"] is False


def test_a_job_with_words_for_sbatch_and_the_scripts_own(started, compiler, notebook):
    main(["run", "x.ipynb", "--on", "slurm", "--nodes", "2", "--nproc", "8", "--", "--mem=1G", "--", "--lr", "0.5"])
    job = JobOptions(nodes=2, words=("--mem=1G",))
    assert started[0][2] == RunOptions(8, arguments=("--lr", "0.5"), job=job)
    assert compiler.asked[0][1].slurm is True


@pytest.mark.parametrize(
    ("words", "job", "own"),
    [
        ([], JobOptions(nodes=2, words=("--mem=1G",)), ("--lr", "0.5")),
        (["--nodes", "3", "--", "--qos=a"], JobOptions(nodes=3, words=("--mem=1G", "--qos=a")), ("--lr", "0.5")),
        (["--on", "here", "--", "--lr", "1"], None, ("--lr", "0.5", "--lr", "1")),
    ],
)
def test_a_cells_line_that_asks_for_a_job(started, compiler, notebook, monkeypatch, words, job, own):
    line = "%%ddp_train --on slurm --nodes 2 -- --mem=1G -- --lr 0.5"
    read = Notebook("x.ipynb", (cell_from_source(f"{line}\nf()", 2),))
    monkeypatch.setattr("nbddp.cli.run.read_notebook", lambda _: read)
    compiler.line_map = ()
    main(["run", "x.ipynb", *words])
    assert started[0][2] == RunOptions(arguments=own, job=job)


def test_warnings_are_shown_before_it_starts(capsys, started, compiler, notebook):
    compiler.diagnostics = (WARNING,)
    main(["run", "x.ipynb"])
    assert capsys.readouterr().err == shown(WARNING)


def test_what_cannot_be_exported_is_not_started(capsys, started, compiler, notebook):
    compiler.refusal = CannotExport([ERROR])
    assert main(["run", "x.ipynb"]) == 2
    assert started == []
    assert "cannot export: 1 error" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--lr", "1"], "no option '--lr'; the script's own options follow a --"),
        (["--devices", "0,x"], "argument --devices: it takes numbers of GPUs such as 0,1, not 'x'"),
        (["--devices", ""], "argument --devices: it takes numbers of GPUs such as 0,1, not ''"),
        (
            ["--checkpoint-every", "0"],
            "argument --checkpoint-every: it takes a time as 90s, 10m or 2h, epochs as 2e, or batches as 500, not '0'",
        ),
    ],
)
def test_a_slip_gets_one_sentence(capsys, started, notebook, words, sentence):
    assert main(["run", "x.ipynb", *words]) == 2
    assert capsys.readouterr().err == f"nbddp: run: {sentence}; see `nbddp run --help`\n"
    assert started == []


def test_help_says_how_the_scripts_own_options_are_given(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["run", "--help"])
    out = capsys.readouterr().out
    assert "[-- …]" in out
    assert "After --: the script's own options" in out


@pytest.mark.parametrize(
    ("words", "verb", "given"),
    [
        (["attach"], "attach", (None,)),
        (["attach", "digits"], "attach", ("digits",)),
        (["stop"], "stop", (None, "now")),
        (["stop", "digits", "--grade", "epoch"], "stop", ("digits", "epoch")),
        (["log"], "log", (None, 0, None)),
        (["log", "digits", "--rank", "1", "--last", "5"], "log", ("digits", 1, 5)),
        (["runs"], "runs", (None,)),
        (["runs", "--json"], "runs_as_json", (None,)),
        (["runs", "--prune"], "runs", (10,)),  # not the one that has just ended
        (["runs", "--prune", "0"], "runs", (0,)),
        (["runs", "--prune", "3"], "runs", (3,)),
        (["runs", "--prune", "1.5GB"], "runs", (Bytes(1.5 * 1024**3),)),
    ],
)
def test_the_other_verbs_pass_on_what_they_are_given(monkeypatch, tmp_path, words, verb, given):
    monkeypatch.chdir(tmp_path)
    calls = []
    monkeypatch.setattr(f"nbddp.run.verbs.{verb}", lambda *arguments: calls.append(arguments) or 5)
    assert main(words) == 5
    assert calls == [(tmp_path, *given)]


def test_a_run_that_is_not_there(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["attach", "digits"]) == 2
    assert capsys.readouterr().err.startswith("nbddp: There is no run digits")


def test_a_launch_that_fails(capsys, monkeypatch, compiler, notebook):
    def fail(*_, **__):
        raise LaunchFailed("no room")

    monkeypatch.setattr("nbddp.run.verbs.run", fail)
    assert main(["run", "x.ipynb"]) == 2
    assert capsys.readouterr().err == "nbddp: no room\n"


def test_other_verbs_take_nothing_after_a_double_dash(capsys, notebook):
    assert main(["check", "x.ipynb", "--", "y"]) == 2
    assert "unrecognized arguments: y" in capsys.readouterr().err
    assert main(["export", "x.ipynb", "--", "y"]) == 2
    assert "add --sbatch" in capsys.readouterr().err
