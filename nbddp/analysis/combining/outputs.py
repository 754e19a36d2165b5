"""Calls by which values leave the program."""

from __future__ import annotations

from nbddp.analysis.library import LOGS, SHOWS, SILENCED, under
from nbddp.analysis.values import CallFact

KEEPERS = ("writer", "tracker", "file", "logger")  # what is called on them is written down


def lets_out(call: CallFact) -> bool:
    """Does it show or log what it is given, and keep nothing of it?"""
    shows = call.names & (SHOWS | LOGS) or any(under(n, SILENCED) for n in call.names)
    return bool(shows) or any(o.kind in KEEPERS for o in call.receivers)
