"""Numbers in words where a view needs other ones than `nbddp.run.state.words` has: on an axis, in a sentence."""

from __future__ import annotations


def number(value: float) -> str:
    """Four significant digits, and whole numbers in full: `0.3127`, `12.5`, `15,000`, `3.1e-05`."""
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    return f"{value:.4g}"


def count(amount: int, thing: str) -> str:
    """`1 rank`, `2 ranks`."""
    return f"{amount:,} {thing}" if amount == 1 else f"{amount:,} {thing}s"
