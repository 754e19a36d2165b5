"""What a loop over this rank's share leaves behind, and how it becomes the number of one process."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.combining.each_step import at_source
from nbddp.analysis.combining.filled_by_callees import handed_on, read_by_called
from nbddp.analysis.combining.items import item_of, zero_before
from nbddp.analysis.combining.lists_of_samples import fills_by_sample
from nbddp.analysis.combining.object_fields import kept_by_objects
from nbddp.analysis.combining.split_evaluations import undealable
from nbddp.analysis.slicing import (
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
from nbddp.analysis.values import (
    ASSUMED,
    OF_A_SHARE,
    PICKED,
    WHOLE,
    Extent,
    LoopFact,
    Machine,
    Reduction,
    Value,
    is_uneven,
    is_zero,
    join_extent,
    spread,
)
from nbddp.sentence import sentence

DEPTH = 4  # of containers in containers


def leave_loop(m: Machine, fact: LoopFact) -> None:
    """Note for each name that is read after the loop how it is reduced; from then on it is the same on all ranks."""
    loop = fact.node
    if loop in m.assumed.whole or not isinstance(loop, ast.For | ast.AsyncFor | ast.While):
        return
    handed = handed_on(m, loop)
    own = changed_names([loop])
    if not fact.backward and (reason := undealable(m, fact, own | set(handed))):
        m.facts.keep_whole.setdefault(loop, reason)
        return
    for name in sorted(own | set(handed)):
        value = m.lookup(name)
        holds = value is not None and bool(value.of("list", "dict"))
        grows = holds and not fact.backward and _grows(loop, name, handed.get(name, set()))
        if (
            value is None
            or not (grows or _varies(m, value))
            or not read_after(m.program, m.imports, loop, name, m.kept)
        ):
            continue
        if fact.backward and name in fact.chosen:  # of other batches on each rank: there is nothing to be put together
            m.set_plain(name, value.with_extent(Extent.VARYING))
            m.facts.unreduced[loop, name] = Extent.VARYING
            continue
        how = _behind(m, fact, name, value, handed.get(name, set()))
        if name not in own:  # where nothing is known of it behind the loop, there may be where it gets out
            if how is None:
                continue
            how = replace(how, in_place=True)
        if how is None and not fact.backward:
            m.facts.keep_whole.setdefault(loop, sentence("'%1' cannot be combined across ranks", name))
        elif how is None:
            # each visit of the loop decides anew: the last one knows most of it
            m.facts.reductions.pop((loop, name), None)
            apart = _is_read_apart(m, fact, name, value) or _is_uneven(m, value)
            m.facts.at_source[loop, name] = () if apart else at_source(m, fact, name)
            if m.facts.at_source[loop, name]:
                _now_uniform(m, name, value)
            else:
                m.facts.unreduced[loop, name] = _extent(m, value)
        else:
            number = value.number and how.name == name
            m.facts.at_source.pop((loop, name), None)
            m.facts.unreduced.pop((loop, name), None)
            m.facts.reductions[loop, name] = replace(how, number=number, assumed=_is_assumed(m, value))
            _now_uniform(m, name, value)
    _of_objects(m, fact)


def _grows(loop: ast.stmt, name: str, elsewhere: set[str]) -> bool:
    """By an item for each batch that a rank has, alike or not: `seen.append(1)`."""
    return bool((forms([loop], name) | elsewhere) & {"append", "extend"})


def _of_objects(m: Machine, fact: LoopFact) -> None:
    for text, parts, held in kept_by_objects(m, fact) if fact.backward else ():
        m.facts.at_source[fact.node, text] = parts
        m.make_uniform(held)


def _is_assumed(m: Machine, value: Value) -> bool:
    inner = [m.get(o, "[]") or Value() for o in value.of("list", "dict")]
    return any(v.of(ASSUMED) for v in (value, *inner))


def _varies(m: Machine, value: Value) -> bool:
    return _extent(m, value) not in WHOLE


def _extent(m: Machine, value: Value, depth: int = 0) -> Extent:
    extent = spread(value)
    for inner in _inner(m, value) if depth < DEPTH else ():
        extent = join_extent(extent, _extent(m, inner, depth + 1))
    return extent


def _inner(m: Machine, value: Value) -> list[Value]:
    held = [item for item in value.items or () if item.of("list", "dict")]
    return held + [inner for obj in value.of("list", "dict") if (inner := m.get(obj, "[]")) is not None]


def _behind(m: Machine, fact: LoopFact, name: str, value: Value, elsewhere: set[str]) -> Reduction | None:
    """How it is put together behind the loop, if that can be done there for all who read it."""
    how = _how(m, fact, name, value, elsewhere)
    assert isinstance(fact.node, ast.stmt)
    if how is not None and how.name == name and not how.in_place:
        if is_outer(m.program, fact.node, name, value.number):
            filled = bool(value.of("list", "dict")) or fills_items(fact.node, name)
            how = replace(how, in_place=True) if filled else None
    if fact.backward and may_skip_end(m.program, fact.node, name):
        return None
    return None if _is_read_apart(m, fact, name, value) else how


def _is_read_apart(m: Machine, fact: LoopFact, name: str, value: Value) -> bool:
    """By a function that the training calls: it puts together what it shows of a sum, there and behind the loop."""
    return fact.backward and _extent(m, value) is not Extent.MEAN and read_by_called(m, fact.node, name)


def _how(m: Machine, fact: LoopFact, name: str, value: Value, elsewhere: set[str]) -> Reduction | None:
    loop = fact.node
    assert isinstance(loop, ast.For | ast.AsyncFor | ast.While)
    start = fresh_start(m.program, loop, name)
    ways = forms([loop], name) | elsewhere
    holds = any(v.of("list", "dict") for v in (value, *(value.items or ())))
    extent = _extent(m, value)
    if ways == {"item"} and (start is None or not starts_at_zero(start, name)):
        return _how_item(m, fact, name, extent)
    if elsewhere == {"item"} == ways and extent is Extent.MEAN and fact.backward:
        return Reduction(loop, name, "mean")
    if extent is Extent.SUM and _counts_beside(m, value):
        return None
    apart = OF_A_SHARE if fact.backward else (PICKED,)
    picked = any(v.of(*apart) for v in (value, *_inner(m, value)))
    if picked and holds and (fact.backward or ways != {"append"}):
        return None
    if not fact.backward and fills_by_sample(m, loop, name) is False:
        return None
    if fact.backward and (each := fills_by_sample(m, loop, name)) is not None:
        one_each = (
            each and start is not None and is_empty(start, name) and ways == {"append"} and not _is_mixed(m, value)
        )
        known = one_each and extent is not Extent.VARYING and not m.assumed.splits
        return Reduction(loop, name, "gather_samples") if known else None
    if fact.backward and _is_uneven(m, value):
        return None
    if fact.backward:
        found = _how_training(loop, name, start, ways, holds, extent, _is_mixed(m, value))
        return _of_splits(found) if m.assumed.splits else found
    return _how_evaluation(loop, name, start, ways, holds, extent)


def _counts_beside(m: Machine, value: Value) -> bool:
    """`sums[0] += hits; sums[1] += 1`: steps are counted alike on all ranks, and are not added up."""
    holders = value.of("list", "dict")
    keyed = [v for (obj, key), v in m.facts.fields.items() if obj in holders and key != "[]"]
    return any(item.extent in WHOLE and not is_zero(item) for item in (*(value.items or ()), *keyed))


def _is_uneven(m: Machine, value: Value) -> bool:
    """Lists that are longer on one rank than on another, and dictionaries of such."""
    return any(is_uneven(m.facts, v) for v in (value, *_inner(m, value)))


def _is_mixed(m: Machine, value: Value) -> bool:
    """`history.append((epoch, loss))`: of numbers that are the same on all ranks a mean would make other numbers."""
    rows = [row for row in _inner(m, value) if row.items or row.of("list", "dict")]
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


def _how_training(
    loop: ast.stmt, name: str, start: ast.stmt | None, ways: set[str], holds: bool, extent: Extent, mixed: bool
) -> Reduction | None:
    """All ranks take the same steps on shares of equal size: means stay means, sums add up."""
    assert isinstance(loop, ast.For | ast.AsyncFor | ast.While)
    if extent is Extent.MEAN:
        if holds:  # a mean of means that were made before changes nothing, so a history may go on growing
            known = ways <= {"append", "extend", "item append", "item"} and not mixed
            return (
                Reduction(loop, name, "mean", in_place=start is None or ways not in ({"item append"}, {"item"}))
                if known
                else None
            )
        return Reduction(loop, name, "mean")
    if start is None:
        return None
    if extent is Extent.SUM:
        if holds:
            counts = ways == {"item"} and starts_at_zero(start, name)
            lists = ways == {"append"} and is_empty(start, name) and not mixed
            return Reduction(loop, name, "sum") if counts or lists else None
        return Reduction(loop, name, "sum") if ways == {"set"} or starts_at_zero(start, name) else None
    if extent is Extent.SAMPLES and is_empty(start, name):
        if ways == {"append"}:
            return Reduction(loop, name, "gather_batches")
        return Reduction(loop, name, "gather_samples") if ways in ({"extend"}, {"add"}, {"cat"}) else None
    return None


def _of_splits(found: Reduction | None) -> Reduction | None:
    """Of a batch that is split, the ranks may have unlike parts: where each ends is known while it is a thing apart."""
    if found is None or not found.how.startswith("gather"):
        return found
    return replace(found, how="gather_parts") if found.how == "gather_batches" else None


def _how_evaluation(
    loop: ast.stmt, name: str, start: ast.stmt | None, ways: set[str], holds: bool, extent: Extent
) -> Reduction | None:
    """Each rank has some of the batches that one process would have: what is added up is added up over ranks."""
    assert isinstance(loop, ast.For | ast.AsyncFor | ast.While)
    if start is None:
        return None
    if holds and ways <= {"append", "extend", "add"} and is_empty(start, name):
        return Reduction(loop, name, "gather")
    if ways == {"cat"} and is_empty(start, name):
        return Reduction(loop, name, "gather")
    if ways and ways <= {"add", "item"} and starts_at_zero(start, name):
        return Reduction(loop, name, "sum")
    return None


def _now_uniform(m: Machine, name: str, value: Value) -> None:
    m.set_plain(name, value.with_extent(Extent.UNIFORM))
    m.make_uniform(value)
