"""Roles by magic, directive and tag."""

from __future__ import annotations

import pytest

from nbddp.notebook import ROLES, cell_from_source, unknown_marks
from nbddp.notebook.marks import directive_of, tag_words


@pytest.mark.parametrize("role", ROLES)
def test_directives(role: str) -> None:
    cell = cell_from_source(f"#| ddp: {role}\nx = 1")
    assert (cell.directive, cell.mark, cell.marks) == (role, role, (role,))


@pytest.mark.parametrize(
    ("source", "directive"),
    [
        ("#|ddp:train\nf()", "train"),
        ("# | ddp : train  \nf()", "train"),
        ("  #| ddp: train\n  f()", "train"),
        ("\n# first\n#| echo: false\n#| ddp: skip\nf()", "skip"),
        ("%%time\n#| ddp: setup\nf()", "setup"),
        ("#| ddp: rank0\n%%time\nf()", "rank0"),
        ("#| ddp: skip\n#| ddp: train", "skip"),
        ("#| ddp: tarin\nf()", "tarin"),
        ("#| ddp:\nf()", ""),
        ("x = 1\n#| ddp: train", None),
        ("#| ddpx: train", None),
        ("# ddp: train", None),
        ("s = '''\n#| ddp: train\n'''", None),
        ("", None),
    ],
)
def test_where_a_directive_may_stand(source: str, directive: str | None) -> None:
    assert directive_of(source) == directive


@pytest.mark.parametrize(
    ("tag", "role"),
    [
        ("ddp-train", "train"),
        ("ddp-setup", "setup"),
        ("ddp-rank0", "rank0"),
        ("ddp-skip", "skip"),
        ("parameters", "parameters"),
        ("injected-parameters", "parameters"),
        ("hide-input", None),
    ],
)
def test_tags(tag: str, role: str | None) -> None:
    cell = cell_from_source("x = 1", tags=["other", tag])
    assert cell.tags == ("other", tag)
    assert cell.mark == role


def test_magic_before_directive_before_tags() -> None:
    cell = cell_from_source("%%dp_train\n#| ddp: setup\nf()", tags=["ddp-skip", "parameters"])
    assert (cell.mark, cell.mode) == ("train", "dp")
    assert cell.marks == ("train", "setup", "skip", "parameters")
    assert cell_from_source("#| ddp: setup\nf()", tags=["ddp-skip"]).mark == "setup"


def test_saying_the_same_twice_is_no_contradiction() -> None:
    assert cell_from_source("%%ddp_train\n#| ddp: train\nf()", tags=["ddp-train"]).marks == ("train",)


def test_a_misspelt_mark_is_told_and_has_no_effect() -> None:
    cell = cell_from_source("#| ddp: tarin\nf()", tags=["ddp-trian", "ddp-train", "hide"])
    assert unknown_marks(cell) == ("ddp-trian", "#| ddp: tarin")
    assert cell.mark == "train"
    assert unknown_marks(cell_from_source("f()", tags=["ddp-train"])) == ()


def test_markdown_has_no_role() -> None:
    cell = cell_from_source("#| ddp: train", kind="markdown", tags=["ddp-train"])
    assert (cell.mark, cell.directive, cell.code) == (None, None, "")


@pytest.mark.parametrize(
    ("tags", "words"),
    [
        (["a", "b"], ("a", "b")),
        ("a, b c", ("a", "b", "c")),
        ("", ()),
        (None, ()),
        ([1, "a", None, ""], ("a",)),
        ({"a": 1}, ()),
    ],
)
def test_tag_words(tags: object, words: tuple[str, ...]) -> None:
    assert tag_words(tags) == words
