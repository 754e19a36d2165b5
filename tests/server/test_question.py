"""What a page asks, read strictly."""

from __future__ import annotations

from typing import Any

import pytest

from nbddp.server.question import NoQuestion, read_question

CELL = {"cell_type": "code", "source": "a = 1", "metadata": {}, "outputs": [], "execution_count": None}
NOTEBOOK = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [CELL]}


def asked(**more: Any):
    return read_question({"notebook": NOTEBOOK, **more})


def test_a_question():
    found = asked(name="a.ipynb", options={"nproc": 2, "batch_per_rank": True, "train": None}, present="text")
    assert (found.notebook.name, found.options.nproc, found.options.batch_per_rank) == ("a.ipynb", 2, True)
    assert found.options.train is None
    assert found.present == "text"


def test_where_its_modules_are(tmp_path):
    assert asked(folder=str(tmp_path)).notebook.folder == tmp_path
    assert asked(folder=None).notebook.folder is None


@pytest.mark.parametrize("body", [None, [], {}, {"notebook": 3}, {"notebook": {}}, "text"])
def test_without_a_notebook_there_is_none(body):
    with pytest.raises(NoQuestion):
        read_question(body)


@pytest.mark.parametrize(
    "more",
    [
        {"name": "a/b.ipynb"},
        {"name": ""},
        {"name": 3},
        {"name": "a\nb"},
        {"present": 3},
        {"options": []},
        {"options": {"other": 1}},
        {"options": {"nproc": 0}},
        {"options": {"nproc": True}},
        {"options": {"nproc": "2"}},
        {"options": {"batch_per_rank": 1}},
        {"folder": 3},
        {"folder": "not/from/the/root"},
    ],
)
def test_what_makes_no_sense_is_refused(more):
    with pytest.raises(NoQuestion):
        asked(**more)
