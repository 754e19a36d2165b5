"""What a loop over this rank's share leaves behind, and where it becomes the number of one process."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.combining.after_loop import LoopName, Loops, behind
from nbddp.analysis.combining.each_step import Parts, at_source, fields_that_grow
from nbddp.analysis.combining.split_evaluations import splits_inside, undealable
from nbddp.analysis.combining.writes import handed_on
from nbddp.analysis.slicing import carried_reads, changed_names, forms, read_after
from nbddp.analysis.values import ASSUMED, FRACTION, WHOLE, Counting, Extent, LoopFact, Machine, Reduction, Value
from nbddp.sentence import sentence


def leave_loop(m: Machine, fact: LoopFact) -> None:
    """Place the reduction of each name that is read after the loop; from then on it is the same on all ranks."""
    loop, inside = fact.node, splits_inside(m.program, m.assumed, m.facts, fact.node)
    if (loop in m.assumed.whole and not inside) or not isinstance(loop, Loops):
        return
    if inside and not fact.backward:
        m.facts.keep_whole.setdefault(loop, sentence("a function that it calls splits each batch itself"))
        fact = replace(fact, backward=True)  # its means and sums are those of a training's batches
    handed, own = handed_on(m.facts, loop), changed_names([loop])
    if not fact.backward and (reason := undealable(m, fact, own | set(handed))):
        m.facts.keep_whole.setdefault(loop, reason)
        return
    for name in sorted(own | set(handed)):
        if (value := m.lookup(name)) is not None:
            at = LoopName(m, fact, loop, name, value, handed.get(name, set()))
            if _is_own(at) and (_is_read(at) or (_is_for_kernel(at) and _can_be_whole(at))):
                _place(at, name in own)
    for one in m.assumed.counting.get(loop, ()):
        _place_counts(m, fact, one)
    for text, place in fields_that_grow(m, loop).items() if fact.backward else ():
        _place_field(LoopName(m, fact, loop, text, m.facts.value(place), set()))


def _is_own(at: LoopName) -> bool:
    """Of this rank, in part at least; lists of an evaluation get an item for each batch, alike or not."""
    if at.value.of("parameter"):
        return False  # a part of the model by another name, which stays that
    return at.extent not in WHOLE or (not at.fact.backward and at.grows)


def _is_read(at: LoopName) -> bool:
    return read_after(at.m.program, at.m.imports, at.loop, at.name, at.m.kept)


def _is_for_kernel(at: LoopName) -> bool:
    """Do later cells read it; or, since nobody knows which there will be, is it what the loop adds up or collects?"""
    program, training = at.m.program, at.fact.backward
    if read_after(program, at.m.imports, at.loop, at.name, {s.node for s in program.statements}):
        return True
    if not isinstance(at.loop, ast.For) or at.name in carried_reads(at.loop):  # it is for the loop itself
        return False
    if at.extent is Extent.MEAN and (training or not at.grows):
        return False  # a mean of all ranks it becomes where the run ends
    if not at.grows and (training or not forms([at.loop], at.name) & {"add", "cat"}):
        return False
    cell = {s.node for s in program.statements if s.cell == program.cell_of(at.loop)}
    return read_after(program, at.m.imports, at.loop, at.name, cell, at_end=True)


def _can_be_whole(at: LoopName) -> bool:
    return bool(behind(at) or (at.fact.backward and at.grows and _in_each_step(at)))


def _place(at: LoopName, own: bool) -> None:
    """After the loop, else where it is written; else nowhere, and it is reported where it is read."""
    m, fact, name, key = at.m, at.fact, at.name, (at.loop, at.name)
    if fact.backward and name in fact.chosen:  # of other batches on each rank: there is nothing to be put together
        m.set_plain(name, at.value.with_extent(Extent.VARYING))
        m.facts.unreduced[key] = Extent.VARYING
    elif how := behind(at):
        m.facts.at_source.pop(key, None)
        m.facts.unreduced.pop(key, None)
        in_place, number = how.in_place or not own, at.value.number and how.name == name
        assumed = any(v.of(ASSUMED) for v in (at.value, *at.inside))
        m.facts.reductions[key] = replace(how, in_place=in_place, number=number, assumed=assumed)
        _now_uniform(m, name, at.value, in_place=in_place or how.name != name)
    elif not own:  # where nothing is known of it behind the loop, there may be where it gets out
        return
    elif not fact.backward:
        m.facts.keep_whole.setdefault(fact.node, sentence("'%1' cannot be combined across ranks", name))
    else:
        m.facts.reductions.pop(key, None)  # each visit of the loop decides anew: the last one knows most of it
        m.facts.at_source[key] = _in_each_step(at)
        if m.facts.at_source[key]:
            _now_uniform(m, name, at.value)
        else:
            m.facts.unreduced[key] = at.extent


def _in_each_step(at: LoopName) -> Parts:
    apart = at.is_read_apart or at.is_uneven or at.has_other_names
    return () if apart else at_source(at.m, at.fact, at.name)


def _place_field(at: LoopName) -> None:
    """`self.losses.append(loss.item())`: nothing behind the loop sees what else it holds."""
    collects = at.value.objs == at.value.of("list", "dict") and at.extent not in WHOLE
    if collects and not at.is_read_apart and (parts := at_source(at.m, at.fact, at.name)):
        at.m.facts.at_source[at.loop, at.name] = parts
        at.m.make_uniform(at.value)


def _now_uniform(m: Machine, name: str, value: Value, *, in_place: bool = True) -> None:
    """Where it is another thing from then on, its other names are left with this rank's own."""
    if in_place:
        m.change(name, value.with_extent(Extent.UNIFORM))
    else:
        m.set_plain(name, replace(value.with_extent(Extent.UNIFORM), arrays=frozenset()))
    m.make_uniform(value)


def _place_counts(m: Machine, fact: LoopFact, one: Counting) -> None:
    """All that the object has counted, or nothing: what it makes of its counts has them together."""
    loop, own = fact.node, {field: value for field, value in m.facts.fields.of(one.obj) if value.varies}
    counts = own.keys() <= one.zeros and all(v.extent is Extent.SUM and not (v.objs or v.items) for v in own.values())
    if not counts and not fact.backward:
        m.facts.keep_whole.setdefault(loop, sentence("it collects values in '%1'", one.place))
    for field, value in sorted(own.items()):
        place = f"{one.place}.{field}"
        m.facts.reductions.pop((loop, place), None)
        if counts:
            parts = bool(m.assumed.splits) and value.equal and not value.of(FRACTION)
            m.facts.reductions[loop, place] = Reduction(loop, place, "sum", number=value.number, parts=parts)
            m.facts.fields[one.obj, field] = value.with_extent(Extent.UNIFORM)
