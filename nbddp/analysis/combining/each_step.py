"""What a training loop keeps in a way that nothing behind it can put together: put together in each step instead.

`product *= loss.item()`, `scores[index] = output`, `self.log.append({"epoch": epoch, "loss": loss.item()})`: what goes
in is a mean, a sum or the samples of a share, and the ranks take the same steps. That costs an exchange a step.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.combining.outputs import lets_out
from nbddp.analysis.combining.records import given_to, is_shown, written_with
from nbddp.analysis.combining.writes import Write, fillings, is_place, read_by_called, uses, write_of
from nbddp.analysis.slicing import inside
from nbddp.analysis.syntax import blocks_around
from nbddp.analysis.values import OF_A_SHARE, PICKED, PLACED, WHOLE, Extent, LoopFact, Machine, spread

HOW = {Extent.MEAN: "mean_over_ranks", Extent.SUM: "sum_over_ranks", Extent.SAMPLES: "gather_samples"}
ROUNDING = {"round", "numpy.round", "numpy.around", "torch.round", "int"}
WRITTEN = ("str", "repr", "format", "join", "round", "around")
NESTED = ast.Lambda | ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp
Loops = ast.For | ast.AsyncFor | ast.While
Parts = tuple[tuple[ast.expr, str], ...]


class NotUnderstood(Exception):
    pass


def at_source(m: Machine, fact: LoopFact, place: str) -> Parts:
    """What to put together of what goes into a name or a field, and how; nothing where not all of it can be."""
    loop = fact.node
    if not isinstance(loop, ast.For) or fact.watched or fact.perhaps or loop in m.facts.mixed:
        return ()
    found = {s: w for s in straight(m, loop.body) if (w := write_of(s)) and is_place(w.place, place)}
    own = {n for s in found for n in ast.walk(s)}
    elsewhere = any(n not in own and is_place(n, place) for n in inside(loop.body))
    if elsewhere or not any(w.keeps for w in found.values()) or _others_write(m, loop, [*found.values()], own):
        return ()
    try:
        return tuple(part for w in found.values() for e in w.taken for part in parts_of(m, e, place))
    except NotUnderstood:
        return ()


def fields_that_grow(m: Machine, loop: ast.stmt) -> dict[str, ast.Attribute]:
    """By their text."""
    found = [w.place for s in straight(m, loop.body) if (w := write_of(s))] if isinstance(loop, Loops) else []
    return {ast.unparse(place): place for place in found if isinstance(place, ast.Attribute)}


def straight(m: Machine, body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements to which all ranks come together."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.With):
            yield from straight(m, statement.body)
        elif isinstance(statement, ast.If) and spread(m.facts.value(statement.test)) in WHOLE:
            yield from straight(m, [*statement.body, *statement.orelse])


def _others_write(m: Machine, loop: ast.For, own: list[Write], nodes: set[ast.AST]) -> bool:
    """Into the same container by another name, or in a function that the loop calls."""
    things = {o for w in own for o in m.facts.value(w.place).of("list", "dict")}
    return any(n not in nodes and loop in m.facts.calls[n].loops for n in fillings(m.facts, things)
               if isinstance(n, ast.Call))  # fmt: skip


def parts_of(m: Machine, node: ast.expr, place: str) -> Iterator[tuple[ast.expr, str]]:
    """The largest parts that can be put together."""
    if isinstance(node, ast.IfExp):
        raise NotUnderstood  # one side of it may not have been seen yet
    value = m.facts.value(node)
    extent = m.held(value)
    if is_place(node, place) or (extent in WHOLE and not isinstance(node, ast.Slice)):
        return
    if _is_unclear(m, node, extent):
        raise NotUnderstood
    if isinstance(node, ast.Name) and (value.items or value.of("list", "dict")):
        yield from _of_row(m, node, place)
        return
    apart = _is_written(node, extent) or isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict)
    whole = _is_leaf(node) and not value.of(PLACED)  # `out[0]`: of all samples, not of each share
    known = extent in HOW and not apart and (whole or extent is not Extent.SAMPLES)
    if known and not any(is_place(n, place) for n in ast.walk(node)):
        split = extent is Extent.SAMPLES and bool(m.assumed.splits)
        yield node, "gather_part" if split else HOW[extent]
        return
    for child in _children(m, node):
        yield from parts_of(m, child, place)


def _children(m: Machine, node: ast.expr) -> list[ast.expr]:
    """Of a call not the method, but what it is called on."""
    found = [n.value if isinstance(n, ast.keyword) else n for n in ast.iter_child_nodes(node)]
    if isinstance(node, ast.Call):
        found[0:1] = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        if any(_asks_or_tells(m, body) for body in m.facts.calls[node].bodies):
            raise NotUnderstood  # there the ranks combine it themselves
    parts = [n for n in found if isinstance(n, ast.expr)]
    if isinstance(node, NESTED) or not parts:
        raise NotUnderstood
    return parts


def _is_unclear(m: Machine, node: ast.expr, extent: Extent) -> bool:
    """Is it taken for samples, and is one number, some of them, or a part of its share, or do others turn it?"""
    value = m.facts.value(node)
    if extent is Extent.SAMPLES and (_is_one(node) or value.of(PICKED)):
        return True
    if _is_one(node) and m.held(m.facts.value(_asked(node))) is Extent.SAMPLES:
        return True  # `loss.item()` of a loss that a module makes: how it adds up is not known
    return extent is Extent.SAMPLES and _is_leaf(node) and bool(value.of(*OF_A_SHARE))


def _is_leaf(node: ast.expr) -> bool:
    """What is made of samples by a call may be a count."""
    calls = any(isinstance(n, ast.Call) for n in ast.walk(node))
    return isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and not calls


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "item"


def _asked(call: ast.expr) -> ast.expr:
    return call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else call


def _asks_or_tells(m: Machine, body: ast.AST) -> bool:
    """Does the function decide by a number of the share, or show one?"""
    calls = (m.facts.calls.get(n) for n in ast.walk(body) if isinstance(n, ast.Call))
    return any(n in m.assumed.agreed for n in ast.walk(body)) or any(c is not None and lets_out(c) for c in calls)


def _is_written(node: ast.expr, extent: Extent) -> bool:
    """What a number is written into, or rounded by; the number in it is what can be put together."""
    called = node.func if isinstance(node, ast.Call) else None
    word = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return isinstance(node, ast.JoinedStr | ast.FormattedValue) or word in WRITTEN + ("int",) * (extent is Extent.MEAN)


def _of_row(m: Machine, row: ast.Name, place: str) -> Iterator[tuple[ast.expr, str]]:
    """What it is made of can be put together there: then all who are given it find the same."""
    loop = next(a for a in m.program.ancestors(row) if isinstance(a, Loops))
    found = uses(m.program, inside(loop.body), row.id)
    made_of = written_with(found)
    others = [] if isinstance(found.made, ast.Tuple) else [r for r in found.read if _is_given(m, r)]  # by its name only
    together = made_of is not None and all(_beside(m, e, row) for e in made_of)
    if (
        made_of is not None
        and together
        and {*found.read} <= {row, *others}
        and not read_by_called(m.facts, loop, row.id)
    ):
        for node in made_of:
            yield from parts_of(m, node, place)
    elif m.held(m.facts.value(row)) is Extent.MEAN and found.read == (row,) and not found.put:
        yield row, HOW[Extent.MEAN]  # means of what is the same on all ranks are what they were
    else:
        raise NotUnderstood


def _is_given(m: Machine, read: ast.Name) -> bool:
    call = given_to(m.program, m.facts, read)
    keeps = call is not None and getattr(call.node.func, "attr", "") == "append"
    return keeps or is_shown(m.program, m.facts, read)


def _beside(m: Machine, node: ast.AST, other: ast.AST) -> bool:
    return blocks_around(m.program, node) == blocks_around(m.program, other)
