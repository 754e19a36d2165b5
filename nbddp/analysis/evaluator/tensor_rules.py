"""What sets the samples of a batch against each other, or takes some of them: a rank sees only those of its share."""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set
from dataclasses import replace
from functools import reduce

from nbddp.analysis.evaluator.iteration import written_elements
from nbddp.analysis.library import Samples, Shape, effect_of
from nbddp.analysis.values import (
    ANYTHING,
    EACH,
    FLAT,
    JOINED,
    LINE,
    MARKS,
    MOVED,
    OF_EACH,
    OPERATORS,
    PICKED,
    PLACED,
    SHUFFLED,
    STATISTIC,
    TURNED,
    WEIGHTED,
    WHOLE,
    Extent,
    Literal,
    Machine,
    Value,
    averaged,
    binary,
    elementwise,
    join_extent,
    marked,
    placed,
    product,
    spread,
    summed,
    turned,
)

Args = list[Value]
Keywords = dict[str, Value]
DIMENSION = ("dim", "axis", "dims")
SWAPS = ("transpose", "swapaxes", "swapdims", "movedim", "moveaxis")
PRODUCTS = ("mm", "matmul")
TOTALS = {Samples.SUM: summed, Samples.MEAN: averaged}
OF_SEQUENCES = ("RNN", "LSTM", "GRU", "Transformer", "Attention", "attention")  # the first dimension may be time
NOTHING = Value(const=Literal.NONE)


def _over_samples(base: Value, along: Value) -> bool:
    """Is the dimension gone through that counts the samples, or all of them?"""
    return along is ANYTHING or bool(_counting(base) & {*_places(along)})


def _counting(base: Value) -> set[object]:
    """The dimension of the samples; in a LINE it is the last one too."""
    return {samples_at(base), *([-1] if base.of(LINE) else [])}


def _places(along: Value) -> list[object]:
    """`0`, `(0, 1)`, `[0, 1]`."""
    written = (e for obj in along.of("list") for e in getattr(obj.node, "elts", ()))
    items = (item.const for item in along.items or ())
    return [along.const, *items, *(e.value for e in written if isinstance(e, ast.Constant))]


def _at_times(m: Machine, base: Value, along: Value) -> bool:
    """`dim = 0 if x.ndim == 2 else (0, 1)`: not known here, and the first one in a branch; `-2` where rows are samples.

    In a model the last two dimensions are mostly those of an image, or of a sequence.
    """
    numbers = [s.value for s in along.sources if isinstance(s, ast.Constant)]
    unknown = along.const is None and along.items is None and samples_at(base) in numbers
    return unknown or (-2 in _places(along) and not m.context.forward and not (base.of(TURNED) and base.of(LINE)))


def of_size(sizes: Set[Extent]) -> Extent:
    """Of `torch.zeros(len(x), 3)`: what is as large as a share has a place for each of its samples."""
    counted = sizes <= {*WHOLE, Extent.SUM}
    return Extent.SAMPLES if counted and Extent.SUM in sizes else reduce(join_extent, sizes, Extent.UNIFORM)


def of_samples(
    m: Machine, base: Value, word: str, args: Args, keywords: Keywords, done: Samples | None
) -> Value | None:
    """`x.std(0)`, `torch.topk(losses, 8)`, `mask.sum()`, by what is done to samples; None where that is nothing."""
    extent = spread(base)
    if (done is Samples.STATISTIC and base.varies) or (done is Samples.ORDERS and extent is Extent.SAMPLES):
        of_all = _of_all(m, word, base, args, keywords)
        return marked(of_all, PICKED) if word in ("topk", "kthvalue") and of_all.of(STATISTIC) else of_all
    if done is Samples.COUNT:
        return m.size(base) if extent is Extent.SAMPLES else Value(number=True)
    if extent is not Extent.SAMPLES:
        return _of_no_samples(m, base, word, args, keywords, done)
    if base.of(TURNED, FLAT) and (found := _placed(word, base, args)) is not None:
        return found
    if done in (Samples.ALONG, Samples.MOVES, Samples.WEIGHS):
        return _set_against_others(m, base, word, args, keywords, done)
    along = _along(word, args, keywords)
    if done in TOTALS:
        if _at_times(m, base, along):
            return marked(Value(extent=Extent.VARYING), STATISTIC)
        return Value(extent=TOTALS[done](base)) if _over_samples(base, along) else _along_another(base, along, keywords)
    if done is Samples.MIXES or (done is Samples.PAIRS and any(spread(a) is Extent.SAMPLES for a in args[:1])):
        return Value(extent=Extent.VARYING)
    return _some(m, base, word, args, along, done) or _turned(m, word, base, args)


