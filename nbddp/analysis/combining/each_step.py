"""What a training loop keeps in a way that nothing behind it can put together: put together in each step instead.

`product *= loss.item()`, `scores[index] = output`, `self.log.append({"epoch": epoch, "loss": loss.item()})`: what goes
in is a mean, a sum or the samples of a share, and the ranks take the same steps. That costs an exchange a step.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.combining.outputs import lets_out
from nbddp.analysis.combining.parts import WAYS, Part, Place, parts
from nbddp.analysis.combining.records import given_to, is_shown, written_with
from nbddp.analysis.combining.writes import Write, fillings, is_place, read_by_called, uses, write_of
from nbddp.analysis.slicing import inside
from nbddp.analysis.syntax import blocks_around, walk
from nbddp.analysis.values import WHOLE, Extent, Facts, LoopFact, Machine, spread

Loops = ast.For | ast.AsyncFor | ast.While
Parts = tuple[tuple[ast.expr, str], ...]


def at_source(m: Machine, fact: LoopFact, place: str) -> Parts:
    """What to put together of what goes into a name or a field, and how; nothing where not all of it can be."""
    loop = fact.node
    if not isinstance(loop, ast.For) or fact.watched or fact.perhaps:
        return ()
    found = {s: w for s in straight(m.facts, loop.body) if (w := write_of(s)) and is_place(w.place, place)}
    own = {n for s in found for n in walk(s)}
    if not any(w.keeps for w in found.values()) or _others_write(m, loop, [*found.values()], own):
        return ()
    at = Place(m.program, m.facts, m.assumed, lambda name: _of_row(m, name, place), place)
    combined = [(part, way) for w in found.values() for e in w.taken for part, way in parts(at, e)]
    read = [n for n in inside(loop.body) if n not in own and is_place(n, place)]
    if not all(_is_looked_at(m, n) for n in read):
        return ()
    ways = {WAYS[Extent.MEAN]} if read else {*WAYS.values(), "gather_part"}  # a mean of means is what it was
    return tuple((part, way) for part, way in combined if way) if {way for _, way in combined} <= ways else ()


def _is_looked_at(m: Machine, read: ast.AST) -> bool:
    """`print(log["loss"][-1])`, `f"{log['loss'][-1]:.3f}"`: by no other name from then on."""
    outer = m.program.parents[read]
    while isinstance(outer, ast.Subscript):
        outer = m.program.parents[outer]
    call = m.facts.calls.get(outer) if isinstance(outer, ast.Call) else None
    return isinstance(outer, ast.FormattedValue | ast.BinOp | ast.Compare) or (call is not None and lets_out(call))


def fields_that_grow(m: Machine, loop: ast.stmt) -> dict[str, ast.Attribute]:
    """By their text."""
    found = [w.place for s in straight(m.facts, loop.body) if (w := write_of(s))] if isinstance(loop, Loops) else []
    return {ast.unparse(place): place for place in found if isinstance(place, ast.Attribute)}


def straight(facts: Facts, body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements to which all ranks come together."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.With):
            yield from straight(facts, statement.body)
        elif isinstance(statement, ast.If) and spread(facts.value(statement.test)) in WHOLE:
            yield from straight(facts, [*statement.body, *statement.orelse])


def _others_write(m: Machine, loop: ast.For, own: list[Write], nodes: set[ast.AST]) -> bool:
    """Into the same container by another name, or in a function that the loop calls."""
    things = {o for w in own for o in m.facts.value(w.place).of("list", "dict")}
    return any(n not in nodes and loop in m.facts.calls[n].loops for n in fillings(m.facts, things)
               if isinstance(n, ast.Call))  # fmt: skip


def _of_row(m: Machine, row: ast.Name, place: str) -> Iterator[Part] | None:
    """What it is made of can be combined there: then all who are given it find the same."""
    value = m.facts.value(row)
    if not (value.items or value.of("list", "dict")):
        return None
    loop = next(a for a in m.program.ancestors(row) if isinstance(a, Loops))
    found = uses(m.program, inside(loop.body), row.id)
    made_of = written_with(found)
    others = [] if isinstance(found.made, ast.Tuple) else [r for r in found.read if _is_given(m, r)]  # by its name only
    together = made_of is not None and all(_beside(m, e, row) for e in made_of)
    alone = {*found.read} <= {row, *others} and not read_by_called(m.facts, loop, row.id)
    if made_of is not None and together and alone:
        at = Place(m.program, m.facts, m.assumed, lambda name: _of_row(m, name, place), place)
        return (part for node in made_of for part in parts(at, node))
    mean = m.held(value) is Extent.MEAN and found.read == (row,) and not found.put
    return iter(
        [(row, WAYS[Extent.MEAN] if mean else None)]
    )  # means of what is the same on all ranks are what they were


def _is_given(m: Machine, read: ast.Name) -> bool:
    call = given_to(m.program, m.facts, read)
    keeps = call is not None and getattr(call.node.func, "attr", "") == "append"
    return keeps or is_shown(m.program, m.facts, read)


def _beside(m: Machine, node: ast.AST, other: ast.AST) -> bool:
    return blocks_around(m.program, node) == blocks_around(m.program, other)
