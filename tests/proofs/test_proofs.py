"""A proof is of one training exactly, and comes of that training alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.proofs.claim import Claim
from tests.proofs.ledger import FILE, read

pytest_plugins = ["pytester"]
ROOT = Path(__file__).parents[2]
SCRIPT = '"""Exported from x.ipynb by nbddp 0.1.0 (5f2c9a1e)."""\nimport torch\n\nprint(1)\n'
SUITE = """
from pathlib import Path
import pytest
from tests.proofs.claim import Claim

SCRIPT, RIGHT, WAYS = {script!r}, {right}, {ways!r}

@pytest.mark.parametrize("way", WAYS)
def test_it_trains(way, proved):
    def judge():
        with Path({trained!r}).open("a") as file:
            print(way, file=file)
        if way == "skips":
            pytest.skip("there is no GPU")
        assert RIGHT or way != "trains"

    proved(Claim(f"it {{way}}", SCRIPT, 2), judge)
    assert way != "fails later"

def test_of_another_kind():
    Path({trained!r}).with_name("other").touch()
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Runs a file of tests and gives the names of what was trained."""
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    trained, proofs = pytester.path / "trained", pytester.path / "proofs.json"

    def run(
        mode: str, *, ways: tuple[str, ...] = ("trains",), script: str = SCRIPT, right: bool = True, words: str = ""
    ) -> list[str]:
        trained.write_text("")
        pytester.makepyfile(SUITE.format(script=script, right=right, ways=ways, trained=str(trained)))
        options = [
            "-p",
            "tests.proofs.plugin",
            "-p",
            "no:cacheprovider",
            "--proofs",
            mode,
            "--proofs-file",
            str(proofs),
        ]
        result = pytester.runpytest_inprocess(*options, *words.split())
        run.said = result.stdout.str()
        run.proofs = read(proofs)
        return trained.read_text().split()

    return run


def test_what_was_proved_is_not_trained_again_and_what_has_changed_is(suite):
    assert suite("write") == ["trains"]
    assert list(suite.proofs) == ["it trains"]
    assert suite("use") == suite("write") == []
    assert "1 proved before, 0 trained now" in suite.said
    before = suite.proofs
    assert suite("use", script=SCRIPT.replace("print(1)", "print(2)")) == ["trains"]
    assert "`make prove` keeps what they prove" in suite.said
    assert suite.proofs == before
    assert suite("write", script=SCRIPT.replace("print(1)", "print(2)")) == ["trains"]
    assert suite.proofs != before


def test_a_change_of_who_judges_is_one(suite):
    suite("write")
    assert suite("use", ways=("trains", "trains too")) == ["trains", "trains", "too"]


def test_everything_is_trained_where_proofs_are_to_be_ignored(suite):
    suite("write")
    proofs = suite.proofs
    assert suite("ignore") == ["trains"]
    assert suite.proofs == proofs


@pytest.mark.parametrize(
    ("ways", "right"),
    [(("trains",), False), (("skips",), True), (("fails later",), True)],
    ids=str,
)
def test_without_a_training_that_is_right_there_is_no_proof(suite, ways, right):
    suite("write", ways=ways, right=right)
    assert suite.proofs == {}
    assert suite("write", ways=ways, right=right) != []


@pytest.mark.parametrize("mode", ["use", "ignore"])
def test_proofs_are_written_only_where_that_is_asked_for(suite, mode):
    assert suite(mode) == ["trains"]
    assert suite.proofs == {}


def test_a_wrong_training_does_not_take_the_place_of_a_proof(suite):
    suite("write")
    before = suite.proofs
    suite("write", script=SCRIPT.replace("print(1)", "print(3)"), right=False)
    assert suite.proofs == before
    assert suite("use", script=SCRIPT.replace("print(1)", "print(3)"), right=False) == ["trains"]


def test_each_is_written_when_it_is_earned(suite):
    suite("write", ways=("trains", "fails later", "trains well"))
    assert list(suite.proofs) == ["it trains", "it trains well"]
    assert "proved, as number 2: it trains well" in suite.said


def test_to_prove_runs_no_other_tests(suite, pytester):
    suite("write")
    assert not (pytester.path / "other").exists()
    suite("use")
    assert (pytester.path / "other").exists()


def test_several_processes_write_one_file(suite):
    ways = tuple(f"trains{n}" for n in range(6))
    suite("write", ways=ways, words="-p xdist.plugin -n 2")
    assert sorted(suite.proofs) == [f"it {way}" for way in ways]


@pytest.fixture
def claim(tmp_path: Path) -> Claim:
    (tmp_path / "x" / "data").mkdir(parents=True)
    (tmp_path / "x.py").write_text("# %%\nimport torch\n")
    (tmp_path / "x" / "data" / "train.csv").write_text("1,2\n")
    (tmp_path / "judge.py").write_text("def judge(): ...\n")
    return Claim("x on 2 processes", SCRIPT, 2, tmp_path / "x.py", (tmp_path / "judge.py", tmp_path / "x"), ("forked",))


def judge() -> None:
    """Stands for one; what counts is that it stands in this file."""


@pytest.mark.parametrize(
    "change",
    [
        lambda claim: replace(claim, script=SCRIPT.replace("print(1)", "print(2)")),
        lambda claim: replace(claim, nproc=3),
        lambda claim: replace(claim, options=()),
        lambda claim: replace(claim, harness=claim.harness[1:]),
        lambda claim: replace(claim, script=SCRIPT.replace("import torch", "import lightning")),
        lambda claim: claim.notebook.write_text("# %%\nimport torch, sys\n") and claim,
        lambda claim: claim.notebook.with_suffix("").joinpath("data", "train.csv").write_text("1,3\n") and claim,
        lambda claim: claim.notebook.with_suffix("").joinpath("new.py").write_text("\n") and claim,
        lambda claim: claim.harness[0].write_text("def judge(): return\n") and claim,
    ],
)
def test_whatever_decides_a_training_is_in_its_hash(claim, change):
    before = claim.digest(judge)
    assert claim.digest(judge) == before
    assert change(claim).digest(judge) != before


def test_a_harness_that_is_not_there_is_no_harness(claim):
    with pytest.raises(FileNotFoundError, match=r"moved\.py"):
        replace(claim, harness=(*claim.harness, claim.notebook.with_name("moved.py"))).digest(judge)


def test_another_torch_is_another_training(claim, monkeypatch):
    before = claim.digest(judge)
    monkeypatch.setattr("importlib.metadata.version", lambda name: f"99 of {name}")
    assert claim.digest(judge) != before


def test_the_judges_own_file_is_in_the_hash(claim):
    assert claim.digest(judge) != claim.digest(json.dumps)


def test_neither_the_place_nor_the_version_nor_an_order_counts(claim, tmp_path):
    before = claim.digest(judge)
    elsewhere = tmp_path.rename(tmp_path.with_name("elsewhere"))
    try:
        moved = [elsewhere / path.relative_to(tmp_path) for path in (claim.notebook, *reversed(claim.harness))]
        script = SCRIPT.replace("0.1.0 (5f2c9a1e)", "0.2.0 (0a0b0c0d)")
        (elsewhere / "x" / "__pycache__").mkdir()
        (elsewhere / "x" / "__pycache__" / "x.pyc").write_text("what Python leaves there")
        assert replace(claim, script=script, notebook=moved[0], harness=tuple(moved[1:])).digest(judge) == before
    finally:
        elsewhere.rename(tmp_path)


def test_the_file_has_a_line_for_each_proof_in_order():
    lines = FILE.read_text(encoding="utf-8").splitlines()
    assert (lines[0], lines[-1]) == ("{", "}")
    names = [line.partition('": "')[0] for line in lines[1:-1]]
    assert names == sorted(names)
    assert len(names) == len(read(FILE))
