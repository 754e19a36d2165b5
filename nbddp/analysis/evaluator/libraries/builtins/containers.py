"""Lists, dictionaries and iterators that Python's own functions make."""

from __future__ import annotations

import ast

from nbddp.analysis.evaluator.iteration import goes_through_samples, iterate, loaders_in, only
from nbddp.analysis.evaluator.libraries.things import made_with
from nbddp.analysis.evaluator.writes import put_all
from nbddp.analysis.values import EACH, Args, Keywords, Machine, Obj, Value, join_all, marked, thing

LISTS = {"list", "set", "collections.deque"}


def partial(m: Machine, node: ast.Call, args: Args, keywords: Keywords) -> Value:
    made = m.make("partial", node)
    for obj in made.objs:
        for key, value in [*enumerate(args), *keywords.items()]:
            m.put(obj, f"given {key}", value)
    return made


def passed(m: Machine, node: ast.Call, name: str, first: Value, args: Args) -> Value:
    if name == "list" and not args:
        return m.make("list", node)
    if name in ("list", "tuple") and (first.of("instance") or any(map(_turns_rows, first.of("iterator")))):
        return made_with(m, m.make("list", node), {"[]": iterate(m, first, node)})
    if name in ("list", "tuple", "itertools.chain") and not first.of("loader", "iterator"):
        if name == "itertools.chain":
            return Value(join_all(args).objs, join_all(args).extent)
        return marked(first, EACH) if goes_through_samples(m, first, node) else first
    return iterator(m, node, name, first)


def _turns_rows(thing: Obj) -> bool:
    """`zip(*batch)`: the columns."""
    match thing.node:
        case ast.Call(args=[ast.Starred()]):
            return thing.name == "zip"
    return False


def iterator(m: Machine, node: ast.Call, name: str, source: Value) -> Value:
    """Of its own for each loader that the same `enumerate(loader)` goes through."""
    loaders = {o for part in (source, *(source.items or ())) for o in loaders_in(m, part)}
    return made_with(m, thing("iterator", node, name, only(loaders), m.frame.call), {"of": source})


def dict_call(m: Machine, node: ast.Call, given: Value, keywords: Keywords, counts: bool) -> Value:
    """Of names, of pairs, `dict(zip(names, batch))`, and of another one."""
    made = m.make("dict", node)
    if not (counts or given.of("dict", "class", "function", "library")) and (given.objs or given.items):
        pair = iterate(m, given, node)
        made_with(m, made, {"[]": pair.items[-1] if pair.items else m.elements(pair)})
    put_all(m, made, given)  # `dict(logs, epoch=epoch)`
    (obj,) = made.objs
    if counts:
        m.put(obj, "[]", Value(const=0))
    for key, value in keywords.items():
        m.put(obj, f"[{key!r}]", value)
        m.put(obj, "[]", value)
    return made
