"""What an entry can say of a function, a class or a method: one word for each question that the compiler asks.

What is not said is inherited from the module around: `torch.rand` is of `torch`, which leaves its arguments alone.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

MATRIX = 2  # dimensions: of more, the first is that of the samples, each with its own rows
MOVES = ("to", "cuda")  # methods that put a model or a tensor onto a device


class Effect(Enum):
    """What a call changes. One that has no entry may change anything."""

    READS = "nothing: what it is called on, what it is given and the world stay as they were"
    CONVERTS = "a model's parameters; of a tensor it gives another one"
    STORES = "what it is called on, which keeps what it is given"
    REORDERS = "what it is called on, which holds less then, or in another order"
    CHANGES = "what it is called on; of a function, what it is given"
    WRITES = "a file"
    PICTURE = "a file that no program reads again"
    WORLD = "what no name shows: seeds, folders, files"
    UNKNOWN = "perhaps what it is called on; of a function, perhaps anything"


class Samples(Enum):
    """What comes of the samples of a batch, where no dimension is given or it is theirs."""

    EACH = "each is taken for itself"
    KEEPS = "they stay as they are, and so do sums and means of them"
    SUM = "their sum"
    MEAN = "their mean"
    COUNT = "their number"
    STATISTIC = "one number of them all"
    ORDERS = "they are put in an order"
    MOVES = "each takes the place of another"
    WEIGHS = "each is set against the sum of all"
    ALONG = "each depends on those before it"
    PICKS = "some of them"
    PAIRS = "each is set against all of a second batch"
    MIXES = "they are set against each other in every dimension"
    SLOPES = "each has its own in what comes of it, and in the sum of that"
    LOSS = "their mean, or what `reduction` says"
    SCORE = "their mean, where `normalize` does not say otherwise"
    JOINS = "they are put beside others, and so are sums and means of them"


class Shape(Enum):
    """What becomes of the dimensions of a tensor."""

    SAME = "they stay, and so do its numbers"
    ONES = "there is one more or less, of a single entry"
    ANEW = "they are as is asked for"
    FLAT = "several have become one"
    TURNED = "they come in another order"
    APART = "it goes to pieces"


class Gives(Enum):
    """What a function gives of what it is given."""

    ITSELF = "the first argument, or a thing that stands for it"
    TURNS = "what going through it gives, turn by turn"
    SOME = "the same, and less than that, more or other things beside it"


class Stream(Enum):
    """Where numbers are drawn from."""

    TORCH = "torch"
    NUMPY = "numpy"
    PYTHON = "random"
    ANY = "any of them"
    OWN = "a generator of its own"
    SYSTEM = "the machine"


@dataclass(frozen=True)
class Op:
    effect: Effect | None = None
    samples: Samples | None = None
    fresh: bool | None = None  # the result shares nothing with what it is called on or given
    gives: Gives | None = None
    makes: str | None = None  # the kind of thing, in the words of the evaluator; a tensor is one of a given size
    size: int | None = None  # which argument says how large: all from the first, or this one
    calls: bool | None = None  # the first argument, with the others
    linear: bool | None = None  # of a sum it makes a sum, of a mean a mean
    proportional: bool | None = None  # of what is twice as large it makes twice as much
    within: tuple[str, int] | None = None  # which argument sets limits, between which samples are counted: a sum
    dim: int | None = None  # which argument names the dimension, where it is not the first
    last: bool | None = None  # goes along the last dimension, or the second, where none is given
    shape: Shape | None = None
    about: str | None = None  # tells no number of a tensor, but its "size", or its "kind", which ranks have alike
    truth: bool | None = None  # of each number whether something holds
    cuts: bool | None = None  # no gradient comes back through it
    distances: bool | None = None  # of each row to all others
    product: bool | None = None  # of matrices: sums over the second's rows
    stacked: bool | None = None  # of more dimensions: matrix by matrix, as `@` does
    sequence: bool | None = None  # goes along a sequence, or relates its places; a layer's first dimension is time
    state: bool | None = None  # of a layer that is given a state for each sample, and gives the next one
    aligned: bool | None = None  # computes number by number, with the last dimensions on top of each other
    beside: bool | None = None  # has the rows of its arguments beside each other
    as_many: bool | None = None  # of a layer: gives as many dimensions, the samples in the same one
    batch: bool | None = None  # sets each sample against a statistic of its batch
    rows: int | None = None  # of a loss: how many of its arguments have a row for each sample, where these are not two
    scores: bool | None = None  # of a metric that is a mean over the batch for which it is called
    by_class: bool | None = None  # of a loss that may weigh samples by their class, or leave some out
    graph: bool | None = None  # joins samples by edges
    fills: bool | None = None  # gives packed sequences filled up to the longest, time first, and their lengths
    packs: bool | None = None  # gives the entries of sequences, one after the other, in a tuple of its own
    counts: bool | None = None  # gives numbers, one after the other
    once: bool | None = None  # gives what can be gone through once: whoever reads it next finds the rest
    generator: bool | None = None  # makes a stream of random numbers
    copies: bool | None = None  # what it is given stays outside: it holds a copy
    classes: str | None = None  # what the classes below this name make
    numeric: bool | None = None  # gives a number for numbers
    draws: Stream | None = None
    seeds: Stream | None = None
    chance: bool | None = None  # each rank finds it for itself: drawn at random, the clock, the disk
    clock: bool | None = None  # no two processes find the same, whenever they ask
    out: str | None = None  # "shown" or "logged": what it is given leaves the program
    display: bool | None = None  # all that it does is to be seen
    bar: bool | None = None  # of a bar that shows how far a loop has come
    fetches: bool | None = None  # may download
    unpacks: bool | None = None  # does something on the disk that no argument names
    loads: bool | None = None  # reads a file
    opens: bool | None = None  # reads the file that its first argument names
    looks: bool | None = None  # tells what there is on the disk

    @property
    def reads(self) -> bool:
        """Does it leave arguments and the world as they were?"""
        return self.effect in (Effect.READS, Effect.CONVERTS, Effect.PICTURE)

    @property
    def over(self) -> bool:
        """Does it go along a dimension, so that it matters whether that counts the samples?"""
        return self.samples in (Samples.SUM, Samples.MEAN, Samples.STATISTIC, Samples.ORDERS, Samples.ALONG,
                                Samples.MOVES, Samples.WEIGHS)  # fmt: skip

    @property
    def without_gradient(self) -> bool:
        return bool(self.cuts or self.about)

    @property
    def ambient(self) -> bool:
        """Does it change what no name shows?"""
        return self.effect in (Effect.WRITES, Effect.WORLD)

    @property
    def noise(self) -> bool:
        """Does it give a tensor of numbers that nobody has chosen?"""
        return self.makes == "tensor" and (self.draws is Stream.TORCH or bool(self.chance and self.draws is None))


Table = Mapping[str, Op]  # by names, several in one line


def said_of(op: Op, more: Op) -> Op:
    """The first, but for what the second says."""
    return replace(op, **{field: value for field, value in vars(more).items() if value is not None})


def indexed(*tables: Table) -> dict[str, Op]:
    """By each name; one that stands in two lines has what both say, and they may not say two things."""
    found: dict[str, Op] = {}
    for names, op in (line for table in tables for line in table.items()):
        for name in names.split():
            old = found.get(name, Op())
            assert not [f for f, v in vars(op).items() if v is not None and getattr(old, f) is not None], name
            found[name] = said_of(old, op)
    return found


@functools.lru_cache(maxsize=8192)
def under(name: str, roots: tuple[str, ...]) -> bool:
    """Is a dotted name one of the roots or below one?"""
    return any(name == root or name.startswith(root + ".") for root in roots)
