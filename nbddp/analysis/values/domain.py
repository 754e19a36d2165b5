"""Abstract values: what an expression may be, and how what it says about one rank's share adds up over the ranks."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from math import inf
from zlib import crc32


class Extent(Enum):
    """How a value on one rank relates to the value that one process would have."""

    UNIFORM = "uniform"  # the same on all ranks
    REPEATED = "repeated"  # each rank has it whole: the same but for rounding, chance and the clock
    SAMPLES = "samples"  # one entry a sample of this rank's share
    MEAN = "mean"  # a mean over the share: the mean over ranks is the mean over all
    SUM = "sum"  # a sum or count over the share: the sum over ranks is that over all
    RATE = "rate"  # one over a sum: times a sum it is a mean
    VARYING = "varying"  # differs between ranks in a way that is not understood


WHOLE = (Extent.UNIFORM, Extent.REPEATED)  # what one process would have, on each rank


class Literal(Enum):
    """What cannot stand for itself in `Value.const`, where None says that nothing is known."""

    NONE = "None"
    PERHAPS_NONE = "None on some of the paths"


@dataclass(frozen=True)
class Obj:
    """A thing by the place that makes it."""

    kind: str
    node: ast.AST
    name: str = ""
    owner: Obj | None = None
    site: ast.AST | None = None  # the call of the function in which it is made

    def __post_init__(self) -> None:
        place = getattr(self.node, "lineno", 0) * 4093 + getattr(self.node, "col_offset", 0)
        object.__setattr__(self, "_hash", crc32(f"{self.kind} {self.name}".encode()) ^ (place << 8))

    def __hash__(self) -> int:
        """By the place in the text, so that sets have the same order in every run: same cells, same bytes."""
        return self._hash  # type: ignore[attr-defined, no-any-return]


Sizes = tuple[int | None, ...]  # of a tensor's dimensions, each where it is known


@dataclass(frozen=True)
class AsMany:
    """As many dimensions as something has of which nobody tells how many, and some more."""

    of: Hashable
    more: int = 0
    first: int | None = field(default=None, compare=False)  # the size of the first one


@dataclass(frozen=True)
class Several:
    """The shapes of the tensors in a tuple: of a batch, of what `x.max(1)` gives."""

    of: tuple[Sizes | AsMany | None, ...]


Dimensions = Sizes | AsMany | Several | None
Place = int | tuple[Hashable, int] | None  # of a dimension, from the last: behind those of what it has as many as


@dataclass(frozen=True)
class Value:
    """A set of things, an extent, and the parts of a tuple where they are known."""

    objs: frozenset[Obj] = frozenset()
    extent: Extent = Extent.UNIFORM
    items: tuple[Value, ...] | None = None
    const: object = None  # a literal, or Literal.NONE for None; None where it is not one
    sources: frozenset[ast.AST] = frozenset()  # the literal numbers that it comes from, unchanged
    equal: bool = False  # the same number on each rank, as sizes of shares are: adds up all the same
    size: bool = False  # a size of the share, perhaps of another one on each rank
    batches: int = 0  # of how many batches it counts unlike shares: of none, of one, or of several (2)
    number: bool = False  # surely a Python number, not a tensor
    arrays: frozenset[Obj] = frozenset()  # those of which it may be one, or a view: `b = a`, `row = a[0]`
    shape: Dimensions = None  # of a tensor, where it is known

    def __eq__(self, other: object) -> bool:
        """Also by the type of the literal: True and 1.0 are told apart."""
        if self is other or not isinstance(other, Value):
            return self is other
        mine = self.extent, self.equal, self.number, self.batches, self.arrays, self.shape
        others = other.extent, other.equal, other.number, other.batches, other.arrays, other.shape
        same = mine == others and self.const == other.const and type(self.const) is type(other.const)
        return same and self.objs == other.objs and self.items == other.items and self.sources == other.sources

    def __hash__(self) -> int:
        return hash((self.objs, self.extent, self.items, self.const, self.equal, self.number))

    def of(self, *kinds: str) -> frozenset[Obj]:
        return frozenset([o for o in self.objs if o.kind in kinds]) if self.objs else self.objs

    def with_extent(self, extent: Extent) -> Value:
        items = tuple(i.with_extent(extent) for i in self.items) if self.items is not None else None
        return Value(self.objs, extent, items, number=self.number, arrays=self.arrays, shape=self.shape)

    @property
    def rank(self) -> int | None:
        """How many dimensions it has."""
        return len(self.shape) if isinstance(self.shape, tuple) else None

    @property
    def varies(self) -> bool:
        return self.extent not in WHOLE or any(i.varies for i in self.items or ())


ANYTHING = Value()


def thing(kind: str, node: ast.AST, name: str = "", owner: Obj | None = None, site: ast.AST | None = None) -> Value:
    return Value(frozenset({Obj(kind, node, name, owner, site)}))


# What a value of samples has to do with the others of its batch; goes along through arithmetic.
RATED = "rated"  # divided by the number of samples: its sum is a mean
WEIGHTED = "weighted"  # divided by a sum over the samples: its sum is no mean over ranks
STATISTIC = "statistic"  # a number of the batch that does not add up: its largest sample, its deviation
SORTED = "sorted"  # why numbers are a STATISTIC that are those of the samples by size: beside samples in that order
MASK = "mask"  # whether something holds for each sample
EACH = "each"  # a list with an item for each sample, whatever the item is
PICKED = "picked"  # those samples of a batch for which it does
SHUFFLED = "shuffled"  # by what is reported itself: why they are MOVED
MOVED = "moved"  # in another order than theirs, within the batch
PLACED = "placed"  # by their place in the batch, and of a share these are others
PIECES = "pieces"  # why a piece is PLACED where a loop goes through all of them
POSITIONS = "positions"  # why numbers are that say where samples are: `x.nonzero()`; there are as many as of those
RAGGED = "ragged"  # why rows are PICKED: of each sample its own, of one more than of another
FIRST = "first"  # why one sample is, as `x[0]`
LAST = "last"  # why the one is that a loop through them has left
BY_MASK = "by mask"  # picked by what is true of each sample for itself: the shares' make up those of the batch
FRACTION = "fraction"  # a part of a sum: rounded on each rank it does not add up
GRADIENT = "gradient"  # why what a sample has is WEIGHTED: of a loss that is a mean, by how many there are
SHIFTED = "shifted"  # why it is where something was added to such a gradient: its own length makes it free no more
ASSUMED = "assumed"  # weighted by the size of the batch, and so taken for a mean over it
TURNED = "turned"  # its columns are samples: a transposed batch, or time in the first dimension
STATES = "states"  # why those of a recurrent layer are TURNED: behind the layers
FLAT = "flat"  # time and samples in one dimension, time first
LINE = "line"  # the samples' dimension is the last one
SEVERAL = "several"  # several entries of each sample in a row: `x.flatten()`
JOINED = "joined"  # of several batches, one after the other
KEPT = "kept"  # with those of batches before: of how many of them, each rank has its own number
EARLIER = "earlier"  # in a loop over the samples of a batch, left by those before
ONE = "one"  # one sample of a batch for itself, in the loop over them that is its node
UNLIKE = "unlike"  # holds a sum over the samples, and something that is none: its node is the sum
DRAWN = "drawn"  # noise of a size that no share has: with a parameter as large as it, it is that of the weights
OF_WEIGHTS = "of weights"  # whose a shape is
PLACES = "places"  # the place of each sample in the batch, in order; what is computed from it is none
MARKS = (RATED, WEIGHTED, STATISTIC, MASK, EACH, PICKED, MOVED, PLACED, BY_MASK, FRACTION, ASSUMED, TURNED, FLAT, LINE,
         UNLIKE, JOINED, KEPT, EARLIER, ONE, SEVERAL, DRAWN)  # fmt: skip
# What is made of each sample for itself has these too.
OF_EACH = (RATED, WEIGHTED, SEVERAL, PICKED, MOVED, PLACED, BY_MASK, JOINED, KEPT, ONE)
OF_A_PART = (*OF_EACH, STATISTIC, UNLIKE)  # whatever is taken out of it: `x.sort(0).values`, `x.max(0)[0]`
OF_A_SHARE = (PICKED, MOVED, RATED, WEIGHTED, TURNED, JOINED)  # gathered, these are not the samples of one process
_NOWHERE = ast.Pass()


def of_pieces(value: Value) -> bool:
    """`x.chunk(2)`, or what a loop over it gets."""
    return any(o.name == PIECES for o in value.of(PLACED))


def sizes_known(value: Value) -> bool:
    """Of a list of tensors each may have its own."""
    return isinstance(value.shape, tuple) and None not in value.shape


def of_gradient(value: Value) -> frozenset[Obj]:
    """`x.grad`, which a sign or its own length makes free of the number of samples."""
    return frozenset(o for o in value.of(WEIGHTED) if o.name in (GRADIENT, SHIFTED))


def of_weights(value: Value) -> bool:
    """A parameter, or the shape of one."""
    return not value.varies and any(o.kind == "parameter" or o.name == OF_WEIGHTS for o in value.objs)


def some_by_place(value: Value) -> bool:
    """`x[:8]`, `list(x)[::2]`: of a share others, and not as many."""
    return bool(value.of(PICKED)) and any(o.name not in (PIECES, POSITIONS) for o in value.of(PLACED))


def placed(value: Value, kind: str = "") -> Value:
    """A batch whose samples are in another dimension: TURNED, FLAT, or the first."""
    plain = replace(value, objs=value.objs - value.of(TURNED, FLAT, LINE))
    return marked(plain, kind) if kind else plain


def ones(values: Iterable[Value]) -> frozenset[Obj]:
    """The loops of which all that is of samples here is one turn's sample."""
    found = [v.of(ONE) if spread(v) is not Extent.VARYING else frozenset() for v in values if v.varies]
    return frozenset.intersection(*found) if found else frozenset()


