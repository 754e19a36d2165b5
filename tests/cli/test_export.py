import json
from pathlib import Path

import pytest

from nbddp.cli import main
from nbddp.diagnostics import CannotExport
from nbddp.notebook import CannotRead
from nbddp.options import Options
from tests.cli.findings import ERROR, WARNING, shown


def said(capsys, *words):
    status = main(["export", *words])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_script_lies_beside_the_notebook(capsys, compiler, notebook):
    assert said(capsys, "x.ipynb") == (0, "x_ddp.py written\n", "")
    assert Path("x_ddp.py").read_text() == compiler.text
    assert said(capsys, "x.ipynb") == (0, "x_ddp.py is up to date\n", "")


def test_the_output_can_be_named(capsys, compiler, notebook):
    assert said(capsys, "x.ipynb", "-o", "other.py") == (0, "other.py written\n", "")
    assert Path("other.py").read_text() == compiler.text
    assert not Path("x_ddp.py").exists()


def test_every_option_reaches_the_compiler(capsys, compiler, notebook):
    said(capsys, "x.ipynb")
    said(capsys, "x.ipynb", "--train", "2", "--nproc=4", "--batch-per-rank", "--sync-batchnorm")
    assert [options for _, options in compiler.asked] == [Options(), Options(2, 4, True, True)]


