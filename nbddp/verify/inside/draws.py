"""Whether random numbers are drawn, and where: for samples, in the training, in the evaluation between two passes."""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Callable
from typing import Any

import torch


def state() -> tuple[Any, ...]:
    """Where the generators that everybody shares have come to."""
    cuda: Any = torch.cuda
    numpy: Any = sys.modules["numpy"].random.get_state() if "numpy" in sys.modules else (0, b"", 0, 0, 0.0)
    return (
        bytes(torch.get_rng_state().tolist()),
        hashlib.sha256(repr(random.getstate()).encode()).digest(),
        (bytes(numpy[1]), *numpy[2:]),
        cuda.get_rng_state().tolist() if cuda.is_initialized() else [],
    )


class Draws:
    """Compares states at the moments between which nothing else draws."""

    def __init__(self, sees: Callable[[str], None]) -> None:
        self.sees = sees
        self.at: tuple[Any, ...] | None = None
        self.evaluating = False

    def mark(self) -> None:
        """From here on: a step is over, or a loader has drawn the seed that it gives to its workers."""
        self.at, self.evaluating = state(), False

    def fetching(self) -> None:
        """A batch will be fetched; since the last one of an evaluation only that can have drawn."""
        if self.evaluating and not torch.is_grad_enabled() and state() != self.at:
            self.sees("evaluation")
        self.at = state()

    def fetched(self) -> None:
        """Samples that draw are augmented."""
        if state() != self.at:
            self.sees("augmentation")
        self.at, self.evaluating = state(), not torch.is_grad_enabled()

    def begins(self) -> None:
        """A loader will be gone through; since the last step, or the last batch, it was not the training that drew."""
        if self.at is not None and state() != self.at:
            self.sees("evaluation")

    def before_backward(self) -> None:
        """A loss is there; since its batch was fetched the training has drawn."""
        if self.at is not None and state() != self.at:
            self.sees("draws")
