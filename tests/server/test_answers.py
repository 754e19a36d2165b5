"""What the compiler answers to a page."""

from __future__ import annotations

import json

import pytest

from nbddp.cli import main
from nbddp.server.answers import answer, answer_kernel
from tests.server.notebooks import CELLS, IMPORTS, MODEL, TRAIN, notebook, question


def roles(said: dict) -> list[str]:
    return [cell["role"] for cell in said["cells"]]


def test_an_export_has_the_bytes_of_the_command_line(tmp_path):
    path = tmp_path / "digits.ipynb"
    path.write_text(json.dumps(notebook()))
    assert main(["export", str(path)]) == 0
    said = answer("export", question())
    assert said["script"].encode() == (tmp_path / "digits_ddp.py").read_bytes()
    assert (said["cells"], said["kept"]) == (5, 4)
    assert said["rewrites"]["sampler"] >= 1
    assert answer_kernel("export", json.dumps(question())).data == said


def test_each_line_of_the_script_leads_to_its_cell():
    said = answer("export", question())
    lines = said["script"].split("\n")
    at = next(number for number, line in enumerate(lines) if "optimizer = torch.optim.SGD(" in line)
    assert tuple(said["lines"][at]) == (3, 2)


def test_what_no_cell_has_written_is_told_by_its_lines():
    said = json.loads(json.dumps(answer("export", question())))
    lines = said["script"].split("\n")
    header, imports, *helpers = said["sections"]
    assert (header["kind"], header["first"]) == ("header", 1)
    assert (imports["kind"], lines[imports["first"] - 1][:7]) == ("imports", "import ")
    assert helpers
    assert [one["kind"] for one in helpers] == ["helpers"] * len(helpers)
    assert all(one["title"] in lines[one["first"] - 1] for one in helpers)
    assert lines[helpers[-1]["last"] - 1].strip() == "main()"


def test_a_refusal_is_an_answer():
    said = answer("export", question(IMPORTS, MODEL))
    assert said["exported"] is False
    assert said["diagnostics"][0]["level"] == "error"


def test_what_is_found_comes_with_the_words_that_a_page_translates():
    said = answer("check", question(*CELLS[:2], CELLS[3]))["diagnostics"]
    found = next(one for one in said if one["message"] == "no cell before this one defines 'optimizer'")
    assert found["words"]["message"] == ["no cell before this one defines '%1'", "optimizer"]
    (found,) = answer("check", question(*CELLS[:3], f"%%ddp_train --nproc x\n{CELLS[3]}"))["diagnostics"]
    form, magic, why = json.loads(json.dumps(found))["words"]["message"]
    assert (form, magic) == ("%1: %2", "%%ddp_train")
    assert found["message"] == f"{magic}: {why}"
    foreign = {**question(), "name": "1.ipynb"}
    foreign["notebook"]["metadata"] = {"language_info": {"name": "R"}}
    words = ["%1 is a notebook in %2, not in Python.", "1.ipynb", "R"]
    assert answer("check", foreign) == {"refused": "1.ipynb is a notebook in R, not in Python.", "words": words}


def test_a_script_that_somebody_has_edited_is_told_from_one_that_nobody_has():
    made = answer("export", question())["script"]
    older = answer("export", question(*CELLS[:-1], "x = 1"))["script"]
    assert older == made or not answer("export", question(present=older))["edited"]
    assert not answer("export", question(present=made))["edited"]
    assert answer("export", question(present=made + "# mine\n"))["edited"]
    assert answer("export", question(present="print()"))["edited"]


def test_each_cell_has_a_role_and_a_reason():
    said = answer("check", question())
    assert roles(said) == ["kept", "kept", "kept", "train", "left-out"]
    assert said["training"] == 4
    assert said["cells"][2]["why"] == "the training needs model, optimizer"
    assert said["cells"][4]["why"] == "after the training"


def test_marks_are_roles_and_say_where_they_stand():
    said = answer("check", question(tags={2: "ddp-setup", 4: "ddp-train"}))
    assert roles(said) == ["kept", "setup", "kept", "train", "left-out"]
    assert [cell["marked"] for cell in said["cells"]] == ["", "its tag", "", "its tag", ""]
    said = answer("check", question(*CELLS[:3], f"%%ddp_train --nproc 2\n{CELLS[3]}", f"#| ddp: skip\n{CELLS[4]}"))
    assert [cell["marked"] for cell in said["cells"]] == ["", "", "", "%%ddp_train", "#| ddp: skip"]


def test_without_a_training_cell_marks_are_all_that_is_known():
    said = answer("check", question(IMPORTS, MODEL, tags={2: "ddp-setup"}))
    assert roles(said) == ["", "setup"]
    assert said["training"] is None
    assert said["diagnostics"]


def test_a_cell_that_is_being_typed_is_a_finding():
    said = answer("check", question(*CELLS[:4], "print("))
    assert roles(said) == ["kept", "kept", "kept", "train", "invalid"]
    assert said["cells"][4]["why"] == "not valid Python: '(' was never closed"
    assert [(one["rule"], one["cell"]) for one in said["diagnostics"]] == [("syntax", 5)]


def test_a_cell_that_cannot_be_read_is_invalid_also_where_no_cell_trains():
    said = answer("check", question(*CELLS[:3], f"{TRAIN}\nprint("))
    assert roles(said) == ["", "", "", "invalid"]
    assert [(one["rule"], one["cell"]) for one in said["diagnostics"]] == [("syntax", 4)]


@pytest.mark.parametrize("what", ["check", "export"])
def test_a_cell_that_has_only_been_marked_yet(what):
    (found,) = answer(what, question(*CELLS[:3], "%%ddp_train"))["diagnostics"]
    assert (found["cell"], found["message"]) == (4, "the training cell is empty: write the loop that trains into it")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ([], "The body must be"),
        ({"notebook": 3}, "is not a notebook"),
        ({"notebook": {"cells": [3]}}, "is damaged"),
        ({"notebook": notebook() | {"nbformat": 9}}, "newer"),
        ({"notebook": notebook() | {"metadata": {"language_info": {"name": "julia"}}}}, "julia"),
        ({"notebook": notebook(), "name": "../x.ipynb"}, '"name"'),
        ({"notebook": notebook(), "name": "x\n.ipynb"}, '"name"'),
        ({"notebook": notebook(), "present": 1}, '"present"'),
        ({"notebook": notebook(), "options": []}, '"options"'),
        ({"notebook": notebook(), "options": {"force": True}}, '"force"'),
        ({"notebook": notebook(), "options": {"nproc": True}}, "whole number"),
        ({"notebook": notebook(), "options": {"nproc": 0}}, "whole number"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(body, sentence):
    said = answer("export", body)
    assert sentence in said["refused"]
    assert said["refused"].endswith(".")
