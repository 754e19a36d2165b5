"""What a training loop keeps in a way that nothing behind the loop can put together: put together in each step instead.

`product *= loss.item()`, `scores[index] = output`, `log.append({"epoch": epoch, "loss": loss.item()})`: what goes in is
a mean, a sum or the samples of a share, and the ranks take the same steps. That costs an exchange a step, and is right.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.combining.outputs import lets_out
from nbddp.analysis.combining.rows import is_row, kept_whole, written_into
from nbddp.analysis.slicing import inside, root_name
from nbddp.analysis.values import OF_A_SHARE, PICKED, WHOLE, Extent, LoopFact, Machine, spread

HOW = {Extent.MEAN: "mean_over_ranks", Extent.SUM: "sum_over_ranks", Extent.SAMPLES: "gather_samples"}
ROUNDING = {"round", "numpy.round", "numpy.around", "torch.round", "int"}
WRITTEN = ("str", "repr", "format", "join", "round", "around")
Parts = tuple[tuple[ast.expr, str], ...]
Change = ast.Assign | ast.AugAssign | ast.Expr  # the last is `history.append(…)`


def at_source(m: Machine, fact: LoopFact, name: str) -> Parts:
    """What to put together, and how; nothing where not all of it can be."""
    if not isinstance(fact.node, ast.For) or fact.watched or fact.perhaps or fact.node in m.facts.mixed:
        return ()
    body = fact.node.body
    changes = [s for s in straight(m, body) if _adds_to(s, name)]
    own = {id(n) for s in changes for n in ast.walk(s)}
    elsewhere = [n for n in inside(body) if isinstance(n, ast.Name) and n.id == name and id(n) not in own]
    if not changes or elsewhere or not any(_keeps(s, name) for s in changes):
        return ()
    try:
        return tuple(part for s in changes for e in _taken_in(s, name) for part in parts_of(m, e, name))
    except NotUnderstood:
        return ()


class NotUnderstood(Exception):
    pass


def straight(m: Machine, body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements to which all ranks come together."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.With):
            yield from straight(m, statement.body)
        elif isinstance(statement, ast.If) and spread(m.facts.value(statement.test)) in WHOLE:
            yield from straight(m, [*statement.body, *statement.orelse])


def _adds_to(statement: ast.stmt, name: str) -> bool:
    if not isinstance(statement, Change) or (isinstance(statement, ast.Assign) and len(statement.targets) > 1):
        return False
    if isinstance(statement, ast.Expr):
        return _growing(statement, name) is not None
    target = _target(statement)
    item = isinstance(target, ast.Subscript) and isinstance(_whole(target.value), ast.Name)
    return root_name(target) == name and (isinstance(target, ast.Name) or item)


def _growing(statement: ast.Expr, name: str) -> ast.Call | None:
    """`log.append(row)`, `history["train"]["loss"].append(loss)`."""
    call = statement.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.keywords:
        return None
    place = call.func.value
    while isinstance(place, ast.Subscript):
        place = place.value
    itself = isinstance(place, ast.Name) and place.id == name
    return call if itself and call.func.attr in ("append", "extend") else None


def _whole(place: ast.expr) -> ast.expr:
    """`table` of `table.loc[row]`."""
    return place.value if isinstance(place, ast.Attribute) and place.attr in ("loc", "at", "iloc") else place


def _target(statement: ast.Assign | ast.AugAssign) -> ast.expr:
    return statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0]


def _keeps(statement: ast.stmt, name: str) -> bool:
    """Does what was there before go on to count? A name that each step sets anew is no such thing."""
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(statement.value))
    return True


def _taken_in(statement: ast.stmt, name: str) -> Iterator[ast.expr]:
    assert isinstance(statement, Change)
    if isinstance(statement, ast.Expr):
        call = _growing(statement, name)
        if call is not None:
            yield from (n.slice for n in ast.walk(call.func) if isinstance(n, ast.Subscript))
            yield from call.args
        return
    target = _target(statement)
    if isinstance(target, ast.Subscript):
        yield target.slice
    yield statement.value


def parts_of(m: Machine, node: ast.expr, name: str) -> Iterator[tuple[ast.expr, str]]:
    """The largest parts that can be put together."""
    if isinstance(node, ast.IfExp):
        raise NotUnderstood  # one side of it may not have been seen yet
    value = m.facts.value(node)
    extent = m.held(value)
    if (isinstance(node, ast.Name) and node.id == name) or (extent in WHOLE and not isinstance(node, ast.Slice)):
        return
    if extent is Extent.SAMPLES and (_is_one(node) or value.of(PICKED)):
        raise NotUnderstood  # it is taken for samples, and is one number; or the ranks have picked unlike many
    if isinstance(node, ast.Call) and _is_one(node) and m.held(m.facts.value(_asked(node))) is Extent.SAMPLES:
        raise NotUnderstood  # `loss.item()` of a loss that a module makes: how it adds up is not known
    if isinstance(node, ast.Name) and is_row(m, node):
        yield from _of_row(m, node, name)
        return
    mentions = any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))
    calls = any(isinstance(n, ast.Call) for n in ast.walk(node))  # what is made of samples may be a count
    leaf = isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and not calls
    if leaf and extent is Extent.SAMPLES and value.of(*OF_A_SHARE):
        raise NotUnderstood  # each is a part of its share, or stands in another dimension
    apart = _is_written(node, extent) or isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict)
    if extent in HOW and not mentions and not apart and (leaf or extent is not Extent.SAMPLES):
        split = extent is Extent.SAMPLES and bool(m.assumed.splits)
        yield node, "gather_part" if split else HOW[extent]
        return
    children = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr | ast.keyword)]
    if isinstance(node, ast.Call) and any(_asks_or_tells(m, body) for body in m.facts.calls[node].bodies):
        raise NotUnderstood  # there the ranks combine it themselves
    if isinstance(node, ast.Call):  # not the method, but what it is called on
        children[0:1] = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    if isinstance(node, ast.Lambda | ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp) or not children:
        raise NotUnderstood
    for child in children:
        yield from parts_of(m, child.value if isinstance(child, ast.keyword) else child, name)


def _asks_or_tells(m: Machine, body: ast.AST) -> bool:
    """Does the function decide by a number of the share, or show one?"""
    calls = (m.facts.calls.get(n) for n in ast.walk(body) if isinstance(n, ast.Call))
    return any(n in m.assumed.agreed for n in ast.walk(body)) or any(c is not None and lets_out(c) for c in calls)


def _of_row(m: Machine, row: ast.Name, name: str) -> Iterator[tuple[ast.expr, str]]:
    made_of = written_into(m, row)
    if made_of is not None:
        for node in made_of:
            yield from parts_of(m, node, name)
    elif kept_whole(m, row):
        yield row, HOW[Extent.MEAN]
    else:
        raise NotUnderstood


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "item"


def _asked(call: ast.Call) -> ast.expr:
    return call.func.value if isinstance(call.func, ast.Attribute) else call


def _is_written(node: ast.expr, extent: Extent) -> bool:
    """What a number is written into, or rounded by; the number in it is what can be put together."""
    called = node.func if isinstance(node, ast.Call) else None
    word = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return isinstance(node, ast.JoinedStr | ast.FormattedValue) or word in WRITTEN + ("int",) * (extent is Extent.MEAN)
