"""What is written into things that others may hold: arrays, objects of libraries, parameters of models."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace

from nbddp.analysis.library import Effect, effect_of
from nbddp.analysis.slicing import fresh_names, sets
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import (
    DRAWN,
    FIELDS_OF,
    GLOBALS,
    PICKED,
    SOURCES,
    WHOLE,
    Active,
    Extent,
    Machine,
    Obj,
    Value,
    contents,
    from_afar,
    is_foreign,
    is_uneven,
    spread,
)

GROWS = ("append", "extend", "appendleft")


def taint(m: Machine, holder: ast.expr, extent: Extent) -> None:
    """Give a variable or a field another extent; an element of it stands for the whole."""
    inside = isinstance(holder, ast.Subscript)
    while isinstance(holder, ast.Subscript):
        holder = holder.value
    if isinstance(holder, ast.Name):
        old = m.lookup(holder.id)
        for obj in old.of("list", "dict") if inside and old is not None else ():  # `self` of a dictionary's class too
            m.put(obj, "[]", Value(extent=extent))
        if old is not None:
            own = m.frame.node is None or holder.id in m.frame.local
            extent = extent if own else from_afar(old, extent)
            m.change(holder.id, replace(old, extent=extent, items=None, const=None))
    elif isinstance(holder, ast.Attribute):
        owners = m.facts.value(holder.value).objs
        for obj in owners:
            arrays = (m.get(obj, holder.attr) or Value()).arrays
            m.put(obj, holder.attr, Value(extent=extent, arrays=arrays))
            m.change_arrays(arrays, extent)
        if not owners:  # `table.loc[…]`: of a thing of a library
            taint(m, holder.value, Extent.VARYING)
    else:
        m.change_arrays(m.facts.value(holder).arrays, extent)


def was_there(m: Machine, place: ast.expr, loop: Callable[[Active], bool]) -> bool:
    """Before the turn of such a loop that runs, if one does: what is made anew in each turn ends with it."""
    around = _around(m, loop)
    if around is None:
        return False
    while isinstance(place, ast.Subscript):
        place = place.value
    if isinstance(place, ast.Name):
        outer, known = m.frame.global_names | m.frame.outer_names, m.lookup(place.id) or Value()
        if made := known.arrays | known.of("list", "dict"):
            return were_there(m, made, loop)
        here = m.frame.node is None or place.id in outer or around in {*walk(m.frame.node)}
        return here and not (is_restarted(around, place) and place.id in fresh_names(around))
    owners = m.facts.value(place.value).objs if isinstance(place, ast.Attribute) else frozenset()
    return not owners or were_there(m, owners, loop)


def were_there(m: Machine, things: frozenset[Obj], loop: Callable[[Active], bool]) -> bool:
    """The things themselves, by whatever name."""
    around = _around(m, loop)
    inside = {*walk(around)} if around is not None else set[ast.AST]()
    return around is not None and any(not {o.node, o.site} & inside for o in things)


def _around(m: Machine, loop: Callable[[Active], bool]) -> ast.AST | None:
    return next((a.fact.node for a in reversed(m.loops) if loop(a)), None)


def is_restarted(loop: ast.AST, place: ast.expr) -> bool:
    """Set anew in the loop, perhaps under a condition: then it is neither a number of turns nor surely of one."""
    found = place.id if isinstance(place, ast.Name) else ""
    return bool(found) and any(isinstance(n, ast.stmt) and _sets_anew(n, found) for n in walk(loop))


def _sets_anew(statement: ast.stmt, name: str) -> bool:
    """Not from what it was: `k = k + 1`."""
    value = getattr(statement, "value", None)
    known = walk(value) if isinstance(value, ast.AST) else ()
    return sets(statement, name) and not any(isinstance(n, ast.Name) and n.id == name for n in known)


def write_into(m: Machine, node: ast.Call, name: str, args: list[Value], keywords: dict[str, Value]) -> None:
    """`heapq.heappush(best, loss)`, `numpy.add.at(counts, y, 1)`, `torch.add(a, b, out=a)`."""
    for target in (k.value for k in node.keywords if k.arg == "out"):
        moved_by_hand(m, target, args)
    func, held = node.func, [m.held(v) for v in (*args, *keywords.values())]
    if isinstance(func, ast.Attribute) and func.attr in GROWS and is_foreign(name) and {*held} - {*WHOLE}:
        taint(m, func.value, Extent.VARYING)  # `config.history.append(loss)`, a list of a module that is not read
    given = [m.held(v) for v in (*args[1:], *keywords.values())]
    turns = [k.value for k in node.keywords if k.arg == "out" and was_there(m, k.value, lambda a: a.deals)]
    if all(e in WHOLE for e in given) and not turns:
        return
    effect = effect_of(name).effect
    if effect is Effect.UNKNOWN:
        hand_over(m, node, args, keywords)
    out = [k.value for k in node.keywords if k.arg == "out"]
    changes = effect is Effect.CHANGES or (name.startswith("numpy.") and name.endswith(".at"))
    first = node.args[:1] if changes else []
    for holder in (*out, *first):
        for obj in m.facts.value(holder).of("list", "dict"):
            m.put(obj, "[]", Value(extent=Extent.VARYING))
        if not m.facts.value(holder).objs:
            taint(m, holder, Extent.VARYING)


def hand_over(m: Machine, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> None:
    """`stack.callback(log.append, loss)`: who gets a function and numbers of a share may call it with them."""
    given = [*args, *keywords.values()]
    own = [v for v in given if m.held(v) not in WHOLE]
    for function in [v for v in given if v.of("function", "method", "bound")] if own else ():
        m.steps.call(m, node, Value(function.of("function", "method", "bound")), None, own, {})


def put_element(m: Machine, container: Value, value: Value, key: object = None) -> None:
    for obj in container.objs:
        if key is not None:
            m.put(obj, f"[{key!r}]", value)
        if key is None or not (obj.name == FIELDS_OF or obj.node is GLOBALS):  # where any may be meant
            m.put(obj, "[]", value)
        if key is None and obj.kind == "dict":  # any of those that are known
            for known in [f for f, _ in m.facts.fields.of(obj) if f.startswith("[") and f != "[]"]:
                m.put(obj, known, value)


def grows_apart(m: Machine, given: Value) -> bool:
    """Does what is extended by it become longer on one rank than on another?"""
    return m.context.own_turns or is_uneven(m.facts, given) or bool(given.of(PICKED))


def put_all(m: Machine, into: Value, other: Value) -> Value:
    """What one dictionary has, into another."""
    for (owner, name), value in list(m.facts.fields.items()):
        for obj in into.of("dict") if owner in other.of("dict") else ():
            m.put(obj, name, value)
    return into


SAME_STORAGE = frozenset({"data", "detach", "view", "flatten", "view_as", "reshape"})
PARTS = frozenset({"state_dict", "parameters"})


def moved_by_hand(m: Machine, target: ast.expr, by: Iterable[Value] = (), was: Value | None = None) -> None:
    """Note the models to which it belongs: `p` of `model.parameters()`, also as `p.data` or `p[0]`.

    `was` is what stood there, where the target itself was not evaluated.
    """
    moved = target
    if isinstance(target, ast.Attribute) and was is not None and was.of("parameter"):
        _moved(m, moved, was, by)
        return
    while True:
        if isinstance(target, ast.Attribute) and target.attr in (*SAME_STORAGE, "grad", "state"):
            target = target.value
        elif isinstance(target, ast.Subscript):
            target = target.value
        elif isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute):
            if target.func.attr not in SAME_STORAGE | PARTS and not target.func.attr.endswith("_"):
                return
            target = target.func.value
        else:
            break
    value = m.lookup(target.id) if isinstance(target, ast.Name) else m.facts.values.get(target)
    _moved(m, moved, value or Value(), by)


def _moved(m: Machine, target: ast.expr, value: Value, by: Iterable[Value]) -> None:
    inside = contents(m.facts, value, {"list": "[]", **SOURCES})
    owners = {o.owner or o for v in inside for o in v.of("params", "parameter", "submodule", "model")}
    apart = m.sharing() and (m.context.of_share or any(_is_own(m, value, v) for v in by))
    for obj in owners:
        alone = obj.kind == "parameter" and not value.varies  # `w.grad = …`, of what is in no model
        if obj.kind != "model" and not alone:
            continue
        m.facts.changed[obj].update(a.fact.node for a in m.loops)
        if m.sharing() and not m.context.forward:
            m.facts.moved.add(target)
        if apart and (value.of("parameter", "params") or not m.context.forward):
            m.facts.moved_apart.add(target)
    if apart and value.of("optimizer"):  # `optimizer.state[p]["momentum_buffer"]`
        m.facts.moved_apart.add(target)


def _is_own(m: Machine, moved: Value, by: Value) -> bool:
    """A rank's; what a parameter is set to where the model runs is its own whatever it is of the batch."""
    if m.context.forward:  # buffers are another matter: DDP sends them around
        return bool(moved.of("parameter", "params")) and m.held(by) not in WHOLE
    return spread(by) not in WHOLE and not by.of(DRAWN)  # which a step draws alike
