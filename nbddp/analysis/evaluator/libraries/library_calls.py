"""Call a function of a library in the abstract."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import reduce

from nbddp.analysis.evaluator.libraries.builtins import builtin
from nbddp.analysis.evaluator.libraries.things import make_thing
from nbddp.analysis.evaluator.tensors import (
    PRODUCTS,
    TOTALS,
    counted,
    einsum,
    joined,
    like,
    note_mixed,
    of_samples,
    of_size,
    of_unlike,
    operation,
    rearranged,
)
from nbddp.analysis.evaluator.writes import moved_by_hand, write_into
from nbddp.analysis.library import Op, Samples, Stream, effect_of
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import (
    ANYTHING,
    BY_MASK,
    DRAWN,
    EACH,
    LINE,
    MOVED,
    ONE,
    PICKED,
    PLACED,
    PLACES,
    SHUFFLED,
    STATISTIC,
    TURNED,
    WHOLE,
    Args,
    Extent,
    Keywords,
    Machine,
    Obj,
    Value,
    elementwise,
    foreign,
    is_foreign,
    is_uneven,
    join_extent,
    marked,
    note_of_its_batch,
    of_one,
    of_weights,
    placed,
    reduced,
    some_by_place,
    spread,
)


def call_library(m: Machine, node: ast.Call, name: str, args: Args, keywords: Keywords) -> Value | None:
    found = _call_library(m, node, name, args, keywords)
    if found and effect_of(name).numeric and all(v.number for v in (*args, *keywords.values())):
        return replace(found, number=True)
    if found and _draws_one(name, args, keywords):
        return replace(found, number=True)
    if found is not None:
        found = of_uneven(m, found, args)
        by_place = any(m.elements(v).of(PLACED) for v in args if v.of("list"))  # `torch.tensor(weights)`
        found = marked(found, PLACED) if by_place and found.extent is Extent.SAMPLES else found
    if "requires_grad" in keywords and keywords["requires_grad"].const is True and found and not found.objs:
        return replace(found, objs=frozenset({Obj("parameter", node, name, None, m.frame.call)}))
    return found


def _draws_one(name: str, args: Args, keywords: Keywords) -> bool:
    """`np.random.randint(n)`, `random.randrange(n)`: a number, and no array of them."""
    op, word = effect_of(name), name.rpartition(".")[2]
    if op.draws is Stream.PYTHON:
        return not (op.generator or word.startswith(("choice", "sample", "shuffle")))
    counts = op.draws is Stream.NUMPY and op.size is not None and len(args) <= op.size and "size" not in keywords
    given = [*args, *keywords.values()]  # `np.random.normal(loc=centers[k])` is as large as these
    return counts and all(v.number for v in given)


def of_uneven(m: Machine, made: Value, args: Args) -> Value:
    """`sum(1 for _ in range(int(loss)))`: of as many as a rank has; `torch.tensor([3 for _ in x])`: of its samples."""
    whole = made.extent in WHOLE and not made.objs - made.of(EACH)
    numbers = (v for v in args if v.of("list") and v.of(EACH) and m.elements(v).number)
    if whole and not (made.number or made.items) and any(numbers):
        return made.with_extent(Extent.SAMPLES)
    apart = whole and not made.objs and any(is_uneven(m.facts, v) for v in args)
    return made.with_extent(Extent.VARYING) if apart else made


def _call_library(m: Machine, node: ast.Call, name: str, args: Args, keywords: Keywords) -> Value | None:
    given = [*args, *keywords.values()]
    if name.endswith("_") and node.args:  # torch._foreach_lerp_, torch.nn.init.ones_
        moved_by_hand(m, node.args[0], given[1:])
    write_into(m, node, name, args, keywords)
    made = make_thing(m, node, name, args, keywords)
    if made is not None:
        return made
    op = effect_of(name)
    if args and node.args and name.startswith(("torch.", "numpy.")):
        others, keywords = counted(name.rpartition(".")[2], args[0], args[1:], keywords)
        args = [args[0], *others]
    if args and name.startswith("torch.") and op.samples is not Samples.LOSS:  # noted below
        note_mixed(m, node, args[0], name.rpartition(".")[2], args[1:], keywords)
    found = _slopes(m, args, keywords) if op.samples is Samples.SLOPES else _of_samples(m, name, args, keywords, op)
    found = found if found is not None else builtin(m, node, name, args, keywords, op)
    if found is not None:
        return found
    sized = name.endswith(("layer_norm", "rms_norm")) and any(v.of("shape") and v.varies for v in given)
    along = bool(args and args[0].of(LINE)) and effect_of(f".{name.rpartition('.')[2]}").last  # a vector of samples
    whole = name.startswith("torch.nn.functional.") and (along or sized)
    if (op.batch or whole) and spread(args[0] if args else ANYTHING) is Extent.SAMPLES:  # `F.layer_norm(x, x.shape)`
        m.facts.against_statistic.add(node)
    if op.samples is Samples.LOSS:
        note_of_its_batch(m, node, name, args)
        return of_one(Value(extent=Extent.VARYING if m.is_behind(given) else reduced(given, keywords)), given)
    if op.makes == "tensor" and (op.draws or op.noise) and (found := _noise(m, name, args, keywords)) is not None:
        return found
    if (op.packs or op.fills) and args and Extent.SAMPLES in (spread(args[0]), spread(m.elements(args[0]))):
        return _of_sequences(op, args, keywords)
    if op.clock or (m.loops and (op.chance or op.noise)):
        own = any(m.held(v) not in WHOLE for v in given)  # `random.choices(tasks, weights=gains)`
        return Value(extent=Extent.VARYING if own else reduce(join_extent, map(spread, given), Extent.REPEATED))
    if name.startswith("torch.nn.utils.clip_grad"):
        return ANYTHING
    result = _compute(m, node, name, args, keywords, op)
    return foreign(m, node, name) if is_foreign(name) and not result.varies else result


def _of_sequences(op: Op, args: Args, keywords: Keywords) -> Value:
    """Packed: of long sequences more, as by a mask. Filled up again: time first, where nothing else is asked for."""
    each = Value(args[0].of(MOVED), Extent.SAMPLES)
    if op.packs:
        return replace(each, items=(marked(marked(each, PICKED), BY_MASK), ANYTHING, ANYTHING, ANYTHING))
    first = [*args[1:2], *(v for k, v in keywords.items() if k == "batch_first")]
    turned = all(v.const is False for v in first)
    return replace(each, items=(marked(each, TURNED) if turned else each, each))


def _has_the_share(m: Machine, op: Op, args: Args, keywords: Keywords) -> bool:
    """`np.random.normal(0, 1, size=[len(x), 3])`: as many as the rank has samples."""
    first = len(args) if op.size is None else op.size
    asked = [*args[first : None if op.size == 0 else first + 1], *(v for k, v in keywords.items() if k == "size")]
    sizes = [size for v in asked for size in v.items or ([m.elements(v)] if v.of("list") else [v])]
    return any(v.size or v.varies or v.of("shape") for v in sizes)


def _noise(m: Machine, name: str, args: Args, keywords: Keywords) -> Value | None:
    """For each sample; or `torch.randn(1, 8)` without gradients: one thing to look at, another one on each rank."""
    op, given = effect_of(name), [*args, *keywords.values()]
    if any(map(of_weights, given)) and not any(v.varies or v.size for v in given):  # `torch.normal(out, self.spread)`
        return Value(extent=Extent.REPEATED)  # `torch.randn_like(self.mean)`, `torch.randn(self.mean.shape)`
    by_numpy = op.draws is Stream.NUMPY and _has_the_share(m, op, args, keywords)
    if not by_numpy and not (op.noise and (any(a.shares for a in m.loops) or _like_the_share(given))):
        return None
    drawn, sizes = Value(extent=Extent.SAMPLES), (args[0].items or args) if args else ()
    if len(sizes) > 1 and sizes[0].const == 1 and m.context.perhaps_grad is m.context.grad is False:
        return marked(drawn, PLACED)
    if name.endswith(("randperm", "permutation")):
        return marked(drawn, MOVED, SHUFFLED)
    return drawn if any(v.varies or v.size for v in (*args, *sizes)) else marked(drawn, DRAWN)


def _like_the_share(given: Args) -> bool:
    """`torch.randn_like(x)`, `torch.rand((x.size(0), 1))`: as many as the rank has samples."""
    known = [part for v in given for part in v.items or (v,)]
    return any(spread(v) is Extent.SAMPLES or v.size for v in known) and Extent.VARYING not in map(spread, known)


def _slopes(m: Machine, args: Args, keywords: Keywords) -> Value | None:
    """`torch.autograd.grad(u.sum(), (x, t))`: a tuple, with what each sample does to its own row of `u`."""
    outputs, inputs, *_ = (*args, *(keywords[k] for k in ("outputs", "inputs") if k in keywords), ANYTHING, ANYTHING)
    listed = inputs.items or (() if inputs.of("list") else (inputs,))
    if _is_apart(m, outputs, inputs):
        return marked(Value(extent=Extent.VARYING), STATISTIC)
    if Extent.SAMPLES not in map(spread, listed) or m.held(outputs) not in (Extent.SAMPLES, Extent.SUM):
        return None
    weights = [m.held(v) for v in (*args[2:3], *(keywords[k] for k in ("grad_outputs",) if k in keywords))]
    clear = {*weights} <= {Extent.SAMPLES, *WHOLE}
    extents = [Extent.SAMPLES if clear and spread(v) is Extent.SAMPLES else Extent.VARYING for v in listed]
    made = (like(Value(extent=e, shape=v.shape), [v, outputs]) for e, v in zip(extents, listed, strict=True))
    return Value(extent=reduce(join_extent, extents), items=tuple(made))


def _is_apart(m: Machine, outputs: Value, inputs: Value) -> bool:
    """By what is the same for all samples, which nothing averages: of a loss, or of gradients that such a loss has."""
    again = any(k.arg == "create_graph" for call in m.facts.backward for k in call.keywords)
    of_share = m.held(outputs) not in WHOLE or again
    return m.sharing() and of_share and m.held(inputs) in WHOLE and not m.assumed.joined and not m.context.forward


def _of_samples(m: Machine, name: str, args: Args, keywords: Keywords, op: Op) -> Value | None:
    """`torch.std(x, 0)` is `x.std(0)`; of a list it is about the items."""
    if name.startswith("einops.") and len(args) > 1 and spread(args[0]) is Extent.SAMPLES:
        return rearranged(args[0], args[1].const, (keywords.get("reduction") or (*args[2:], ANYTHING)[0]).const)
    if not args or not (name.startswith(("torch.", "numpy.")) or op.samples in TOTALS):
        return None
    things = name == "sum" and (any(v.of("list") for v in args[1:]) or m.elements(args[0]).of("instance"))
    if things or args[0].of("generator"):
        return None  # `sum(rows, [])`; a generator may give one for each sample, or whole batches
    if name in ("torch.einsum", "numpy.einsum"):
        return einsum(m, args[0].const, args[1:])
    if op.about == "kind":
        return Value(number=True)
    first, word = args[0], name.rpartition(".")[2]
    if word in PRODUCTS and len(args) > 1 and args[1].of(TURNED) and spread(first) in WHOLE:
        return placed(Value(extent=spread(args[1])), TURNED)  # `torch.matmul(W, X)`, of samples in columns
    inner = m.elements(first) if first.of("list") else first
    inner = marked(inner, PLACED) if first.of("list") and some_by_place(first) else inner
    if op.samples is Samples.SUM and spread(inner) in WHOLE and inner.of(PLACED):
        return Value(extent=Extent.VARYING, number=inner.number)
    if op.samples is Samples.SUM and spread(inner) in WHOLE and first.of(EACH, PICKED):
        return Value(extent=Extent.SUM, number=inner.number)  # `sum(1 for t, p in zip(y, predicted) if t == p)`
    if name == "sum" and spread(inner) is Extent.SAMPLES and not inner.of(ONE) and _holds_batches(m, first):
        return inner
    if word == "average" and any(m.held(v) not in WHOLE for v in (*args[2:], keywords.get("weights", ANYTHING))):
        return Value(extent=Extent.VARYING)
    found = of_samples(m, inner, word, args[1:], keywords, op.samples)
    plain = found is not None and op.samples in TOTALS and not m.alone(inner)
    return Value(extent=spread(found)) if plain and found else found


def _holds_batches(m: Machine, value: Value) -> bool:
    """`log_dets`, with one for each layer: nothing around goes through samples, which may have put one in for each."""
    made = [m.program.function_of(obj.node) or m.program.tree for obj in value.of("list")]
    loops = (n for around in made for n in walk(around) if isinstance(n, ast.For))
    return bool(made) and not value.of(EACH, PICKED) and all(spread(m.facts.value(n.iter)) in WHOLE for n in loops)


def _is_size(value: Value) -> bool:
    """`torch.reshape(x, (len(x), -1))`."""
    return (value.equal and value.number) or any(map(_is_size, value.items or ()))


def _compute(m: Machine, node: ast.Call, name: str, args: Args, keywords: Keywords, op: Op) -> Value:
    given, word = [*args, *keywords.values()], name.rpartition(".")[2]
    extents = [m.held(v) for v in given]
    extent = reduce(join_extent, extents, Extent.UNIFORM)
    if extent in WHOLE:
        return Value(extent=extent, const=0 if word in ("zeros", "zeros_like") else None)
    if word in ("linspace", "logspace") and Extent.SUM in extents and len(args) > 2:
        return marked(Value(extent=of_size({*extents})), PLACED)  # for each sample, by where it stands
    if word == "eye" and Extent.SUM in extents:
        return marked(Value(extent=Extent.VARYING), STATISTIC)  # of all pairs
    if (op.makes == "tensor" or word == "arange") and not op.draws and of_size({*extents}) is Extent.SAMPLES:
        made = Value(extent=Extent.SAMPLES)
        sizes = args[0].items if args and args[0].items is not None else args
        if op.makes == "tensor" and [v.varies for v in sizes[:2]] == [False, True]:
            return placed(made, TURNED)  # `torch.zeros(length, len(x), words)`
        return marked(marked(made, PLACED), PLACES) if op.counts else made
    if name.startswith("sklearn.metrics.") and Extent.SAMPLES in extents:
        if any(k in keywords and keywords[k].const is not True for k in ("normalize", "squared")):
            return Value(extent=Extent.SUM if word == "accuracy_score" else Extent.VARYING)
        mean = op.samples is Samples.SCORE and not m.assumed.splits  # a part may have no sample, for which they raise
        return Value(extent=Extent.MEAN if mean else Extent.VARYING)
    operands = [replace(v, extent=m.held(v)) for v in args]
    if name.startswith(("torch.", "numpy.")) and (found := operation(word, operands, keywords)) is not None:
        return found
    if name.startswith(("torch.", "numpy.", "einops.", "torchvision.")) and Extent.SAMPLES in extents:
        if op.samples is Samples.MIXES:
            return Value(extent=Extent.VARYING)
        parts = (replace(v, extent=m.held(v)) for v in given if not _is_size(v))
        found = like(Value(extent=elementwise(parts)), args)
        beside = op.samples is Samples.JOINS and found.extent is Extent.SAMPLES and args
        return joined(m, node, word, args[0], args[1:], keywords) if beside else found
    rows = of_unlike(m, word, args, keywords) if op.samples is Samples.JOINS and args else ANYTHING
    return replace(rows, extent=extent if op.samples is Samples.JOINS else Extent.VARYING)