def single(value: Value, loop: ast.AST) -> Value:
    """What a turn of a loop over samples gets."""
    return replace(value, objs=value.objs - value.of(ONE) | {Obj(ONE, loop)})


def of_one(value: Value, values: Iterable[Value]) -> Value:
    """What is made of one sample is of that one, and of one together with others it is not."""
    return replace(value, objs=value.objs - value.of(ONE) | ones(values))


def each_by_place(marks: frozenset[Obj]) -> frozenset[Obj]:
    """`x - x[0]`: of each sample, by that which is the first."""
    return frozenset(Obj(PLACED, _NOWHERE) if o.kind == PLACED and o.name == FIRST else o for o in marks)


def marked(value: Value, kind: str, why: str = "") -> Value:
    return replace(value, objs=value.objs | {Obj(kind, _NOWHERE, why)})


def of_each(value: Value) -> Value:
    """In a list with something for each sample: what is counted there is that one's."""
    if value.items:
        return replace(value, items=tuple(map(of_each, value.items)))
    return value.with_extent(Extent.SAMPLES) if value.extent is Extent.SUM else value


def kept(value: Value) -> Value:
    """Beside those of other batches; of a row what is of samples."""
    if value.items:
        return replace(value, items=tuple(map(kept, value.items)))
    return marked(value, KEPT) if value.extent is Extent.SAMPLES else value


