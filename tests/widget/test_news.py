"""Whatever the page had, the whole plus the news is the next whole."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nbddp.widget.news import EMPTY, news, next_log, next_whole

LINE = st.sampled_from(["a", "b", "c", ""])
LOG = st.lists(LINE, max_size=8)
POINTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)).map(list), min_size=1, max_size=6)


def merged(whole: Any, piece: Any) -> dict[str, Any]:
    """What the page does, in its own words in static/run.js."""
    series = dict(whole["series"])
    for key, one in piece["series"].items():
        before = series[key]["points"][: one["from"]] if one["from"] else []
        series[key] = {**{k: v for k, v in one.items() if k != "from"}, "points": before + one["points"]}
    for key in piece.get("gone", ()):
        del series[key]
    logs = dict(whole["logs"])
    for rank, one in piece["logs"].items():
        old = logs.get(rank, {"first": one["first"], "lines": []})
        kept = old["lines"][one["first"] - old["first"] : one["from"] - old["first"]]
        logs[rank] = {"first": one["first"], "lines": kept + one["lines"]}
    return {"n": piece["n"], "series": series, "logs": logs}


def curve(points: list[Any]) -> dict[str, Any]:
    return {"name": "loss", "points": points}


@given(st.lists(st.tuples(POINTS, LOG), min_size=1, max_size=6))
def test_whole_and_news_make_the_next_whole(history):
    whole: Any = EMPTY
    for points, lines in history:
        after = next_whole(whole, {"step:loss": curve(points)}, {0: lines})
        assert merged(whole, news(whole, after)) == after
        assert after["logs"]["0"]["lines"] == lines
        whole = after


@given(LOG, LOG, st.integers(1, 8))
def test_a_growing_log_keeps_its_numbers(before, more, most):
    everything = [f"{place}{text}" for place, text in enumerate(before + more)]
    old = next_log(None, everything[: len(before)][-most:])
    new = next_log(old, everything[-most:])
    assert new["lines"] == everything[-most:]
    if len(more) < most and before:
        assert new["first"] - old["first"] == max(0, len(everything) - most) - max(0, len(before) - most)


def test_news_are_small():
    points = [[float(x), 1.0 / x] for x in range(1, 400)]
    lines = [f"line {number}" for number in range(500)]
    before = next_whole(EMPTY, {"step:loss": curve(points)}, {0: lines})
    after = next_whole(before, {"step:loss": curve([*points, [400.0, 0.1]])}, {0: [*lines[1:], "line 500"]})
    piece = news(before, after)
    assert piece["series"]["step:loss"]["points"] == [points[-1], [400.0, 0.1]]
    assert piece["logs"] == {"0": {"first": 1, "from": 499, "lines": ["line 499", "line 500"]}}
    assert len(json.dumps(piece)) < 300


def test_what_did_not_change_is_not_sent():
    before = next_whole(EMPTY, {"step:loss": curve([[1.0, 2.0]])}, {0: ["a"]})
    assert news(before, next_whole(before, before["series"], None)) == {"n": 2, "series": {}, "logs": {}}
