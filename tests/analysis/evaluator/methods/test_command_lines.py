"""What `parse_args` gives."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import Value
from tests.analysis.cells import BEFORE, batch, node, plan

PARSER = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", "-b", type=int, default=64)
parser.add_argument("-n", "--count", dest="total", default=[1])
parser.add_argument("name", default="x")
group = parser.add_argument_group("more")
group.add_argument("--net", default=model)
parser.set_defaults(seed=3)
"""


def value(source: str, how: str = "args = parser.parse_args([])") -> Value:
    made = plan(*BEFORE, PARSER + how, batch(f"n = {source}"))
    return made.facts.value(node(made, ast.Attribute, source))


@pytest.mark.parametrize(("source", "kinds"), [("args.net", {"model"}), ("args.total", {"list"})])
def test_things_are_known_by_their_defaults(source, kinds):
    assert {o.kind for o in value(source).objs} == kinds


@pytest.mark.parametrize("source", ["args.batch_size", "args.name", "args.seed"])
def test_the_command_line_may_give_another_number(source):
    assert value(source).const is None


def test_a_default_that_is_the_batch_size_is_known_by_its_place():
    assert len(value("args.batch_size").sources) == 1
    assert not value("args.name").sources


def test_parse_known_args_gives_a_pair():
    how = "args, rest = parser.parse_known_args([])"
    assert {o.kind for o in value("args.net", how).objs} == {"model"}


@pytest.mark.parametrize("source", ["args.count", "args.b", "args.nowhere"])
def test_other_spellings_are_no_attributes(source):
    assert value(source) == Value()