def _of_no_samples(
    m: Machine, base: Value, word: str, args: Args, keywords: Keywords, done: Samples | None
) -> Value | None:
    """`torch.zeros(3).scatter_add(0, classes, x)` is given some; a sum of sums is one."""
    given = done is Samples.ALONG and any(spread(a) is Extent.SAMPLES for a in args)
    if given and spread(base) in WHOLE and not m.context.forward:
        return None if _each_for_itself(m, word, base, args, keywords) else Value(extent=Extent.VARYING)
    kept = Value(base.objs - base.of("shape"), spread(base), base.items, base.const) if done in TOTALS else None
    return Value(extent=elementwise([base])) if word == "count_nonzero" else kept


def _set_against_others(
    m: Machine, base: Value, word: str, args: Args, keywords: Keywords, done: Samples | None
) -> Value | None:
    """`x.cumsum(0)`, `x.flip(0)`, `x.softmax(0)`; in a model the first dimension may be that of time."""
    if m.context.forward and not (done is Samples.WEIGHS and _along(word, args, keywords).const == 0):
        return None
    found = Value(extent=Extent.SAMPLES)
    if _each_for_itself(m, word, base, args, keywords):
        return like(found, [base])
    if done is Samples.MOVES:
        return marked(found, MOVED, SHUFFLED)
    return marked(found, WEIGHTED) if done is Samples.WEIGHS else Value(extent=Extent.VARYING)


def note_mixed(m: Machine, node: ast.Call, base: Value, word: str, args: Args, keywords: Keywords) -> None:
    """`x.sort(0)`, `x.flip(0)` in a forward that trains, where nothing has time in its first dimension."""
    done = effect_of(f".{word}").samples
    mixes = done in (Samples.ALONG, Samples.MOVES, Samples.ORDERS) or (done is Samples.WEIGHS and base.of(TURNED))
    if not mixes or spread(base) is not Extent.SAMPLES:
        return
    along, trains = _along(word, args, keywords), m.context.forward and m.context.grad and m.sharing()
    asked = along is not ANYTHING and _over_samples(base, along) and not base.of(FLAT)
    if trains and asked and not any(layer in m.program.text for layer in OF_SEQUENCES):
        m.facts.against_statistic.add(node)


def _some(m: Machine, base: Value, word: str, args: Args, along: Value, done: Samples | None) -> Value | None:
    """`x.nonzero()`, `x.select(0, 0)`, `x.chunk(2)`."""
    if done is Samples.PICKS or (word == "where" and along is ANYTHING):
        return marked(Value(extent=Extent.SAMPLES), PICKED)
    if word == "select" and along.const in _counting(base):
        return marked(like(Value(extent=Extent.SAMPLES), [base]), PLACED)
    apart = effect_of(f".{word}").shape is Shape.APART and word != "unbind"
    return _pieces(m, base, along) if apart and args and not isinstance(args[0].const, str) else None


def _along_another(base: Value, along: Value, keywords: Keywords) -> Value:
    """Each sample's own sum, mean or deviation; where the dimension before theirs goes, they come to the front."""
    kept = Value(base.of(*OF_EACH), spread(base))
    gone = keywords.get("keepdim", keywords.get("keepdims", NOTHING)).const in (False, Literal.NONE)
    if not gone:
        return replace(kept, objs=kept.objs | base.of(TURNED, LINE))
    if base.of(TURNED) and 0 not in _places(along):
        return replace(kept, objs=kept.objs | (base.of(TURNED) if not base.of(LINE) else frozenset()))
    return replace(kept, objs=kept.objs | (base.of(LINE) if base.of(TURNED) else frozenset()))


def operation(word: str, operands: Args, keywords: Keywords) -> Value | None:
    """`a.div(b)`, `torch.add(a, b, alpha=2)`: operators by another name; None for anything else."""
    op = OPERATORS.get(word)
    if op is None or len(operands) != 2:
        return None
    left, right = operands
    if "alpha" in keywords:
        right = binary(right, keywords["alpha"], ast.Mult())
    if isinstance(op, ast.Div) and keywords.get("rounding_mode", NOTHING).const is not Literal.NONE:
        op = ast.FloorDiv()
    found = binary(left, right, op)
    return replace(found, objs=found.of(*MARKS))


