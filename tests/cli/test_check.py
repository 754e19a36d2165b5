import json
from dataclasses import dataclass

import pytest

from nbddp.cli import main
from nbddp.diagnostics import CannotExport, Diagnostic
from tests.cli.findings import ERROR, WARNING


@dataclass(frozen=True)
class Kept:
    cell: int
    line: int
    source: str


@dataclass(frozen=True)
class Dropped:
    cell: int
    line: int
    source: str
    why: str


@dataclass(frozen=True)
class Role:
    name: str
    role: str
    sure: bool
    cell: int


@dataclass(frozen=True)
class Report:
    kept: tuple[Kept, ...] = (Kept(2, 1, "x = 1"),)
    dropped: tuple[Dropped, ...] = (Dropped(2, 2, "x.shape", "shows a value"), Dropped(4, 1, "a(\n)", "not needed"))
    roles: tuple[Role, ...] = (Role("net", "model", True, 2), Role("data", "training loader", False, 3))
    diagnostics: tuple[Diagnostic, ...] = ()


def said(capsys, *words):
    status = main(["check", "x.ipynb", *words])
    out, err = capsys.readouterr()
    return status, out, err


def test_a_clean_notebook(capsys, compiler, notebook):
    compiler.report = Report()
    status, out, err = said(capsys)
    assert (status, err) == (0, "")
    assert out == (
        "roles\n"
        "  net   model            cell 2\n"
        "  data  training loader  cell 3  (a guess)\n"
        "\n"
        "kept\n"
        "  cell 2:1  x = 1\n"
        "\n"
        "left out\n"
        "  cell 2:2  x.shape  shows a value\n"
        "  cell 4:1  a(…      not needed\n"
        "\n"
        "nothing to report; an export gives a script\n"
    )


@pytest.mark.parametrize(
    ("diagnostics", "words", "status"),
    [
        ((), ["--strict"], 0),
        ((WARNING,), [], 0),
        ((WARNING,), ["--strict"], 1),
        ((ERROR, WARNING), [], 2),
        ((ERROR, WARNING), ["--strict"], 2),
    ],
)
def test_the_status_follows_the_gravest_finding(capsys, compiler, notebook, diagnostics, words, status):
    compiler.report = Report(diagnostics=diagnostics)
    assert said(capsys, *words)[0] == status
    assert said(capsys, "--json", *words)[0] == status


def test_every_finding_is_shown(capsys, compiler, notebook):
    compiler.report = Report(diagnostics=(ERROR, WARNING))
    out = said(capsys)[1]
    assert ERROR.render() in out
    assert WARNING.render() in out
    assert out.endswith("\n1 error, 1 warning; cannot export\n")


def test_json_has_all_of_it(capsys, compiler, notebook):
    compiler.report = Report(diagnostics=(WARNING,))
    found = json.loads(said(capsys, "--json")[1])
    assert found["dropped"][0] == {"cell": 2, "line": 2, "source": "x.shape", "why": "shows a value"}
    assert found["roles"][1] == {"name": "data", "role": "training loader", "sure": False, "cell": 3}
    assert found["diagnostics"] == [WARNING.as_dict()]


def test_a_refusal_without_a_report_still_has_status_2(capsys, compiler, notebook):
    compiler.refusal = CannotExport([ERROR])
    status, out, err = said(capsys)
    assert (status, out) == (2, "")
    assert ERROR.render() in err
