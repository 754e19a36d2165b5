"""Does one process do the same twice? Where it does not, which source of chance, taken away, makes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbddp.verify.compare import compare
from nbddp.verify.trace import Trace

if TYPE_CHECKING:
    from nbddp.verify.experiments import Side

APART = 1e-6
SOURCES = (
    ("unseeded", "a random generator that takes its seed from the clock or the system: give it a fixed seed"),
    ("kernels", "operations that sum in no fixed order: use torch.use_deterministic_algorithms(True)"),
)


def steady(one: Trace, again: Trace) -> bool:
    """Rounding aside: threads may add up in another order."""
    found = compare(one, again)
    return not found.missing and found.apart <= APART


def source_of_chance(side: Side, many: Trace, one: Trace, again: Trace) -> str:
    """A sentence."""
    found = compare(one, again)
    first = next((row.number for row in found.rows if row.apart > APART), 1)
    sentence = (
        f"The notebook is not reproducible: two runs on one process differ from step {first} on, by up to "
        f"{found.apart:.1e}, so {side.bench.asked.nproc} processes cannot be compared with one."
    )
    for name, what in SOURCES:
        if steady(side.one(many, (name,)), side.one(many, (name,))):
            return f"{sentence} It comes from {what}."
    return f"{sentence} Its source was not found: look for clocks, sets and unseeded generators."
