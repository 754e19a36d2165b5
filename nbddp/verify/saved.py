"""An expected curve in a file, for a test of the user's own: written once, compared with later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbddp.run.folder.errors import CannotVerify
from nbddp.verify.trace import Step, Trace

FORMAT = 1


def save(path: Path, trace: Trace, facts: Mapping[str, object]) -> None:
    """The steps of one process, and how they were made."""
    steps = [
        {
            "step": step.number,
            "optimizer": step.optimizer,
            "kind": step.kind,
            "loss": step.loss,
            "lr": list(step.lr),
            "gradient": step.gradient,
            "weights": {name: list(values) for name, values in step.weights.items()},
        }
        for step in trace.steps
    ]
    kept = {"format": FORMAT, **facts, "steps": steps, "lines": list(trace.lines)}
    try:
        path.write_text(json.dumps(kept) + "\n", encoding="utf-8")
    except OSError as error:
        raise CannotVerify(f"The expected curve could not be written to {path}: {error.strerror or error}.") from error


def load(path: Path, facts: Mapping[str, object]) -> Trace:
    """The expected curve, where it was made in the same way."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["format"] != FORMAT:
            raise CannotVerify(f"{path} was written by another version of nbddp: save it again with --save.")
        steps = tuple(_step(fields) for fields in kept["steps"])
    except OSError as error:
        raise CannotVerify(f"{path} could not be read: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CannotVerify(f"{path} holds no curve that `nbddp verify --save` has written.") from None
    for name, value in facts.items():
        if kept.get(name) != value:
            raise CannotVerify(f"{path} was saved with {name} {kept.get(name)}, but this call has {value}.")
    return Trace(steps, (len(steps),), ())


def _step(fields: Mapping[str, Any]) -> Step:
    return Step(
        int(fields["step"]),
        int(fields["optimizer"]),
        str(fields["kind"]),
        float(fields["loss"]),
        tuple(float(rate) for rate in fields["lr"]),
        float(fields["gradient"]),
        {str(name): tuple(map(float, values)) for name, values in fields["weights"].items()},
        (),
        (),
    )
