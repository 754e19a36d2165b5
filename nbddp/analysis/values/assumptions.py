"""What one abstract run takes for granted: found by earlier runs of the same notebook, or done by the script."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from nbddp.analysis.values.domain import FLAT, MASK, TURNED, Extent, Obj, Value, marked, placed
from nbddp.analysis.values.facts import Loop
from nbddp.sentence import NOTHING, Sentence


@dataclass(frozen=True, eq=False)
class Split:
    """A batch that all ranks have drawn alike, and of which each takes its own samples."""

    at: ast.stmt  # right before this, its samples are counted and dealt out
    step: ast.stmt  # what trains on them: at each turn of the loops around
    total: str  # how many samples it has
    names: tuple[str, ...] = ()  # hold this rank's samples from there on
    dicts: frozenset[str] = frozenset()  # those of them that are dictionaries of samples
    lists: frozenset[str] = frozenset()  # and those that are lists, or tuples
    nested: frozenset[str] = frozenset()  # and those that are lists of lists
    inline: frozenset[ast.expr] = frozenset()  # expressions that are cut where they stand
    renamed: Mapping[ast.expr, str] = field(default_factory=dict)  # reads of what stays whole elsewhere: the new name
    dim: int = 0  # the dimension of the samples in what the model is given
    unlike: Mapping[str, str] = field(default_factory=dict)  # what has them elsewhere: FLAT, or in the first ("")
    masks: frozenset[str] = frozenset()  # what says of each sample whether something holds for it
    states: frozenset[ast.expr] = frozenset()  # first states of recurrent layers, made for the whole batch

    def place(self, key: str) -> str:
        """Where a name, or a piece, has its samples: TURNED, FLAT, or in the first dimension."""
        return self.unlike.get(key, TURNED if self.dim else "")

    def samples(self, key: str, whole: Value) -> Value:
        """What a name, or a piece, is to a rank: this rank's samples, with the dimensions of the whole batch."""
        place, sizes = self.place(key), whole.shape
        at = 1 if place == TURNED else 0
        shape = (*sizes[:at], None, *sizes[at + 1 :]) if isinstance(sizes, tuple) else sizes
        shape = None if place == FLAT else shape
        found = placed(Value(extent=Extent.SAMPLES, shape=shape), place)
        return marked(found, MASK) if key in self.masks else found

    @property
    def batch(self) -> Obj:
        return batch_at(self.at)


@dataclass(frozen=True)
class Counting:
    """An object that counts over a training loop."""

    place: str  # by which the loop calls it
    obj: Obj
    zeros: frozenset[str]  # its fields that are zero where the loop begins


def batch_at(node: ast.AST) -> Obj:
    """What is drawn where all ranks have a whole batch, and each takes its part."""
    return Obj("loader", node, "split")


@dataclass(frozen=True)
class Assumptions:
    # What an earlier run has found.
    used_as: Mapping[ast.AST, str] = field(default_factory=dict)  # what foreign things turn out to be
    mixed: Mapping[Loop, frozenset[Obj]] = field(default_factory=dict)  # loops that train on some loaders only
    dealt: Mapping[Loop, frozenset[Obj]] = field(default_factory=dict)  # comprehensions that train, and on what
    unsure: frozenset[Loop] = frozenset()  # those of them that may train on the one loader or on the other
    whole: Mapping[Loop, Sentence] = field(default_factory=dict)  # evaluations that each rank runs whole, and why
    unshared: frozenset[Obj] = frozenset()  # loaders on which nothing trains: each rank draws from all of the data

    own: frozenset[ast.expr] = frozenset()  # conditions that protect a computation on a share: each rank's own

    # What the script will do.
    alike: frozenset[Obj] = frozenset()  # loaders of which all ranks draw the same batches
    splits: tuple[Split, ...] = ()  # batches that do not come from a loader
    apart: bool = False  # where a step only looks at them, each rank has all of their samples
    joined: Sentence = NOTHING  # why they stay whole: models split what they are given, and join what they make of it
    opened: frozenset[Obj] = frozenset()  # models that compute with whole batches: those inside of them split
    unsplit: Sentence = NOTHING  # why there are none, though the training has no loader
    unsaid: bool = False  # since it is not clear which dimension counts the samples: the user may say it
    shares: frozenset[ast.AST] = frozenset()  # batch sizes that become the rank's share, or places that read one
    whole_sizes: frozenset[ast.AST] = frozenset()  # where they are the batch size of one process all the same
    agreed: frozenset[ast.expr] = frozenset()  # conditions that the ranks decide together
    summed: frozenset[ast.expr] = frozenset()  # divisors that are added up over the ranks
    returned: Mapping[ast.expr, str] = field(default_factory=dict)  # what is combined where a function returns it, how
    even: frozenset[ast.expr] = frozenset()  # numbers of samples of which each rank counts an even share
    counting: Mapping[Loop, tuple[Counting, ...]] = field(default_factory=dict)  # whose counts are added up behind it
    averaged: frozenset[ast.expr] = frozenset()  # means in losses that make more of them than a mean
    scaled: frozenset[ast.AST] = frozenset()  # sums in losses that are multiplied by the number of ranks
