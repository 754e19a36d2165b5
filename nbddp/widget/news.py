"""What of a view has changed since it was last sent, so that a long log and long curves travel once.

A `whole` is {"n": count, "series": {...}, "logs": {...}}. The page adds each piece of news to the whole that it has;
the count tells it whether one is missing, and the next whole makes good for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Whole = Mapping[str, Any]
EMPTY: Whole = {"n": 0, "series": {}, "logs": {}}


def next_whole(
    before: Whole, series: Mapping[str, Mapping[str, Any]], logs: Mapping[int, Sequence[str]] | None
) -> dict[str, Any]:
    """The whole after this; logs that were not read this time (None) stay."""
    read = {str(rank): next_log(before["logs"].get(str(rank)), lines) for rank, lines in (logs or {}).items()}
    return {"n": before["n"] + 1, "series": dict(series), "logs": {**before["logs"], **read}}


def next_log(before: Mapping[str, Any] | None, lines: Sequence[str]) -> dict[str, Any]:
    """The tail of a log with the number of its first line, counted on from the tail before by what the two share.

    The last line of the tail before may have been half written, or a progress bar, so it need not be found again.
    """
    if before is None:
        return {"first": 0, "lines": list(lines)}
    old: list[str] = before["lines"]
    new = list(lines)
    for gone in range(len(old)):
        shared = old[gone:-1]
        if new[: len(shared)] == shared:
            return {"first": before["first"] + gone, "lines": new}
    return {"first": before["first"] + len(old), "lines": new}


def news(before: Whole, after: Whole) -> dict[str, Any]:
    """What turns the whole before into the whole after."""
    series = {key: _more(before["series"].get(key), value) for key, value in after["series"].items()}
    gone = [key for key in before["series"] if key not in after["series"]]
    logs = {rank: _lines(before["logs"].get(rank), value) for rank, value in after["logs"].items()}
    return {
        "n": after["n"],
        "series": {key: value for key, value in series.items() if value},
        **({"gone": gone} if gone else {}),
        "logs": {rank: value for rank, value in logs.items() if value},
    }


def _more(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> dict[str, Any] | None:
    """A curve's new points; its latest one of before may have been replaced."""
    old, new = before["points"] if before else [], after["points"]
    if before == after:
        return None
    kept = max(0, len(old) - 1)
    if new[:kept] != old[:kept]:
        kept = 0
    return {**after, "from": kept, "points": new[kept:]}


def _lines(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> dict[str, Any] | None:
    if before == after:
        return None
    old: list[str] = before["lines"] if before else []
    first: int = after["first"]
    kept = max(first, before["first"] + len(old) - 1) if before and old else first
    return {"first": first, "from": kept, "lines": after["lines"][kept - first :]}
