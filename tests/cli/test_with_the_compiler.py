"""The command line in front of the real compiler: the same bytes as `nbddp.export`, and one answer for bad input."""

import json
import re
import shutil
from pathlib import Path

import pytest

import nbddp
from nbddp.cli import main
from nbddp.fingerprint import edited_since_export

QUICKSTART = Path(__file__).parents[2] / "examples" / "quickstart.ipynb"

PERCENT = """# %%
import torch
from torch.utils.data import DataLoader, TensorDataset

# %%
data = TensorDataset(torch.randn(8, 2), torch.randn(8, 1))
loader = DataLoader(data, batch_size=4, shuffle=True)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

# %%
for epoch in range(2):
    for x, y in loader:
        loss = ((model(x) - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copy(QUICKSTART, "digits.ipynb")
    Path("loop.py").write_text(PERCENT)
    return tmp_path


@pytest.mark.parametrize("name", ["digits.ipynb", "loop.py"])
def test_the_same_bytes_as_from_python(capsys, folder, name):
    assert main(["export", name]) == 0
    assert main(["export", name, "--stdout"]) == 0
    written = Path(f"{Path(name).stem}_ddp.py").read_text()
    assert written == nbddp.export(name).text
    assert capsys.readouterr().out.endswith(written)
    assert not edited_since_export(written)


def test_an_option_makes_another_script(capsys, folder):
    main(["export", "digits.ipynb", "--nproc", "3", "--stdout"])
    assert capsys.readouterr().out == nbddp.export("digits.ipynb", nbddp.Options(nproc=3)).text
    assert nbddp.export("digits.ipynb").text != nbddp.export("digits.ipynb", nbddp.Options(nproc=3)).text


def test_a_script_that_was_edited_survives_the_next_export(capsys, folder):
    main(["export", "digits.ipynb"])
    script = Path("digits_ddp.py")
    mine = script.read_text().replace("lr = 0.1\n", "lr = 0.2\n")
    script.write_text(mine)
    assert main(["export", "digits.ipynb"]) == 2
    assert script.read_text() == mine
    assert main(["export", "digits.ipynb", "--force"]) == 0
    assert "lr = 0.1\n" in script.read_text()


def test_the_diff_has_every_line_of_script_and_cells(capsys, folder, monkeypatch):
    monkeypatch.setattr("nbddp.cli.diff.CONTEXT", 10_000)
    main(["export", "digits.ipynb", "--diff=full"])
    lines = capsys.readouterr().out.splitlines()[2:]
    script = [line[1:] for line in lines if line[:1] in ("+", " ") and line.strip(" +")]
    cells = {line[1:].strip() for line in lines if line[:1] in ("-", " ") and line.strip(" -")}
    assert script == [line for line in nbddp.export("digits.ipynb").text.splitlines() if line.strip()]
    notebook = json.loads(Path("digits.ipynb").read_text())["cells"]
    sources = [line for cell in notebook if cell["cell_type"] == "code" for line in "".join(cell["source"]).split("\n")]
    assert cells == {line.strip() for line in sources if line.strip()}


def test_the_short_diff_has_the_lines_of_the_cells_and_sums_of_the_others(capsys, folder):
    assert main(["export", "--diff", "digits.ipynb"]) == 0
    short = capsys.readouterr().out.splitlines()
    main(["export", "--diff=full", "digits.ipynb"])
    full = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"\+ [0-9]+ lines of imports", short[3])
    assert any(re.fullmatch(r"\+ [0-9]+ lines: \w[\w ]+", line) for line in short[4:])
    assert "+def main():" in full
    assert "+def main():" not in short
    assert "+import os" not in short
    assert "@@ cell 8 @@" in short
    assert "+        train_sampler.set_epoch(epoch)" in short
    assert len(short) < len(full) - 50


def test_check_tells_the_roles_and_why_lines_are_left_out(capsys, folder):
    assert main(["check", "digits.ipynb", "--strict", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    roles = {role["name"]: role["role"] for role in found["roles"]}
    assert roles["model"] == "model"
    assert roles["optimizer"] == "optimizer"
    assert (roles["train_loader"], roles["val_loader"]) == ("training loader", "evaluation loader")
    assert {"cell": 10, "line": 6} in [{"cell": each["cell"], "line": each["line"]} for each in found["dropped"]]
    assert all(each["why"] for each in found["dropped"])
    assert found["diagnostics"] == []


BAD = {
    "missing": None,
    "empty": b"",
    "no JSON": b"hello",
    "no notebook": b'{"a": 1}',
    "binary": b"\x89PNG\r\n\x1a\n\x00\xff",
    "another language": b'{"cells": [], "metadata": {"kernelspec": {"language": "R"}}, "nbformat": 4}',
    "no code": b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
}
MARKED = b"# %%\nimport torch\n\n# %%\n%%ddp_train\n"


@pytest.mark.parametrize("verb", ["export", "check", "run", "verify"])
def test_a_training_cell_that_is_still_empty(capsys, tmp_path, monkeypatch, verb):
    monkeypatch.chdir(tmp_path)
    Path("x.py").write_bytes(MARKED)
    assert main([verb, "x.py"]) == 2
    out, err = capsys.readouterr()
    assert (out + err).count("the training cell is empty: write the loop that trains into it") == 1
    assert "Traceback" not in out + err


@pytest.mark.parametrize("verb", ["export", "check", "run"])
@pytest.mark.parametrize("content", BAD.values(), ids=BAD.keys())
def test_bad_input_gets_status_2_and_no_traceback(capsys, tmp_path, monkeypatch, verb, content):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("x.ipynb").write_bytes(content)
    before = sorted(tmp_path.iterdir())
    assert main([verb, "x.ipynb"]) == 2
    out, err = capsys.readouterr()
    assert out + err
    assert "Traceback" not in out + err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("content", [BAD[name] for name in BAD if name != "no code"])
def test_what_cannot_be_read_gets_one_sentence(capsys, tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("x.ipynb").write_bytes(content)
    main(["export", "x.ipynb"])
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("nbddp: ")
    assert err.count("\n") == 1
    assert "x.ipynb" in err
