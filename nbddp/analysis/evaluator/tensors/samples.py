"""What sets the samples of a batch against each other, or takes some of them: a rank sees only those of its share."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.evaluator.iteration import written_elements
from nbddp.analysis.evaluator.tensors.dimensions import (
    DIMENSION,
    along_of,
    at_times,
    counting,
    each_for_itself,
    over_samples,
    samples_at,
)
from nbddp.analysis.evaluator.tensors.joining import pieces
from nbddp.analysis.evaluator.tensors.layout import SWAPS, along_another, like, placed_by, turned_by
from nbddp.analysis.library import MATRIX, Samples, Shape, effect_of
from nbddp.analysis.values import (
    ANYTHING,
    FLAT,
    LINE,
    MARKS,
    MOVED,
    OPERATORS,
    PICKED,
    PLACED,
    POSITIONS,
    SHUFFLED,
    SORTED,
    STATES,
    STATISTIC,
    TURNED,
    WEIGHTED,
    WHOLE,
    Args,
    Extent,
    Keywords,
    Machine,
    Value,
    averaged,
    elementwise,
    goes_along_sequences,
    marked,
    note_statistic_given,
    of_gradient,
    spread,
    summed,
)

TOTALS = {Samples.SUM: summed, Samples.MEAN: averaged}


def of_samples(
    m: Machine, base: Value, word: str, args: Args, keywords: Keywords, done: Samples | None
) -> Value | None:
    """`x.std(0)`, `torch.topk(losses, 8)`, `mask.sum()`, by what is done to samples; None where that is nothing."""
    extent, given = spread(base), [base, *args, *keywords.values()]
    if _is_limited(word, args, keywords):
        done, args, keywords = Samples.SUM, [], {}
    if m.alone(*given):
        return _of_one(given, done)
    if (done is Samples.STATISTIC and base.varies) or (done is Samples.ORDERS and extent is Extent.SAMPLES):
        of_all = _of_all(m, word, base, args, keywords)
        return marked(of_all, PICKED) if word in ("topk", "kthvalue") and of_all.of(STATISTIC) else of_all
    if done is Samples.COUNT:
        apart = extent is Extent.VARYING and not base.objs - base.of(*MARKS)  # `x.unique().numel()`
        return (
            m.size(base) if extent is Extent.SAMPLES else Value(extent=extent if apart else Extent.UNIFORM, number=True)
        )
    if extent is not Extent.SAMPLES:
        return _of_no_samples(m, base, word, args, keywords, done)
    if base.of(TURNED, FLAT) and (found := placed_by(word, base, args)) is not None:
        return found
    if done in (Samples.ALONG, Samples.MOVES, Samples.WEIGHS):
        return _set_against_others(m, base, word, args, keywords, done)
    along = along_of(word, args, keywords)
    if done in TOTALS:
        return _total(m, base, done, along, keywords)
    if effect_of(f".{word}").distances and (base.rank or 0) > MATRIX:
        return None  # of each sample its rows with those of the other
    if done is Samples.MIXES or (done is Samples.PAIRS and any(spread(a) is Extent.SAMPLES for a in args[:1])):
        mixed = Value(extent=Extent.VARYING)
        return marked(mixed, STATISTIC) if m.context.forward and not _counts(word) else mixed
    return _some(m, base, word, args, along, done) or turned_by(m, word, base, args)


def _counts(word: str) -> bool:
    """`torch.bincount(graphs)`: also of what a sample has of its own."""
    return effect_of(f".{word}").within is not None or word in ("unique", "histc", "histogram")


def _total(m: Machine, base: Value, done: Samples, along: Value, keywords: Keywords) -> Value:
    if at_times(m, base, along):
        return marked(Value(extent=Extent.VARYING), STATISTIC)
    apart = m.is_behind([base]) or (base.of(PICKED) and not m.in_step())  # in no step, where it is told
    if done is Samples.MEAN and apart and over_samples(base, along):
        return Value(extent=Extent.VARYING)
    return Value(extent=TOTALS[done](base)) if over_samples(base, along) else along_another(base, along, keywords)


def _is_limited(word: str, args: Args, keywords: Keywords) -> bool:
    """`torch.bincount(classes, minlength=10)`: counted alike on all ranks, whatever their samples are."""
    within, whole = effect_of(f".{word}").within, all(spread(v) in WHOLE for v in (*args, *keywords.values()))
    return within is not None and whole and (within[0] in keywords or len(args) > within[1])


def _of_one(given: Args, done: Samples | None) -> Value | None:
    """Of one sample: whatever is done along its dimensions, it is of that one."""
    if done is Samples.COUNT:
        return Value(number=True)
    return None if done in (None, Samples.EACH, Samples.JOINS) else like(Value(extent=elementwise(given)), given)


def _of_no_samples(
    m: Machine, base: Value, word: str, args: Args, keywords: Keywords, done: Samples | None
) -> Value | None:
    """`torch.zeros(3).scatter_add(0, classes, x)` is given some; a sum of sums is one."""
    given = done is Samples.ALONG and any(spread(a) is Extent.SAMPLES for a in args)
    if given and spread(base) in WHOLE and not m.context.forward:
        return None if each_for_itself(m, word, base, args, keywords) else Value(extent=Extent.VARYING)
    keeps = done in TOTALS or effect_of(f".{word}").linear
    kept = Value(base.objs - base.of("shape"), spread(base), base.items, base.const) if keeps else None
    return Value(extent=elementwise([base])) if word == "count_nonzero" else kept


def _set_against_others(
    m: Machine, base: Value, word: str, args: Args, keywords: Keywords, done: Samples | None
) -> Value | None:
    """`x.cumsum(0)`, `x.flip(0)`, `x.softmax(0)`; in a model the first dimension may be that of time."""
    if word == "index_select" and m.context.forward and over_samples(base, along_of(word, args, keywords)):
        return like(Value(extent=Extent.SAMPLES), [base])  # as `x[order]`
    if m.context.forward and not (done is Samples.WEIGHS and along_of(word, args, keywords).const == 0):
        return None
    found = Value(extent=Extent.SAMPLES)
    if each_for_itself(m, word, base, args, keywords):
        return like(found, [base])
    if done is Samples.MOVES:
        return marked(found, MOVED, SHUFFLED)
    return marked(found, WEIGHTED) if done is Samples.WEIGHS else marked(Value(extent=Extent.VARYING), STATISTIC)


def note_mixed(m: Machine, node: ast.Call, base: Value, word: str, args: Args, keywords: Keywords) -> None:
    """`x.sort(0)`, `x.flip(0)` in a forward that trains, where nothing has time in its first dimension."""
    done = effect_of(f".{word}").samples
    fact = m.facts.calls.get(node) if base.of(MOVED) else None
    packs = fact is not None and any(effect_of(name).packs for name in fact.names)
    if done in (None, Samples.EACH) and word not in OPERATORS and not packs:
        note_statistic_given(m, node, base, [*args, *keywords.values()])
    elif done is Samples.JOINS:
        note_statistic_given(m, node, base, written_elements(m, base) or ())
    far = (m.assumed.splits or m.assumed.joined) and _puts_far(base, word, args)
    if m.context.grad and (far or _mixes_layers(base, word, args)):
        m.facts.against_statistic.add(node)
    if done not in (Samples.ALONG, Samples.MOVES, Samples.ORDERS, Samples.WEIGHS) or spread(base) is not Extent.SAMPLES:
        return
    along, trains = along_of(word, args, keywords), m.context.forward and m.context.grad
    asked = along is not ANYTHING and over_samples(base, along) and not base.of(FLAT)
    if trains and asked and (base.rank is not None or not goes_along_sequences(m)):
        m.facts.against_statistic.add(node)


def _puts_far(base: Value, word: str, args: Args) -> bool:
    """`x.permute(1, 2, 0)`, `turned.transpose(1, 2)`: where the samples then are is not followed."""
    order = [part.const for a in args for part in a.items or (a,)]
    at, sizes = samples_at(base), base.shape if isinstance(base.shape, tuple) else ()
    known = [place for place, size in enumerate(sizes) if size is None] == [at]
    if spread(base) is not Extent.SAMPLES or base.of(FLAT, LINE) or not known or at not in order:
        return False
    other = order[1 - order.index(at)] if len(order) == len(("0", "1")) else None
    to = order.index(at) if word == "permute" else other if word in SWAPS else None
    return isinstance(to, int) and to > 1


def _mixes_layers(base: Value, word: str, args: Args) -> bool:
    """`hidden.view(len(x), -1)`, of two layers: the first row is of the first samples, and not of the first one."""
    sizes = args[0].items if args and args[0].items else args
    states = base.shape if isinstance(base.shape, tuple) and any(o.name == STATES for o in base.of(TURNED)) else ()
    of_layers = len(states) > 1 and states[0] not in (None, 1)
    if word not in ("view", "reshape") or not (of_layers and sizes):
        return False
    first, last = sizes[0], sizes[-1]
    return first.varies or first.size or (first.const == -1 and last.const not in (None, states[-1]))


def _some(m: Machine, base: Value, word: str, args: Args, along: Value, done: Samples | None) -> Value | None:
    """`x.nonzero()`, `x.select(0, 0)`, `x.chunk(2)`."""
    if word in ("sign", "normalize"):  # of a gradient it is the same, of however many samples the loss is a mean
        return replace(base, objs=base.objs - of_gradient(base))
    if done is Samples.PICKS or (word == "where" and along is ANYTHING):
        some = marked(Value(extent=Extent.SAMPLES), PICKED)
        return some if word == "masked_select" else marked(some, PLACED, POSITIONS)
    if word == "select" and along.const in counting(base):
        return marked(like(Value(extent=Extent.SAMPLES), [base]), PLACED)
    apart = effect_of(f".{word}").shape is Shape.APART and args and not isinstance(args[0].const, str)
    apart = not over_samples(base, along) if word == "unbind" else apart
    found = pieces(m, base, along) if apart else None
    return marked(found, PLACED) if found and word == "narrow" and found.of(PLACED) else found


def _of_all(m: Machine, attr: str, base: Value, args: Args, keywords: Keywords) -> Value:
    """Of a batch, or in a loop over its samples of one of them."""
    extent = spread(base)
    of_one = m.context.varying and (args or any(k in keywords for k in DIMENSION))
    if extent is Extent.SAMPLES and (of_one or each_for_itself(m, attr, base, args, keywords)):
        found = Value(extent=elementwise([base, *args, *keywords.values()]))
        keeps = of_one or effect_of(f".{attr}").samples is Samples.ORDERS or found.extent is not Extent.SAMPLES
        return like(found, [base]) if keeps else along_another(base, along_of(attr, args, keywords), keywords)
    varying = Value(extent=Extent.VARYING)
    varying = marked(varying, PLACED) if attr in ("argmax", "argmin") else varying  # `x[losses.argmax()]`
    if extent is not Extent.SAMPLES or m.context.varying:
        return varying
    return marked(varying, STATISTIC, SORTED if attr == "sort" else "")
