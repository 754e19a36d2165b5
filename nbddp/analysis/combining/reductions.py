"""What a loop over this rank's share leaves behind, and how it becomes the number of one process."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.combining.each_step import Parts, at_source, fields_that_grow
from nbddp.analysis.combining.items import item_of, zero_before
from nbddp.analysis.combining.lists_of_samples import fills_by_sample
from nbddp.analysis.combining.split_evaluations import undealable
from nbddp.analysis.combining.writes import handed_on, read_by_called
from nbddp.analysis.slicing import (
    carried_reads,
    changed_names,
    fills_items,
    forms,
    fresh_start,
    is_empty,
    is_outer,
    may_skip_end,
    read_after,
    starts_at_zero,
)
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import (
    ASSUMED,
    FLAT,
    OF_A_SHARE,
    PICKED,
    PLACED,
    PLACES,
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
from nbddp.sentence import sentence

CODE = ("function", "method", "bound", "partial", "generator", "class")
Loops = ast.For | ast.AsyncFor | ast.While


def leave_loop(m: Machine, fact: LoopFact) -> None:
    """Place the reduction of each name that is read after the loop; from then on it is the same on all ranks."""
    loop = fact.node
    if loop in m.assumed.whole or not isinstance(loop, Loops):
        return
    handed, own = handed_on(m.facts, loop), changed_names([loop])
    if not fact.backward and (reason := undealable(m, fact, own | set(handed))):
        m.facts.keep_whole.setdefault(loop, reason)
        return
    for name in sorted(own | set(handed)):
        value, elsewhere = m.lookup(name), handed.get(name, set())
        if value is None or not _is_own(m, fact, name, value, elsewhere):
            continue
        read = read_after(m.program, m.imports, loop, name, m.kept)
        if read or (_is_for_kernel(m, fact, name, value, elsewhere) and _can_be_whole(m, fact, name, value, elsewhere)):
            _place(m, fact, name, value, elsewhere, name in own)
    for text, place in fields_that_grow(m, loop).items() if fact.backward else ():
        _place_field(m, fact, text, m.facts.value(place))


def _is_own(m: Machine, fact: LoopFact, name: str, value: Value, elsewhere: set[str]) -> bool:
    """Of this rank, in part at least; lists of an evaluation get an item for each batch, alike or not."""
    assert isinstance(fact.node, ast.stmt)
    if value.of("parameter"):
        return False  # a part of the model by another name, which stays that
    return _extent(m, value) not in WHOLE or (not fact.backward and bool(_grows(fact, name, value, elsewhere)))


def _grows(fact: LoopFact, name: str, value: Value, elsewhere: set[str]) -> set[str]:
    assert isinstance(fact.node, ast.stmt)
    ways = (forms([fact.node], name) | elsewhere) & {"append", "extend"}
    return ways if value.of("list", "dict") else set()


def _is_for_kernel(m: Machine, fact: LoopFact, name: str, value: Value, elsewhere: set[str]) -> bool:
    """Do later cells read it; or, since nobody knows which there will be, is it what the loop adds up or collects?"""
    assert isinstance(fact.node, ast.stmt)
    every = {s.node for s in m.program.statements}
    if read_after(m.program, m.imports, fact.node, name, every):
        return True
    if not isinstance(fact.node, ast.For) or name in carried_reads(fact.node):  # it is for the loop itself
        return False
    grows = _grows(fact, name, value, elsewhere)
    if _extent(m, value) is Extent.MEAN and (fact.backward or not grows):
        return False  # a mean of all ranks it becomes where the run ends
    if not grows and (fact.backward or not forms([fact.node], name) & {"add", "cat"}):
        return False
    cell = {s.node for s in m.program.statements if s.cell == m.program.cell_of(fact.node)}
    return read_after(m.program, m.imports, fact.node, name, cell, at_end=True)


def _can_be_whole(m: Machine, fact: LoopFact, name: str, value: Value, elsewhere: set[str]) -> bool:
    in_step = fact.backward and _grows(fact, name, value, elsewhere)
    return bool(_behind(m, fact, name, value, elsewhere) or (in_step and _in_each_step(m, fact, name, value)))


def _place(m: Machine, fact: LoopFact, name: str, value: Value, elsewhere: set[str], own: bool) -> None:
    """After the loop, else where it is written; else nowhere, and it is reported where it is read."""
    key = fact.node, name
    if fact.backward and name in fact.chosen:  # of other batches on each rank: there is nothing to be put together
        m.set_plain(name, value.with_extent(Extent.VARYING))
        m.facts.unreduced[key] = Extent.VARYING
    elif how := _behind(m, fact, name, value, elsewhere):
        m.facts.at_source.pop(key, None)
        m.facts.unreduced.pop(key, None)
        number = value.number and how.name == name
        m.facts.reductions[key] = replace(
            how, in_place=how.in_place or not own, number=number, assumed=_is_assumed(m, value)
        )
        _now_uniform(m, name, value, in_place=how.in_place or not own or how.name != name)
    elif not own:  # where nothing is known of it behind the loop, there may be where it gets out
        return
    elif not fact.backward:
        m.facts.keep_whole.setdefault(fact.node, sentence("'%1' cannot be combined across ranks", name))
    else:
        m.facts.reductions.pop(key, None)  # each visit of the loop decides anew: the last one knows most of it
        m.facts.at_source[key] = _in_each_step(m, fact, name, value)
        if m.facts.at_source[key]:
            _now_uniform(m, name, value)
        else:
            m.facts.unreduced[key] = _extent(m, value)


def _in_each_step(m: Machine, fact: LoopFact, name: str, value: Value) -> Parts:
    apart = _is_read_apart(m, fact, name, value) or _is_uneven(m, value) or _has_other_names(m, fact, name, value)
    return () if apart else at_source(m, fact, name)


def _place_field(m: Machine, fact: LoopFact, text: str, held: Value) -> None:
    """`self.losses.append(loss.item())`: nothing behind the loop sees what else it holds."""
    collects = held.objs == held.of("list", "dict") and _extent(m, held) not in WHOLE
    if collects and not _is_read_apart(m, fact, text, held) and (parts := at_source(m, fact, text)):
        m.facts.at_source[fact.node, text] = parts
        m.make_uniform(held)


def _extent(m: Machine, value: Value) -> Extent:
    """An object cannot be added up as a whole."""
    return m.held(value, objects=False)


def _has_other_names(m: Machine, fact: LoopFact, name: str, value: Value) -> bool:
    """By which the loop may change it too: an array that what goes in under the one is only a part of."""
    assert isinstance(fact.node, ast.stmt)
    return any(v.arrays & value.arrays and n != name for n, v in m.visible().items() if n in changed_names([fact.node]))


def _is_assumed(m: Machine, value: Value) -> bool:
    return any(v.of(ASSUMED) for v in (value, *m.facts.contents(value)))


def _behind(m: Machine, fact: LoopFact, name: str, value: Value, elsewhere: set[str]) -> Reduction | None:
    """How it is put together behind the loop, if that can be done there for all who read it."""
    how = _how(m, fact, name, value, elsewhere)
    assert isinstance(fact.node, ast.stmt)
    if how is not None and how.name == name and not how.in_place:
        if is_outer(m.program, fact.node, name, value.number):
            filled = bool(value.of("list", "dict")) or fills_items(fact.node, name)
            how = replace(how, in_place=True) if filled else None
    skipped = fact.backward and may_skip_end(m.program, fact.node, name)
    part = how is not None and how.name != name and _has_other_names(m, fact, name, value)
    return None if skipped or part or _is_read_apart(m, fact, name, value) else how


def _is_read_apart(m: Machine, fact: LoopFact, name: str, value: Value) -> bool:
    """By a function that the training calls: it puts together what it shows of a sum, there and behind the loop."""
    return fact.backward and _extent(m, value) is not Extent.MEAN and read_by_called(m.facts, fact.node, name)


def _how(m: Machine, fact: LoopFact, name: str, value: Value, elsewhere: set[str]) -> Reduction | None:
    loop = fact.node
    assert isinstance(loop, Loops)
    start = fresh_start(m.program, loop, name)
    zero, empty = start is not None and starts_at_zero(start, name), start is not None and is_empty(start, name)
    ways, extent = forms([loop], name) | elsewhere, _extent(m, value)
    if any(o.name for o in value.of("list")):  # a deque: the parts of scripts add up lists
        return None
    kept = {o for v in m.facts.contents(value) for o in v.objs}
    if any(o.kind in CODE or isinstance(o.node, ast.GeneratorExp) for o in kept):  # which no process can send
        return None
    if ways == {"item"} and not zero:
        return _how_item(m, fact, name, extent)
    if fact.backward and extent is Extent.MEAN and elsewhere == {"item"} == ways:
        return Reduction(loop, name, "mean")
    holds = any(v.of("list", "dict") for v in (value, *(value.items or ())))
    if not _adds_up(m, fact, name, value, holds and (fact.backward or ways != {"append"})):
        return None
    if not fact.backward:
        gathers = empty and ((holds and ways <= {"append", "extend", "add"}) or ways == {"cat"})
        how = "gather" if gathers else "sum" if zero and ways and ways <= {"add", "item"} else None
    elif fills_by_sample(m, loop, name) is not None:
        each = empty and ways == {"append"} and not _is_mixed(m, value) and not m.assumed.splits
        how = "gather_samples" if each and extent is not Extent.VARYING else None
    elif extent is Extent.MEAN:
        return _how_mean(m, loop, name, value, ways, holds, start)
    elif start is not None and extent is Extent.SUM:
        counts = zero and ways == {"item"}
        lists = empty and ways == {"append"} and not _is_mixed(m, value)
        how = "sum" if (counts or lists if holds else zero or ways == {"set"}) else None
    elif extent is Extent.SAMPLES and not holds and ways <= {"set"}:
        how = "gather_part" if _is_of_split_batch(m, fact, name, value) else None
    else:
        how = _how_gathered(m, ways) if extent is Extent.SAMPLES and empty else None
    return Reduction(loop, name, how) if how else None


def _is_of_split_batch(m: Machine, fact: LoopFact, name: str, value: Value) -> bool:
    """Has each rank some samples of the last batch, in its order, on which nothing is trained any more?"""
    loop, loops = fact.node, [fact.node, *fact.parents]
    assert isinstance(loop, ast.stmt)
    carried = any(name in carried_reads(around) for around in loops if isinstance(around, Loops))
    marks = (*OF_A_SHARE, PICKED, PLACED, PLACES, TURNED, FLAT, "shape")
    drawn = (fact.loaders | fact.next_of | fact.indirect) <= m.assumed.alike | {s.batch for s in m.assumed.splits}
    return (
        bool(m.assumed.splits) and drawn and not (carried or _trains_behind(m, loop) or value.items or value.of(*marks))
    )


def _trains_behind(m: Machine, loop: ast.stmt) -> bool:
    """In the same function or cell: what is gathered would not be followed back to the model."""
    function, cell = m.program.function_of(loop), m.program.cell_of(loop)
    around = [function] if function else [s.node for s in m.program.statements if s.cell == cell]
    calls = (n for n in (n for a in around for n in walk(a)) if isinstance(n, ast.Call))
    return any(c.lineno > (loop.end_lineno or 0) and getattr(c.func, "attr", "") == "backward" for c in calls)


def _adds_up(m: Machine, fact: LoopFact, name: str, value: Value, holds: bool) -> bool:
    """Has it an item for the same batches or samples as those of the other ranks?"""
    loop = fact.node
    assert isinstance(loop, Loops)
    if _extent(m, value) is Extent.SUM and _counts_beside(m, value):
        return False
    apart = (*OF_A_SHARE, PLACED) if fact.backward else (PICKED,)
    if holds and any(v.of(*apart, PLACES, "shape") for v in contents(m.facts, value)):
        return False
    each = fills_by_sample(m, loop, name)
    listed = fact.backward or not value.of("dict")  # what other ranks have not met is missing in a dictionary, and is 0
    return each is not False and not (each is None and listed and _is_uneven(m, value))


def _how_mean(
    m: Machine, loop: Loops, name: str, value: Value, ways: set[str], holds: bool, start: ast.stmt | None
) -> Reduction | None:
    """A mean of means that were made before changes nothing, so a history may go on growing."""
    if holds and (not ways <= {"append", "extend", "item append", "item"} or _is_mixed(m, value)):
        return None
    items = ways in ({"item append"}, {"item"})
    return Reduction(loop, name, "mean", in_place=holds and (start is None or not items))


def _how_gathered(m: Machine, ways: set[str]) -> str | None:
    """Of a batch that is split, the ranks may have unlike parts: where each ends is known while it is a thing apart."""
    if ways == {"append"}:
        return "gather_parts" if m.assumed.splits else "gather_batches"
    return "gather_samples" if ways in ({"extend"}, {"add"}, {"cat"}) and not m.assumed.splits else None


def _counts_beside(m: Machine, value: Value) -> bool:
    """`sums[0] += hits; sums[1] += 1`: steps are counted alike on all ranks, and are not added up."""
    holders = value.of("list", "dict")
    keyed = [v for (obj, key), v in m.facts.fields.items() if obj in holders and key != "[]"]
    return any(item.extent in WHOLE and not is_zero(item) for item in (*(value.items or ()), *keyed))


def _is_uneven(m: Machine, value: Value) -> bool:
    """Lists that are longer on one rank than on another, and dictionaries of such."""
    return any(is_uneven(m.facts, v) for v in (value, *m.facts.contents(value)))


def _is_mixed(m: Machine, value: Value) -> bool:
    """`history.append((epoch, loss))`: of numbers that are the same on all ranks a mean would make other numbers."""
    rows = [row for row in m.facts.contents(value) if row.items or row.of("list", "dict")]
    return any(not row.items or any(i.extent in WHOLE and not i.varies for i in row.items) for row in rows)


def _how_item(m: Machine, fact: LoopFact, name: str, extent: Extent) -> Reduction | None:
    """`losses[epoch] += loss`: the other items were put together before."""
    loop = fact.node
    assert isinstance(loop, ast.stmt)
    item = item_of(loop, name)
    if item is not None and fact.backward and extent is Extent.MEAN:
        return Reduction(loop, item, "mean")
    if item is None or not zero_before(m.program, loop, name, item):
        return None
    return Reduction(loop, item, "sum") if extent is Extent.SUM or not fact.backward else None


def _now_uniform(m: Machine, name: str, value: Value, *, in_place: bool = True) -> None:
    """Where it is another thing from then on, its other names are left with this rank's own."""
    if in_place:
        m.change(name, value.with_extent(Extent.UNIFORM))
    else:
        m.set_plain(name, replace(value.with_extent(Extent.UNIFORM), arrays=frozenset()))
    m.make_uniform(value)