@pytest.fixture
def no_site(monkeypatch, tmp_path):
    """Whatever is kept as defaults of jobs on this machine."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))


def test_a_train_job_lies_beside_the_script(capsys, compiler, notebook):
    words = ("x.ipynb", "--k8s", "--nproc", "4", "--nodes", "2", "--volume", "data:/shared")
    status, out, err = said(capsys, *words)
    assert (status, out, err) == (0, "x_ddp.py written\n", "x_ddp.yaml written: kubectl create -f x_ddp.yaml\n")
    text = Path("x_ddp.yaml").read_text()
    assert "numProcPerNode: 4" in text
    assert "leave out --stdout" in said(capsys, "x.ipynb", "--k8s", "--stdout")[2]
    assert "--time is for SLURM" in said(capsys, "x.ipynb", "--k8s", "--nproc", "4", "--time", "1:00")[2]
    assert "needs --nproc" in said(capsys, "x.ipynb", "--k8s")[2]
    assert "--image is for Kubernetes: add --k8s" in said(capsys, "x.ipynb", "--image", "me/x:1")[2]
    assert "takes a claim and a path" in said(capsys, "x.ipynb", "--k8s", "--volume", "data")[2]


def test_a_file_for_sbatch_lies_beside_the_script_and_stays_once_changed(capsys, compiler, notebook, no_site):
    words = ("x.ipynb", "--sbatch", "--nproc", "8", "--nodes", "2", "--", "--mem=1G")
    status, out, err = said(capsys, *words)
    assert (status, out, err) == (0, "x_ddp.py written\n", "x_ddp.sbatch written: sbatch x_ddp.sbatch\n")
    text = Path("x_ddp.sbatch").read_text()
    assert "#SBATCH --nodes=2 --ntasks-per-node=8\n#SBATCH --gpus-per-node=8\n" in text
    assert "#SBATCH --mem=1G\n" in text
    Path("x_ddp.sbatch").write_text(f"{text}# mine\n")
    status, _, err = said(capsys, *words)
    assert (status, "--force overwrites it" in err) == (2, True)
    assert said(capsys, *words[:-2], "--force")[0] == 0
    assert "# mine" not in Path("x_ddp.sbatch").read_text()


def test_what_jobs_are_asked_for_needs_a_file_to_be_written_into(capsys, compiler, notebook, no_site):
    assert "add --sbatch" in said(capsys, "x.ipynb", "--nodes", "2")[2]
    assert "leave out --stdout" in said(capsys, "x.ipynb", "--sbatch", "--stdout")[2]


def test_warnings_are_shown_and_counted(capsys, compiler, notebook):
    compiler.diagnostics = (WARNING, WARNING)
    status, out, err = said(capsys, "x.ipynb")
    assert (status, out) == (0, "x_ddp.py written (2 warnings)\n")
    assert err == shown(WARNING, WARNING)


def test_all_errors_are_shown_at_once_and_nothing_is_written(capsys, compiler, notebook):
    compiler.refusal = CannotExport([ERROR, WARNING])
    status, out, err = said(capsys, "x.ipynb")
    assert (status, out) == (2, "")
    assert ERROR.render() in err
    assert WARNING.render() in err
    assert err.endswith("nbddp: cannot export: 1 error, 1 warning\n")
    assert not Path("x_ddp.py").exists()


def test_a_notebook_that_cannot_be_read_gets_its_sentence(capsys, compiler, notebook):
    compiler.refusal = CannotRead("x.ipynb is empty")
    assert said(capsys, "x.ipynb") == (2, "", "nbddp: x.ipynb is empty\n")


def test_a_missing_notebook(capsys, tmp_path):
    status, out, err = said(capsys, str(tmp_path / "no.ipynb"))
    assert (status, out) == (2, "")
    assert "no.ipynb" in err
    assert err.count("\n") == 1


def test_an_edited_script_is_kept_unless_forced(capsys, compiler, notebook):
    Path("x_ddp.py").write_text("mine\n")
    status, out, err = said(capsys, "x.ipynb")
    assert (status, out) == (2, "")
    assert err == "nbddp: x_ddp.py was edited since its export and is kept; --force overwrites it\n"
    assert Path("x_ddp.py").read_text() == "mine\n"
    assert said(capsys, "x.ipynb", "--force") == (0, "x_ddp.py written\n", "")


def test_the_notebook_is_never_overwritten(capsys, compiler, notebook):
    status, _, err = said(capsys, "x.ipynb", "--force", "-o", "x.ipynb")
    assert (status, err) == (2, "nbddp: export: x.ipynb is the notebook itself\n")
    assert notebook.read_text() == "{}"


def test_stdout_has_the_same_bytes_and_writes_no_file(capsys, compiler, notebook):
    compiler.diagnostics = (WARNING,)
    assert said(capsys, "x.ipynb", "--stdout") == (0, compiler.text, shown(WARNING))
    assert not Path("x_ddp.py").exists()


def test_diff_shows_the_script_against_the_cells(capsys, compiler, notebook):
    status, out, _ = said(capsys, "x.ipynb", "--diff=full")
    first, _, code = compiler.text.splitlines()
    assert status == 0
    assert out.splitlines() == [
        "--- x.ipynb",
        "+++ x_ddp.py",
        f"+{first}",
        "",
        "@@ cell 2 @@",
        f" {code}",
        "-x.shape",
        "-%time",
        "-a(",
        "-)",
    ]
    assert not Path("x_ddp.py").exists()


def test_diff_is_coloured_for_a_terminal(capsys, compiler, notebook, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[31m-x.shape\x1b[0m" in said(capsys, "x.ipynb", "--diff")[1]


def test_json_names_the_file_and_the_findings(capsys, compiler, notebook):
    compiler.diagnostics = (WARNING,)
    status, out, err = said(capsys, "x.ipynb", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out) == {"output": "x_ddp.py", "written": True, "diagnostics": [WARNING.as_dict()]}


def test_json_says_why_not(capsys, compiler, notebook):
    compiler.refusal = CannotExport([ERROR])
    status, out, err = said(capsys, "x.ipynb", "--json")
    assert (status, err) == (2, "")
    assert json.loads(out) == {"error": "cannot export: 1 error", "diagnostics": [ERROR.as_dict()]}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--diff", "--stdout"], "--stdout and --diff exclude each other; choose one"),
        (["--stdout", "-o", "y.py"], "--stdout writes no file; leave out --output"),
        (["--diff", "--output", "y.py"], "--diff writes no file; leave out --output"),
    ],
)
def test_options_that_contradict_each_other(capsys, compiler, notebook, words, sentence):
    assert said(capsys, "x.ipynb", *words) == (2, "", f"nbddp: export: {sentence}\n")


def test_a_contradiction_with_json_is_told_in_json(capsys, compiler, notebook):
    status, out, err = said(capsys, "x.ipynb", "--diff", "--json")
    assert (status, err) == (2, "")
    assert json.loads(out) == {"error": "export: --diff and --json exclude each other; choose one", "diagnostics": []}


def test_an_output_that_is_a_folder(capsys, compiler, notebook):
    Path("out").mkdir()
    assert said(capsys, "x.ipynb", "-o", "out") == (2, "", "nbddp: out is a folder; name the file to write\n")
