"""Functions that are given to one of Python's own: `map`, `reduce`."""

from __future__ import annotations

import ast
from contextlib import ExitStack

from nbddp.analysis.evaluator.classes import line_of
from nbddp.analysis.evaluator.iteration import as_often_as, iterate, loaders_in
from nbddp.analysis.values import (
    EACH,
    PICKED,
    WHOLE,
    Args,
    Extent,
    Machine,
    Value,
    holds_own,
    join,
    join_all,
    marked,
    note_size,
    spread,
)


def over_items(m: Machine, node: ast.Call, args: Args) -> Value:
    """`functools.reduce(function, items, start)`: what has come so far goes in again."""
    item = iterate(m, args[1], node)
    found = args[2] if len(args) > 2 else item
    for _ in range(2):
        found = join(found, m.steps.call(m, node, args[0], None, [found, item], {}))
    return found.with_extent(Extent.VARYING) if m.held(found) not in WHOLE else found


def _item(m: Machine, node: ast.Call, of: Value) -> Value:
    """Of a loader that no loop draws from: a whole batch."""
    loaders = loaders_in(m, of)
    m.facts.drawn[node] |= loaders
    found = iterate(m, of, node)
    return found.with_extent(Extent.REPEATED) if loaders and loaders <= m.assumed.unshared else found


def _asked(m: Machine, function: Value, item: Value) -> Value:
    """What a function of the notebook says of it; what comes of the call is something else."""
    functions = sorted(function.of("function", "method"), key=line_of)
    return join_all(m.steps.function(m, one, [item], {}, None) for one in functions)


def filtered(m: Machine, node: ast.Call, args: Args) -> Value:
    """As many as a rank finds, where it asks its own numbers."""
    asked = _asked(m, args[0], iterate(m, args[1], node))
    if asked.extent in (*WHOLE, Extent.SAMPLES):
        return marked(args[1], PICKED) if asked.extent is Extent.SAMPLES and args[1].of(EACH) else args[1]
    made = m.make("list", node)
    note_size(m.facts, made.objs)
    for obj in made.objs:
        m.put(obj, "[]", iterate(m, args[1], node))
    return made


def by_key(m: Machine, node: ast.Call, args: Args, key: Value | None) -> Value | None:
    """`sorted(range(n), key=lambda i: losses[i])`: each rank by its own."""
    if key is None or not args:
        return None
    item = iterate(m, args[0], node)
    if _asked(m, key, item).extent in (*WHOLE, Extent.SAMPLES) and not _looks_up(m, node):
        return None
    made = m.make("list", node)
    for obj in made.objs:
        m.put(obj, "[]", item.with_extent(Extent.VARYING))
    return made if ast.unparse(node.func) == "sorted" else item.with_extent(Extent.VARYING)


def _looks_up(m: Machine, call: ast.Call) -> bool:
    """`key=losses.__getitem__`, in what a rank has of its own."""
    keys = (k.value for k in call.keywords if k.arg == "key")
    looked = (m.facts.value(k.value) for k in keys if isinstance(k, ast.Attribute))
    return any(v.of("list", "dict") and holds_own(m.facts, v) for v in looked)


def mapped(m: Machine, node: ast.Call, args: Args) -> Value:
    with ExitStack() as around:
        for given in args[1:]:
            around.enter_context(as_often_as(m, given, node))
        result = m.steps.call(m, node, args[0], None, [_item(m, node, a) for a in args[1:]], {})
        if spread(result) is Extent.MEAN and any(spread(given) is Extent.SAMPLES for given in args[1:]):
            result = result.with_extent(Extent.VARYING)  # of one sample each
        made = m.make("list", node)
        note_size(m.facts, made.objs if m.context.of_share else ())
    for obj in made.objs:
        m.put(obj, "[]", result)
    return made
