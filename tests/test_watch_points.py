"""What of a training is watched, and where: a point at another place watches nothing."""

from __future__ import annotations

import json

import pytest

from nbddp.watch_points import Watch, WatchPoint, at_statements, from_json, placed, to_json

STEP = Watch("step", values=(("loss", "loss"),))


def test_places_are_counted_as_syntax_trees_do():
    lines = ["a = 1", "    é = 'é'; b = 2"]
    assert placed(lines, [(1, 13, STEP)]) == (WatchPoint(2, 15, "é = 'é'; b = 2", STEP),)
    assert placed(lines, []) == ()


def test_points_where_no_statement_begins_are_left_out():
    text = "if a:\n    é = 'é'; b = 2\n"
    points = [WatchPoint(2, column, "", STEP) for column in (4, 5, 15)]
    assert [point.column for point in at_statements(text, points)] == [4, 15]


def test_as_json_and_back():
    point = WatchPoint(2, 4, "x", Watch("turns", state=(("model", "net"),), carried=("best",), names=("a",), first=1))
    assert from_json(to_json([point])) == (point,)
    assert from_json(to_json([])) == ()


@pytest.mark.parametrize("content", [[], {}, {"format": 0, "points": []}])
def test_of_another_version_there_are_none(content):
    assert from_json(json.dumps(content)) == ()
