"""Which random numbers the notebook draws without having seeded them itself: the script has to.

Where it seeds all, all processes build the same, and a seed of the script's own would change nothing. What is not known
to draw nothing counts as drawing: a seed too many does no harm.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.library import Stream, effect_of
from nbddp.analysis.reading import TORCH, Definition, Source, draws, seeds
from nbddp.analysis.slicing import runs_when_imported
from nbddp.analysis.syntax import imported_names, qualified, walk
from nbddp.notebook import parse
from nbddp.script.layout import Layout

EACH = (Stream.TORCH, Stream.NUMPY, Stream.PYTHON)


def unseeded(plan: Plan, layout: Layout) -> frozenset[str]:
    """What is drawn from before it is seeded, in the order in which the script builds."""
    definitions = {s.node.name: s.node for s in plan.kept if isinstance(s.node, Definition)}
    seeded, found = {*_by_modules(plan, layout)}, set[Source]()
    for statement in layout.body:
        if isinstance(statement.node, Definition):
            continue
        seeded |= seeds(plan, statement.node, definitions)
        found |= draws(plan, statement.node, definitions) - seeded
    called_by_loaders = {g for node in definitions.values() for g in draws(plan, node, {})} - {TORCH}
    drawn = found | ({TORCH} | called_by_loaders) - seeded
    return frozenset(stream.value for stream in drawn if isinstance(stream, Stream))  # others are the notebook's own


def _by_modules(plan: Plan, layout: Layout) -> Iterator[Source]:
    """What a file seeds that is imported for what it does."""
    for file in (f for s in layout.imports for f in runs_when_imported(plan.program, s.node)):
        tree = parse(file.read_text(encoding="utf-8", errors="replace"))
        imports = imported_names(tree.body)
        for call in (n for n in walk(tree) if isinstance(n, ast.Call)):
            stream = effect_of(qualified(call.func, imports) or "").seeds
            if stream is not None:
                yield from EACH if stream is Stream.ANY else {stream}
