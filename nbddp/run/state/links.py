"""Addresses that experiment trackers of the notebook print: where they show the run."""

from __future__ import annotations

import re

MOST = 8
LONGEST = 2000
ADDRESS = re.compile(r"https?://[^\s<>\"'`]+")
TRACKERS = {
    "wandb": re.compile(r"(?i)\bwandb\b|weights & biases"),
    "mlflow": re.compile(r"(?i)\bmlflow\b|/#/experiments/\d+|[\U0001F3C3\U0001F9EA] View (?:run|experiment)"),
    "comet": re.compile(r"(?i)\bcomet(?:_ml)?\b"),
    "neptune": re.compile(r"(?i)\bneptune\b"),
    "clearml": re.compile(r"(?i)\bclearml\b"),
}


def link_in(line: str) -> tuple[str, str] | None:
    """The tracker, and the address; None where the line names none. Any page of a training's own is no tracker's."""
    if "://" not in line or len(line) > LONGEST:
        return None
    found = ADDRESS.search(line)
    if found is None:
        return None
    name = next((name for name, known in TRACKERS.items() if known.search(line)), None)
    return None if name is None else (name, found[0].rstrip(".,;:)]}"))
