import json
from dataclasses import replace

import pytest

from nbddp.checking import Dropped, Kept, Report, Role
from nbddp.cli import main
from nbddp.diagnostics import CannotExport
from tests.cli.findings import ERROR, WARNING, shown

REPORT = Report(
    kept=(Kept(2, 1, "x = 1"),),
    dropped=(
        Dropped(2, 2, "x.shape", "shows a value"),
        Dropped(2, 3, "pass", "a magic"),
        Dropped(2, 4, "a(\n)", "later"),
    ),
    roles=(Role("data", "training loader", 3, sure=False), Role("net", "model", 2, sure=True)),
)


def said(capsys, *words):
    status = main(["check", "x.ipynb", *words])
    out, err = capsys.readouterr()
    return status, out, err


def test_a_clean_notebook(capsys, compiler, notebook):
    compiler.report = REPORT
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
        "  cell 2:3  %time    a magic\n"
        "  cell 2:4  a(…      later\n"
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
    compiler.report = replace(REPORT, diagnostics=diagnostics)
    assert said(capsys, *words)[0] == status
    assert said(capsys, "--json", *words)[0] == status


def test_a_notebook_that_nothing_is_known_of(capsys, compiler, notebook):
    compiler.report = Report(diagnostics=(ERROR,))
    status, out, _ = said(capsys)
    assert (status, out) == (2, f"{shown(ERROR)}1 error; cannot export\n")


def test_every_finding_is_shown(capsys, compiler, notebook):
    compiler.report = replace(REPORT, diagnostics=(ERROR, WARNING))
    out = said(capsys)[1]
    assert ERROR.render() in out
    assert WARNING.render() in out
    assert out.endswith("\n1 error, 1 warning; cannot export\n")


def test_json_has_all_of_it(capsys, compiler, notebook):
    compiler.report = replace(REPORT, diagnostics=(WARNING,))
    found = json.loads(said(capsys, "--json")[1])
    assert found["dropped"][0] == {"cell": 2, "line": 2, "source": "x.shape", "why": "shows a value"}
    assert found["roles"][0] == {"name": "data", "role": "training loader", "sure": False, "cell": 3, "file": ""}
    assert found["diagnostics"] == [WARNING.as_dict()]


def test_a_refusal_without_a_report_still_has_status_2(capsys, compiler, notebook):
    compiler.refusal = CannotExport([ERROR])
    status, out, err = said(capsys)
    assert (status, out) == (2, "")
    assert ERROR.render() in err
