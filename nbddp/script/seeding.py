"""Which random numbers the notebook draws without having seeded them itself: the script has to.

Where it seeds all, all processes build the same, and a seed of the script's own would change nothing. What is not known
to draw nothing counts as drawing: a seed too many does no harm.
"""

from __future__ import annotations

from nbddp.analysis import Plan
from nbddp.analysis.library import Stream
from nbddp.analysis.reading import TORCH, Definition, Source, draws, seeds
from nbddp.script.layout import Layout


def unseeded(plan: Plan, layout: Layout) -> frozenset[str]:
    """What is drawn from before it is seeded, in the order in which the script builds."""
    definitions = {s.node.name: s.node for s in plan.kept if isinstance(s.node, Definition)}
    seeded, found = set[Source](), set[Source]()
    for statement in layout.body:
        if isinstance(statement.node, Definition):
            continue
        seeded |= seeds(plan, statement.node, definitions)
        found |= draws(plan, statement.node, definitions) - seeded
    called_by_loaders = {g for node in definitions.values() for g in draws(plan, node, {})} - {TORCH}
    drawn = found | ({TORCH} | called_by_loaders) - seeded
    return frozenset(stream.value for stream in drawn if isinstance(stream, Stream))  # others are the notebook's own
