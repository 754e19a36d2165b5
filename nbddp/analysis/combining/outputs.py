"""Calls by which values leave the program."""

from __future__ import annotations

from nbddp.analysis.library import effect_of
from nbddp.analysis.values import CallFact

KEEPERS = ("writer", "tracker", "file", "logger", "drawing")  # what is called on them is written down


def lets_out(call: CallFact) -> bool:
    """Does it show or log what it is given, and keep nothing of it?"""
    return any(effect_of(n).out for n in call.names) or any(o.kind in KEEPERS for o in call.receivers)
