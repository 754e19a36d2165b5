"""Random numbers: whether any were drawn, and seeds for the generators that a notebook leaves to chance."""

from __future__ import annotations

import hashlib
import random
import sys
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from nbddp.verify.inside.record import Recorder

FIXED = 20240229


def state() -> tuple[Any, ...]:
    """Where the generators that everybody shares have come to."""
    cuda: Any = torch.cuda
    numpy: Any = sys.modules["numpy"].random.get_state() if "numpy" in sys.modules else (0, b"", 0, 0, 0.0)
    return (
        bytes(torch.get_rng_state().tolist()),
        hashlib.sha256(repr(random.getstate()).encode()).digest(),
        (bytes(numpy[1]), *numpy[2:]),
        torch.cuda.get_rng_state().tolist() if cuda.is_initialized() else [],
    )


def watch(recorder: Recorder) -> None:
    """Whether the training draws between the fetching of a batch and its backward pass."""
    from torch.utils.data._utils import fetch as fetching

    kind: Any = fetching._MapDatasetFetcher  # noqa: SLF001 -- the last place before the training has its batch
    original, at, evaluating = kind.fetch, [state()], [False]

    def fetch(self: Any, index: Any) -> Any:
        if not torch.is_grad_enabled() and evaluating[0] and state() != at[0]:
            recorder.seen.add("evaluation")
        data = original(self, index)
        evaluating[0] = not torch.is_grad_enabled()
        if "draws" not in recorder.seen or evaluating[0]:
            at[0] = state()
        return data

    def sees_draws() -> None:
        if "draws" not in recorder.seen and state() != at[0]:
            recorder.seen.add("draws")

    kind.fetch = fetch
    recorder.sees_draws = sees_draws  # type: ignore[method-assign]


def same_coins(number: int) -> None:
    """Python's and NumPy's numbers are drawn alike by all processes from here on."""
    random.seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number)


def fix() -> None:
    """Generators that take their seed from the clock or the system take one that is always the same."""
    torch.seed = _fixed_torch
    seed = random.seed
    random.Random = Fixed  # type: ignore[misc]
    random.seed = lambda a=None, version=2: seed(FIXED if a is None else a, version)
    if "numpy" in sys.modules:
        _fix_numpy(sys.modules["numpy"].random)


def _fixed_torch() -> int:
    torch.manual_seed(FIXED)
    return FIXED


class Fixed(random.Random):
    """`random.Random()` with a seed of its own."""

    def __init__(self, x: Any = None) -> None:
        super().__init__(FIXED if x is None else x)

    def seed(self, a: Any = None, version: int = 2) -> None:
        super().seed(FIXED if a is None else a, version)


def _fix_numpy(module: Any) -> None:
    made, seed, old = module.default_rng, module.seed, module.RandomState
    module.default_rng = lambda given=None: made(FIXED if given is None else given)
    module.seed = lambda given=None: seed(FIXED if given is None else given)
    module.RandomState = lambda given=None: old(FIXED if given is None else given)
