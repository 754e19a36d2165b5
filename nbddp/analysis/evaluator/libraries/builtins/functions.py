"""Call one of Python's own functions in the abstract."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import reduce

from nbddp.analysis.evaluator.attributes import fields_of, read
from nbddp.analysis.evaluator.classes import by_operator, class_of
from nbddp.analysis.evaluator.iteration import iterate, loaders_in, taken_from
from nbddp.analysis.evaluator.libraries.builtins.callbacks import by_key, filtered, mapped, over_items
from nbddp.analysis.evaluator.libraries.builtins.containers import LISTS, dict_call, iterator, partial, passed
from nbddp.analysis.evaluator.libraries.builtins.kinds import is_of_kind
from nbddp.analysis.evaluator.libraries.builtins.namespaces import NAMESPACES, namespace, run_text
from nbddp.analysis.evaluator.libraries.builtins.numbers import as_number, length, of_a_share
from nbddp.analysis.evaluator.libraries.things import made_with
from nbddp.analysis.evaluator.writes import moved_by_hand, put_element
from nbddp.analysis.library import Gives, Op, Samples, effect_of, is_class
from nbddp.analysis.values import (
    ANYTHING,
    EACH,
    MARKS,
    PLACED,
    STATISTIC,
    WHOLE,
    Args,
    Extent,
    Keywords,
    Machine,
    Obj,
    Value,
    guarded,
    is_uneven,
    join_all,
    join_extent,
    marked,
    note_size,
    spread,
    thing,
)


def builtin(  # noqa: C901, PLR0912 -- one case for each function
    m: Machine, node: ast.Call, name: str, args: Args, keywords: Keywords, op: Op
) -> Value | None:
    first = args[0] if args else keywords.get("iterable", ANYTHING)
    if name == "len":
        return length(m, first)
    if name in ("isinstance", "hasattr") and len(args) == 2:
        return is_of_kind(m, args)
    if (made := _handed_on(m, node, name, first, args, keywords, op)) is not None:
        return made
    if name == "next":
        return _next(m, node, first)
    if name == "zip":
        return _zipped(m, node, args)
    if name in ("sorted", "min", "max") and (made := by_key(m, node, args, keywords.get("key"))) is not None:
        return made
    if args and (made := of_a_share(m, node, name, first)) is not None:
        return made
    if op.gives in (Gives.TURNS, Gives.SOME):
        return passed(m, node, name, first, args)
    if name == "filter" and len(args) > 1:
        return filtered(m, node, args)
    if name == "map" and len(args) > 1:
        return mapped(m, node, args)
    if name == "getattr" and len(args) > 1 and isinstance(args[1].const, str):
        return read(m, first, args[1].const, node)
    if (
        name == "getattr"
        and first.of("library")
        and {effect_of(o.name).classes for o in first.of("library")} <= {"optimizer", "scheduler"}
    ):
        return read(m, first, "Any", node)  # whichever it is
    if name in ("setattr", "object.__setattr__") and len(args) > 2:
        if args[2].of("parameter") and args[2].varies:
            moved_by_hand(m, node.args[0], args[2:])
        for obj in first.objs:
            known = args[1].const if isinstance(args[1].const, str) else None
            for field in [known] if known is not None else [f for f, _ in m.facts.fields.of(obj)]:
                m.put(obj, field, args[2])
        return ANYTHING
    if name == "functools.reduce" and first.of("function", "method"):
        return over_items(m, node, args)
    if name == "sum" and (added := _added_up(m, node, args)) is not None:
        return added
    if name in ("super", "slice"):
        return thing(name, node)  # in a method: the instance, seen from the bases; no numbers of samples
    if op.makes == "dict":
        zero = name == "collections.Counter" or {o.name for o in first.of("library")} & {"int", "float"}
        made = dict_call(m, node, first, keywords, bool(zero))
        lists = name == "collections.defaultdict" and {o.name for o in first.of("library")} & LISTS
        if lists:
            return made_with(m, made, {"[]": m.make("list", node)})
        if name == "collections.Counter" and (spread(first) is Extent.SAMPLES or first.of(EACH)):
            note_size(m.facts, made.objs)
            return made_with(m, made, {"[]": Value(extent=Extent.SUM, number=True)})
        default = m.steps.call(m, node, first, None, [], {}) if first.of("class", "function") else None
        return made_with(m, made, {"[]": default}) if default is not None else made  # `defaultdict(Meter)`
    if op.makes == "list":
        made = Value(frozenset({Obj("list", node, name, None, m.frame.call)}))
        made = made_with(m, made, {"[]": iterate(m, first, node)} if args else {})
        return marked(made, EACH) if spread(first) is Extent.SAMPLES and not first.objs - first.of(*MARKS) else made
    if name in ("set", "frozenset") and not args:
        return Value(frozenset({Obj("list", node, name, None, m.frame.call)}))
    if op.gives is Gives.ITSELF:
        return first
    if op.samples is Samples.KEEPS:
        kept = as_number(m, name, first)
        return replace(kept, sources=first.sources) if name == "int" and first.sources else kept
    if name == "type" and len(args) == 1 and (classes := class_of(m, first)).objs:
        return classes
    if name in NAMESPACES and (name == "globals" or not args):
        return namespace(m, node, of_cells=name == "globals" or m.frame.node is None)
    if name in ("exec", "eval"):
        return run_text(m, args)
    if name == "vars" and first.of("dict"):
        return first
    if name == "vars" and first.of("instance"):
        return join_all(fields_of(m, obj, node) for obj in first.of("instance"))
    if name in ("repr", "format") and first.of("instance") and m.held(first) not in WHOLE:
        return Value(extent=Extent.VARYING)
    if name == "max" and (count := guarded(args)) is not None:
        return count
    if name in ("min", "max") and "key" in keywords and spread(first) in WHOLE:  # `key=lambda k: meters[k].avg`
        by = m.steps.call(m, node, keywords["key"], None, [iterate(m, first, node)], {})
        if m.held(by) not in WHOLE:
            return Value(extent=Extent.VARYING)
    if name in ("min", "max"):
        inside = [iterate(m, v, node) if v.of(*GONE_THROUGH) else m.elements(v) for v in args]
        found = [join_extent(spread(v), spread(each)) for v, each in zip(args, inside, strict=True)]
        return Value(extent=reduce(join_extent, found, Extent.UNIFORM) if set(found) <= {*WHOLE} else Extent.VARYING)
    return None


def _handed_on(
    m: Machine, node: ast.Call, name: str, first: Value, args: Args, keywords: Keywords, op: Op
) -> Value | None:
    """A function, for later or at once: `partial(F.softmax, dim=0)`, `checkpoint(self.block, x)`."""
    if name == "functools.partial":
        holds = any(m.held(v) not in WHOLE for v in (*args[1:], *keywords.values()))
        holds = holds or bool(first.of("function", "method", "bound"))
        named = len(args) == 1 and any(not is_class(o.name) for o in first.of("library"))
        return partial(m, node, args, keywords) if holds or named else first
    if name == "types.MethodType":
        return partial(m, node, args, keywords)
    if op.calls:
        return m.steps.call(m, node, first, None, args[1:], {})
    if name in ("torch.vmap", "torch.func.vmap") and (keywords.get("in_dims") or (*args[1:], ANYTHING)[0]).const == 1:
        return first  # which is given all samples, a column at a time
    if name == "getattr" and spread(first) is Extent.SAMPLES and len(args) == 2 and not isinstance(args[1].const, str):
        return marked(Value(extent=Extent.VARYING), STATISTIC)  # `getattr(x, self.pooling)(dim=0)`
    return None


def _zipped(m: Machine, node: ast.Call, args: Args) -> Value:
    """Side by side; of rows that are zipped, `zip(*rows)`, the columns."""
    if len(args) == 1 and args[0].items and isinstance(node.args[0], ast.Starred):
        return Value(items=tuple(_column(m, node, at, one) for at, one in enumerate(args[0].items)))
    return iterator(m, node, "zip", Value(items=tuple(args)))


def _column(m: Machine, node: ast.Call, at: int, inside: Value) -> Value:
    """Of `names, ages = zip(*rows)`."""
    return made_with(m, thing("list", node, f"column {at}"), {"[]": inside})


GONE_THROUGH = ("instance", "iterator", "generator")  # `max(zip(losses, labels))`


def _next(m: Machine, node: ast.Call, first: Value) -> Value:
    """A batch of a loader; `next(iter(x))` of a batch is the first of its samples."""
    batches_of = loaders_in(m, first)
    m.facts.drawn[node] |= batches_of
    for loader in batches_of if m.context.grad else ():
        for active in m.loops:
            active.draw_next(loader)
    found = iterate(m, first, node) if first.objs else Value(extent=spread(first))
    if first.of("iterator") and Extent.SAMPLES in taken_from(m, first):
        return marked(found, PLACED)
    if found.extent in WHOLE and is_uneven(m.facts, first):  # `next(i for i, loss in enumerate(losses) if loss < 1)`
        return found.with_extent(Extent.VARYING)
    return found.with_extent(Extent.REPEATED) if batches_of and batches_of <= m.assumed.unshared else found


def _added_up(m: Machine, node: ast.Call, args: Args) -> Value | None:
    """`sum(rows, [])`; `sum(results, Result())`, by the class that they are of."""
    each, total = m.elements(args[0]), args[1] if len(args) > 1 else Value(const=0, number=True)
    if total.of("list"):
        put_element(m, total, m.elements(iterate(m, args[0], node)))
        return total
    first = by_operator(m, ast.Add(), total, each) if each.of("instance") else None
    return by_operator(m, ast.Add(), first, each) or first if first is not None else None
