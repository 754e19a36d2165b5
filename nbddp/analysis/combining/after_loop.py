"""How a name that a loop over a rank's share leaves becomes that of one process right behind the loop, if it can."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from nbddp.analysis.combining.items import item_of, zero_before
from nbddp.analysis.combining.lists_of_samples import fills_by_sample
from nbddp.analysis.combining.writes import read_by_called
from nbddp.analysis.slicing import (
    carried_reads,
    changed_names,
    fills_items,
    forms,
    fresh_start,
    is_empty,
    is_outer,
    may_skip_end,
    starts_at_zero,
)
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import (
    FLAT,
    OF_A_SHARE,
    PICKED,
    PLACED,
    PLACES,
    SEVERAL,
    TURNED,
    WHOLE,
    Extent,
    LoopFact,
    Machine,
    Reduction,
    Value,
    contents,
    is_uneven,
    is_zero,
)

CODE = ("function", "method", "bound", "partial", "generator", "class")
Loops = ast.For | ast.AsyncFor | ast.While


@dataclass(frozen=True, eq=False)
class LoopName:
    """A name that a loop changes, as it leaves it."""

    m: Machine
    fact: LoopFact
    loop: Loops
    name: str
    value: Value
    elsewhere: set[str]  # the ways in which functions that the loop calls fill it

    @property
    def extent(self) -> Extent:
        """An object cannot be added up as a whole."""
        return self.m.held(self.value, objects=False)

    @property
    def ways(self) -> set[str]:
        return forms([self.loop], self.name) | self.elsewhere

    @property
    def inside(self) -> list[Value]:
        return [*self.m.facts.contents(self.value)]

    @property
    def grows(self) -> bool:
        return bool(self.ways & {"append", "extend"} and self.value.of("list", "dict"))

    @property
    def has_other_names(self) -> bool:
        """By which the loop may change it too: an array that what goes in under the one is only a part of."""
        known, changed = self.m.visible(), changed_names([self.loop]) - {self.name}
        return any(known[n].arrays & self.value.arrays for n in changed & known.keys())

    @property
    def is_uneven(self) -> bool:
        """Lists that are longer on one rank than on another, and dictionaries of such."""
        return any(is_uneven(self.m.facts, v) for v in (self.value, *self.inside))

    @property
    def is_mixed(self) -> bool:
        """`history.append((epoch, loss))`: a mean of numbers that are alike on all ranks would make other numbers."""
        rows = [row for row in self.inside if row.items or row.of("list", "dict")]
        return any(not row.items or any(i.extent in WHOLE and not i.varies for i in row.items) for row in rows)

    @property
    def is_read_apart(self) -> bool:
        """By a function that the training calls: it puts together what it shows of a sum, there and behind the loop."""
        summed = self.fact.backward and self.extent is not Extent.MEAN
        return summed and read_by_called(self.m.facts, self.loop, self.name)


def behind(at: LoopName) -> Reduction | None:
    """How it is put together behind the loop, if that can be done there for all who read it."""
    how, program = _how(at), at.m.program
    if how is not None and how.name == at.name and not how.in_place:
        if is_outer(program, at.loop, at.name, at.value.number):
            filled = bool(at.value.of("list", "dict")) or fills_items(at.loop, at.name)
            how = replace(how, in_place=True) if filled else None
    skipped = at.fact.backward and may_skip_end(program, at.loop, at.name)
    part = how is not None and how.name != at.name and at.has_other_names
    return None if skipped or part or at.is_read_apart else how


def _how(at: LoopName) -> Reduction | None:
    m, loop, name, value, extent, ways = at.m, at.loop, at.name, at.value, at.extent, at.ways
    training, start = at.fact.backward, fresh_start(at.m.program, at.loop, at.name)
    zero, empty = start is not None and starts_at_zero(start, name), start is not None and is_empty(start, name)
    if any(o.name for o in value.of("list")):  # a deque: the parts of scripts add up lists
        return None
    if any(o.kind in CODE or isinstance(o.node, ast.GeneratorExp) for v in at.inside for o in v.objs):
        return None  # which no process can send
    if ways == {"item"} and not zero:
        return _how_item(at)
    if training and extent is Extent.MEAN and at.elsewhere == {"item"} == ways:
        return Reduction(loop, name, "mean")
    holds = any(v.of("list", "dict") for v in (value, *(value.items or ())))
    if not _adds_up(at, holds and (training or ways != {"append"})):
        return None
    if not training:
        gathers = empty and ((holds and ways <= {"append", "extend", "add"}) or ways == {"cat"})
        how = "gather" if gathers else "sum" if zero and ways and ways <= {"add", "item"} else None
    elif fills_by_sample(m, loop, name) is not None:
        each = empty and ways == {"append"} and not at.is_mixed and not m.assumed.splits
        how = "gather_samples" if each and extent is not Extent.VARYING else None
    elif extent is Extent.MEAN:
        return _how_mean(at, holds, start)
    elif start is not None and extent is Extent.SUM:
        lists = empty and ways == {"append"} and not at.is_mixed
        how = "sum" if ((zero and ways == {"item"}) or lists if holds else zero or ways == {"set"}) else None
    elif extent is Extent.SAMPLES and not holds and ways <= {"set"}:
        how = "gather_part" if _is_of_split_batch(at) else None
    else:
        several = any(v.of(SEVERAL, FLAT) for v in contents(m.facts, value))  # they stand one after the other
        how = _how_gathered(m, ways) if extent is Extent.SAMPLES and empty and not several else None
    return Reduction(loop, name, how) if how else None


def _how_item(at: LoopName) -> Reduction | None:
    """`losses[epoch] += loss`: the other items were put together before."""
    item, training = item_of(at.loop, at.name), at.fact.backward
    if item is not None and training and at.extent is Extent.MEAN:
        return Reduction(at.loop, item, "mean")
    if item is None or not zero_before(at.m.program, at.loop, at.name, item):
        return None
    return Reduction(at.loop, item, "sum") if at.extent is Extent.SUM or not training else None


def _adds_up(at: LoopName, holds: bool) -> bool:
    """Has it an item for the same batches or samples as those of the other ranks?"""
    if at.extent is Extent.SUM and _counts_beside(at.m, at.value):
        return False
    apart = (*OF_A_SHARE, PLACED) if at.fact.backward else (PICKED,)
    if holds and any(v.of(*apart, PLACES, "shape") for v in contents(at.m.facts, at.value)):
        return False
    each = fills_by_sample(at.m, at.loop, at.name)
    listed = at.fact.backward or not at.value.of("dict")  # what others have not met is missing in a dictionary: is 0
    return each is not False and not (each is None and listed and at.is_uneven)


def _counts_beside(m: Machine, value: Value) -> bool:
    """`sums[0] += hits; sums[1] += 1`: steps are counted alike on all ranks, and are not added up."""
    keyed = [v for key, v in m.facts.fields.of(*value.of("list", "dict")) if key != "[]"]
    return any(item.extent in WHOLE and not is_zero(item) for item in (*(value.items or ()), *keyed))


def _how_mean(at: LoopName, holds: bool, start: ast.stmt | None) -> Reduction | None:
    """A mean of means that were made before changes nothing, so a history may go on growing."""
    if holds and (not at.ways <= {"append", "extend", "item append", "item"} or at.is_mixed):
        return None
    items = at.ways in ({"item append"}, {"item"})
    return Reduction(at.loop, at.name, "mean", in_place=holds and (start is None or not items))


def _is_of_split_batch(at: LoopName) -> bool:
    """Has each rank some samples of the last batch, in its order, on which nothing is trained any more?"""
    assumed, fact = at.m.assumed, at.fact
    carried = any(at.name in carried_reads(around) for around in (at.loop, *fact.parents) if isinstance(around, Loops))
    marks = (*OF_A_SHARE, PICKED, PLACED, PLACES, TURNED, FLAT, "shape")
    drawn = (fact.loaders | fact.next_of | fact.indirect) <= assumed.alike | {s.batch for s in assumed.splits}
    odd = carried or _trains_behind(at.m, at.loop) or at.value.items or at.value.of(*marks)
    return bool(assumed.splits) and drawn and not odd


def _trains_behind(m: Machine, loop: ast.stmt) -> bool:
    """In the same function or cell: what is gathered would not be followed back to the model."""
    function, cell = m.program.function_of(loop), m.program.cell_of(loop)
    around = [function] if function else [s.node for s in m.program.statements if s.cell == cell]
    calls = (n for n in (n for a in around for n in walk(a)) if isinstance(n, ast.Call))
    return any(c.lineno > (loop.end_lineno or 0) and getattr(c.func, "attr", "") == "backward" for c in calls)


def _how_gathered(m: Machine, ways: set[str]) -> str | None:
    """Of a batch that is split, the ranks may have unlike parts: where each ends is known while it is a thing apart."""
    if ways == {"append"}:
        return "gather_parts" if m.assumed.splits else "gather_batches"
    return "gather_samples" if ways in ({"extend"}, {"add"}, {"cat"}) and not m.assumed.splits else None
