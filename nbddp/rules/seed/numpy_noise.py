"""Noise that NumPy draws for the samples of a rank: of its own, where nothing else is drawn by NumPy."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.library import Stream, effect_of
from nbddp.analysis.splitting import draws_by_share
from nbddp.analysis.syntax import qualified, walk
from nbddp.analysis.values import CallFact
from nbddp.diagnostics import Diagnostic
from nbddp.sentence import sentence

FROM_NUMPY = "draws with numpy"  # what the line that begins with own numbers is for


def noise_of_numpy(plan: Plan) -> list[CallFact]:
    """`np.random.normal(0, 1, (x.shape[0], 100))` in a step of the training."""
    training = {f.node for f in plan.roles.batch_loops}
    if plan.assumed.splits:
        return []
    found = [f for f in plan.facts.calls.values() if f.loops & training and draws_by_share(plan, f)]
    return [f for f in found if any(effect_of(n).draws is Stream.NUMPY for n in f.names)]


def shared_with_numpy(plan: Plan) -> bool:
    """May an order, a choice or a decision come from NumPy too while it trains? Those are the same on all ranks."""
    noise = {n for f in noise_of_numpy(plan) for n in walk(f.node.func)}
    training = {n for s in plan.training for n in walk(s.node)}
    inner = (n for n in plan.nodes() if n in training or plan.program.function_of(n) is not None)
    return any(_draws(plan, n) for n in inner if n not in noise)


def _draws(plan: Plan, node: ast.AST) -> bool:
    name = qualified(node, plan.flow.imports) if isinstance(node, ast.Name | ast.Attribute) else None
    return name is not None and name != "numpy.random" and effect_of(name).draws is Stream.NUMPY


def same_noise(plan: Plan) -> Iterator[Diagnostic]:
    for fact in noise_of_numpy(plan) if shared_with_numpy(plan) else ():
        yield plan.program.diagnose(
            "seed", "note", fact.node,
            sentence("all ranks draw the same numbers here, each for its own samples"),
            why=sentence("NumPy draws something else in the training as well, which has to be the same on all ranks"),
            help=sentence("draw this with torch, or from a generator of its own that is seeded by the rank"),
        )  # fmt: skip