def _turned(m: Machine, what: str, base: Value, args: Args) -> Value | None:
    """`x.t()`, `x.transpose(0, 1)`, and products with one; in a model the first dimension may be that of time."""
    order = [str(part.const) for a in args for part in a.items or (a,)]
    first_two = what in SWAPS and (sorted(order) in ([], ["0", "1"]) or sorted(order) == ["-2", "0"])
    first_two = first_two or (what == "permute" and order[1:2] == ["0"])
    if what == "t" or (first_two and (base.of(TURNED) or not m.context.forward)):
        return turned(Value(base.of(*MARKS), Extent.SAMPLES), line=what == "t")
    if what in ("unsqueeze", "expand_dims") and order == ["0"]:
        return before(Value(base.of(*MARKS), Extent.SAMPLES))
    if what in PRODUCTS and args and spread(args[0]) is Extent.SAMPLES:
        return Value(extent=product(base, args[0]))
    return None


def before(base: Value) -> Value:
    """`x[None]`, `x.unsqueeze(0)`."""
    return marked(placed(base, TURNED), LINE) if base.of(LINE) else placed(base, TURNED)


def _placed(word: str, base: Value, args: Args) -> Value | None:
    """What has its samples in another dimension than the first: where they are then; None where nothing is special."""
    sizes = args[0].items if args and args[0].items else args
    if word in ("view", "reshape", "flatten", "ravel"):
        return _reshaped(word, base, sizes)
    if not base.of(TURNED):
        return None
    places = [size.const for size in sizes][:2]
    if word == "permute":
        return placed(base) if places[:1] == [1] else base if places[1:] == [1] else Value(extent=Extent.VARYING)
    if word == "unsqueeze" and places[0] in (0, 1):
        return Value(extent=Extent.VARYING)
    if word in ("squeeze", "select", "unbind") and places[:1] == [0]:
        return placed(base, LINE if base.of(LINE) else "")
    return None


def _reshaped(word: str, base: Value, sizes: Sequence[Value]) -> Value:
    """`output.view(-1, vocabulary)`, and back again: `losses.view(length, -1)`."""
    first = sizes[0] if sizes else Value(const=0 if word == "flatten" else -1)
    if first.of("shape"):
        return base
    if word in ("flatten", "ravel"):
        kept = base.of(TURNED) and isinstance(first.const, int) and first.const > 0
        return (base if first.const != 1 else Value(extent=Extent.VARYING)) if kept else placed(base, FLAT)
    if first.varies or first.const == -1:
        return placed(base, FLAT)
    apart = len(sizes) > 2 or base.of(FLAT)
    return placed(base, TURNED) if apart else Value(extent=Extent.VARYING)


def _pieces(m: Machine, base: Value, along: Value) -> Value:
    """`x.chunk(2)`, `torch.split(x, 4)`: of a batch some samples by their places; of several, those batches."""
    if not (_over_samples(base, along if along is not ANYTHING else Value(const=0)) or _at_times(m, base, along)):
        return Value(base.objs, base.extent)
    plain = Value(base.objs - base.of(JOINED), base.extent)
    return plain if base.of(JOINED) else marked(marked(plain, PICKED), PLACED)


def joined(m: Machine, node: ast.Call, word: str, given: Value, args: Args, keywords: Keywords) -> Value:
    """`torch.cat([a, b])`, `torch.stack(outputs)`: where the samples of all are then."""
    parts = written_elements(m, given) or [m.elements(given)]
    found = Value(given.of(*OF_EACH).union(*(p.of(*OF_EACH, TURNED, FLAT) for p in parts)), Extent.SAMPLES)
    along = _along(word, args, keywords)
    at = 0 if along is ANYTHING or word in ("vstack", "hstack") else along.const
    if word == "stack" and not (given.of(EACH, PICKED) or found.of(TURNED) or m.context.varying):
        return turned(found) if at == 0 else found
    over = word not in ("stack", "hstack") and at == samples_at(found) and not (m.context.varying or _grows(m, node))
    if over and not m.context.forward and any(map(_is_made_there, _written(node))):
        return Value(extent=Extent.VARYING)  # some rows besides, on each rank
    return marked(found, JOINED) if over and len(parts) > 1 and all(p.varies for p in parts) else found


def _written(node: ast.Call) -> list[ast.expr]:
    return getattr(node.args[0], "elts", [])


def _grows(m: Machine, node: ast.Call) -> bool:
    """`seen = torch.cat([seen, output])`."""
    match m.program.parents.get(node):
        case ast.Assign(targets=[target]):
            return ast.unparse(target) in map(ast.unparse, _written(node))
    return False


