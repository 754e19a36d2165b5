"""What goes wrong around a run, each a sentence that says what to do."""

from __future__ import annotations


class LaunchFailed(Exception):
    """The run did not start; nothing of it is left running."""


class NotWarm(Exception):
    """Why there is no warm start: a whole sentence. The run starts cold instead."""


class NoResult(Exception):
    """There is nothing to load back, or not in a form that this version reads."""


class NoSuchRun(Exception):
    """The run that is meant is not there."""


class CannotVerify(Exception):
    """There is nothing that a training on several processes could be compared with."""