def join_extent(a: Extent, b: Extent) -> Extent:
    """A sum of a share that elsewhere is the whole sum is neither; a mean can be put together either way."""
    if a is b or Extent.UNIFORM in (a, b):
        return b if a is Extent.UNIFORM else a
    if Extent.REPEATED not in (a, b):
        return Extent.VARYING
    other = b if a is Extent.REPEATED else a
    return Extent.VARYING if other in (Extent.SUM, Extent.SAMPLES, Extent.RATE) else other


def _is_none(value: Value) -> bool:
    return value.const is Literal.NONE and not value.objs


def join(a: Value, b: Value, *, later: bool = False) -> Value:
    """What holds on either path; or of one place, which first holds the one and `later` the other."""
    if a is b or a == b:
        return a
    items = None
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        items = tuple(join(x, y) for x, y in zip(a.items, b.items, strict=True))
    elif _is_none(a) or _is_none(b):  # which cannot be taken apart
        items = b.items if _is_none(a) else a.items
    const = a.const if a.const == b.const else None
    if const is None and any(isinstance(v.const, Literal) for v in (a, b)):
        const = Literal.PERHAPS_NONE
    whole = items is None  # where the parts do not match, what they are goes to the whole
    extent = join_extent(spread(a), spread(b)) if whole else join_extent(a.extent, b.extent)
    joined = Value(
        a.objs | b.objs,
        Extent.VARYING if whole and not later and is_sum_or_not(a, b) else extent,
        items,
        const,
        a.sources | b.sources,
        alike(a) and alike(b),
        a.size and b.size,
        max(a.batches, b.batches),
        a.number and b.number,
        a.arrays | b.arrays,
        either(a.shape, b.shape),
    )
    return of_one(joined, (a, b)) if joined.of(ONE) else joined


def either(a: Dimensions, b: Dimensions) -> Dimensions:
    """What holds for both: as many dimensions, of the sizes that they have alike."""
    if a == b or not (isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b)):
        return a if a == b else None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def is_sum_or_not(a: Value, b: Value) -> bool:
    """Added up over the ranks, one of them would be another number; zero and infinity stay what they are."""
    return {spread(v) for v in (a, b) if not (_stays(v) or _is_none(v))} == {Extent.SUM, Extent.UNIFORM}


def _stays(value: Value) -> bool:
    """What sums begin with, and `best = float("inf")`."""
    return isinstance(value.const, int | float) and value.const in (0, inf, -inf)


def may_be_an_array(value: Value) -> bool:
    """What is done to it in its place shows wherever else it has a name."""
    return not (value.number or value.objs or value.items) and value.const in (None, 0)


def is_zero(value: Value) -> bool:
    return isinstance(value.const, int | float) and value.const == 0


def alike(value: Value) -> bool:
    """The same number on all ranks: uniform, or the size of a share."""
    return value.equal or not value.varies


KNOWN = ("model", "optimizer", "scheduler", "loader", "loss", "scaler")


def truth(value: Value) -> bool | None:
    """What a condition comes to; None where that is not known."""
    if isinstance(value.const, bool):
        return value.const
    if value.const is Literal.NONE and not value.objs:
        return False
    return True if value.const is None and value.objs and value.objs == value.of(*KNOWN) else None


def join_all(values: Iterable[Value]) -> Value:
    result: Value | None = None
    for value in values:
        result = value if result is None else join(result, value)
    return result or ANYTHING


def spread(value: Value) -> Extent:
    """One extent for a value with parts."""
    extent = value.extent
    for item in value.items or ():
        extent = join_extent(extent, spread(item))
    return extent


def scaled(value: Value) -> Value:
    """The same extent without the things: a number computed from it."""
    return replace(Value(), extent=spread(value))
