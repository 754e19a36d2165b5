"""Seeds for the generators that a notebook leaves to chance, and the same coins for all processes."""

from __future__ import annotations

import random
import sys
from typing import Any

import torch

FIXED = 20240229


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
