"""What a rank draws for its own samples, and from which stream: what all ranks draw alike is another thing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.library import Stream, effect_of
from nbddp.analysis.reading import Reading, may_drop
from nbddp.analysis.values import WHOLE, CallFact, Value, spread
from nbddp.sentence import NOTHING, Sentence, sentence


def draws_for_all(plan: Reading, fact: CallFact) -> bool:
    """As many numbers on each rank, and so the same: `torch.randint(0, 100, (32,))`."""
    return bool(fact.names) and all(map(_draws, fact.names)) and not _of_share(plan, fact)


def draws_by_share(plan: Reading, fact: CallFact) -> bool:
    """Noise for the rank's samples: of another number of them each rank would draw another number."""
    return (any(map(_draws, fact.names)) or _asks_a_thing(plan, fact)) and _of_share(plan, fact)


def draws_for_part(plan: Reading, fact: CallFact) -> bool:
    """The same, of what is split: not by the shape of all of the data."""
    return draws_by_share(plan, fact) and any(v.varies or v.size for v in _given(plan, fact))


def draws_in_step(plan: Reading, fact: CallFact) -> bool:
    """The same, where it trains: not what data was made of before, `rng.normal(size=X.shape)`."""
    training = {loop for loop, found in plan.facts.loops.items() if found.backward}
    return (bool(fact.loops & training) or not training) and draws_by_share(plan, fact)


def drawn_elsewhere(plan: Reading) -> Sentence:
    """Noise for the rank's samples that torch's own stream does not give: it is drawn for them alone."""
    found = any(_is_elsewhere(plan, f) for f in plan.facts.calls.values() if draws_in_step(plan, f))
    return sentence("noise for the samples of a batch is not drawn by torch") if found else NOTHING


def given_whole(plan: Reading) -> Sentence:
    """Beside the batch that is split, another one: of what dropout draws for it, the size may be that of a part."""
    facts = (plan.facts.calls[c] for m in plan.roles.models for c in m.forward_calls)
    calls = [f.node for f in facts if f.grad and f.awake and f.node.args]  # asleep, it draws nothing
    whole = (c for c in calls if may_drop(plan) and _is_whole(plan, c))
    found = min(whole, key=plan.program.span, default=None)
    return NOTHING if found is None else sentence("'%1' is given a whole batch beside one that is split",
                                                  plan.program.source(found))  # fmt: skip


def _is_whole(plan: Reading, call: ast.Call) -> bool:
    values = [plan.facts.value(a) for a in call.args]
    return all(spread(v) in WHOLE for v in values) and not all(v.number for v in values)


def from_its_own(plan: Reading, fact: CallFact) -> bool:
    """`rng.normal(size=x.shape)`, `torch.randn(len(x), generator=g)`."""
    func = fact.node.func
    torch = isinstance(func, ast.Attribute) and effect_of(f".{func.attr}").draws is Stream.TORCH
    given = any(k.arg == "generator" for k in fact.node.keywords) and any(map(_draws, fact.names))
    return given or (not torch and _asks_a_thing(plan, fact))


def _is_elsewhere(plan: Reading, fact: CallFact) -> bool:
    streams = {effect_of(n).draws for n in fact.names}
    return bool(streams & {Stream.NUMPY, Stream.PYTHON}) or from_its_own(plan, fact)


def _draws(name: str) -> bool:
    """Numbers, from a stream that everything draws from."""
    op = effect_of(name)
    return (op.makes == "tensor" and bool(op.draws)) or op.draws is Stream.PYTHON


def _asks_a_thing(plan: Reading, fact: CallFact) -> bool:
    """`Normal(mean, 1).rsample()`, `rng.normal(size=x.shape)`."""
    func = fact.node.func
    draws = effect_of(f".{func.attr}").draws if isinstance(func, ast.Attribute) else None
    return draws is not None and not fact.names and not fact.bodies


def _of_share(plan: Reading, fact: CallFact) -> bool:
    return any(v.varies or v.size or v.of("shape") for v in _given(plan, fact))


def _given(plan: Reading, fact: CallFact) -> Iterator[Value]:
    func = fact.node.func
    receiver = [plan.facts.value(func.value)] if isinstance(func, ast.Attribute) else []
    return (inner for v in (*fact.args.values(), *receiver) for inner in (v, *plan.facts.contents(v)))