def _is_made_there(node: ast.expr) -> bool:
    """`torch.zeros(1, 3)`."""
    sizes = node.args if isinstance(node, ast.Call) and node.args else []
    made = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("zeros", "ones")
    return made and isinstance(sizes[0], ast.Constant) and bool(sizes[0].value)


def samples_at(value: Value) -> int:
    """The dimension that counts the samples of a batch."""
    return 1 if value.of(TURNED) else 0


def like(value: Value, given: Args) -> Value:
    """What a layer or a function makes of a batch has its samples where the batch has them."""
    if not given or spread(value) is not Extent.SAMPLES:
        return value
    place = given[0].of(TURNED, FLAT, MOVED).union(*(v.of(*OF_EACH) for v in given))
    return replace(value, objs=value.objs | place) if place else value


def _along(word: str, args: Sequence[Value], keywords: Keywords) -> Value:
    """The dimension that is asked for; ANYTHING where none is."""
    place = effect_of(f".{word}").dim or 0
    named = next((keywords[k] for k in DIMENSION if k in keywords), None)
    return named or (args[place] if len(args) > place else ANYTHING)


def _of_all(m: Machine, attr: str, base: Value, args: Args, keywords: Keywords) -> Value:
    """Of a batch, or in a loop over its samples of one of them."""
    extent = spread(base)
    of_one = m.context.varying and (args or any(k in keywords for k in DIMENSION))
    if extent is Extent.SAMPLES and (of_one or _each_for_itself(m, attr, base, args, keywords)):
        found = Value(extent=elementwise([base, *args, *keywords.values()]))
        keeps = of_one or effect_of(f".{attr}").samples is Samples.ORDERS or found.extent is not Extent.SAMPLES
        return like(found, [base]) if keeps else _along_another(base, _along(attr, args, keywords), keywords)
    varying = Value(extent=Extent.VARYING)
    return marked(varying, STATISTIC) if extent is Extent.SAMPLES and not m.context.varying else varying


def einsum(m: Machine, equation: object, operands: Args) -> Value | None:
    """A sum over the samples, where all operands have them and the result has not; in a model perhaps one over time."""
    found = contracted(equation)
    if found is None or len(found[0]) != len(operands) or any(spread(o) is not Extent.SAMPLES for o in operands):
        return None
    letters, summed_up = found
    if len(set(letters)) > 1 or not summed_up:
        return None
    return Value(extent=Extent.VARYING if m.context.forward and letters[0] not in "bn" else Extent.SUM)


def _each_for_itself(m: Machine, word: str, base: Value, args: Sequence[Value], keywords: Keywords) -> bool:
    """Is a sample's result made of this sample alone: along another dimension than that of the samples?"""
    op, along = effect_of(f".{word}"), _along(word, args, keywords)
    if along is ANYTHING or along.const is Literal.NONE:  # of each class, the highest
        last = bool(op.last) or (word == "topk" and bool(args) and args[0].const == 1)
        return last and not base.of(LINE, TURNED)
    return not _over_samples(base, along) and not _at_times(m, base, along)


def lined(word: str, base: Value, args: Args) -> Value:
    """`x.view(-1)`, `x.flatten()`, `x.squeeze()`: the samples' dimension is the last one too."""
    if base.of(TURNED) and base.of(LINE) and word in ("squeeze", "unsqueeze"):
        return base.with_extent(Extent.VARYING) if not args else base
    plain = replace(base, objs=base.objs - base.of(LINE))
    asked = [a.const for a in args]
    one = asked == [-1] if word in ("view", "reshape") else not asked and word in ("flatten", "ravel")
    one = one or (word == "squeeze" and asked in ([], [1], [-1]))
    kept = base.of(LINE) and effect_of(f".{word}").shape in (None, Shape.SAME)
    return marked(plain, LINE) if one and spread(base) is Extent.SAMPLES else base if kept else plain


def contracted(equation: object) -> tuple[list[str], bool] | None:
    """Of `einsum("bi,bj->ij", …)`: by which letter each operand counts its samples, and whether they are summed up."""
    if not isinstance(equation, str) or "." in equation:
        return None
    given, arrow, result = equation.replace(" ", "").partition("->")
    result = result if arrow else "".join(c for c in given if given.count(c) == 1)
    first = [operand[:1] for operand in given.split(",")]
    return first, first[0] not in result
