"""Which parts of an expression are numbers of a share, and what makes each of them that of all ranks.

One walk for what goes into a place and for what is shown; a part that nothing can make whole there has no way.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nbddp.analysis.combining.outputs import lets_out
from nbddp.analysis.combining.writes import is_place
from nbddp.analysis.library import Effect, effect_of
from nbddp.analysis.slicing import Function, all_arguments, local_names, root_name
from nbddp.analysis.syntax import Program, walk
from nbddp.analysis.values import (
    ITEMS,
    OF_A_SHARE,
    PICKED,
    PLACED,
    WHOLE,
    Assumptions,
    CallFact,
    Extent,
    Facts,
    Obj,
    Value,
    held,
    is_uneven,
    spread,
)

WAYS = {Extent.MEAN: "mean_over_ranks", Extent.SUM: "sum_over_ranks", Extent.SAMPLES: "gather_samples"}
NUMBERS = (Extent.MEAN, Extent.SUM)
TEXTS = ("__str__", "__repr__", "__format__")
THINGS = ("instance", "iterator", "generator")
HARMLESS = (Effect.READS, Effect.CONVERTS, Effect.UNKNOWN)
Written = ast.List | ast.Tuple | ast.Set | ast.Dict | ast.JoinedStr | ast.FormattedValue | ast.Starred
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Part = tuple[ast.expr, str | None]


@dataclass(frozen=True)
class Place:
    """Where an expression is read."""

    program: Program
    facts: Facts
    assumed: Assumptions
    written: Callable[[ast.Name], Iterator[Part] | None]  # what a row or a text of that name is made of, where it is
    into: str = ""  # the name or field that it goes into; nothing where it is shown


def parts(at: Place, node: ast.expr) -> Iterator[Part]:
    """The largest parts that are not whole, with the function of the script that makes each whole, if there is one."""
    value = at.facts.value(node)
    whole = held(at.facts, value) in WHOLE and not isinstance(node, ast.Slice)
    fact = at.facts.calls.get(node) if isinstance(node, ast.Call) else None
    if (
        is_place(node, at.into)
        or isinstance(node, ast.Lambda)
        or (whole and (at.into or (fact is not None and (fact.bodies or _is_size(fact)))))
    ):
        return  # what a function of the notebook makes of a part may be whole
    if isinstance(node, ast.Name) and (made := at.written(node)) is not None:
        yield from made
    elif _is_apart(at, node):
        yield node, None
    elif (way := _way(at, node)) is not None:
        yield node, way
    elif not is_leaf(node) or value.of(PLACED) or _has_place(at, node):
        yield from _inside(at, node)
    elif at.into or as_a_whole(value) is Extent.VARYING or holds(at.facts, value) or _held_then(at, node):
        means = not at.into and (_holds_means(at.facts, value) or _lists_means(at, node))
        yield node, WAYS[Extent.MEAN] if means else None


def _way(at: Place, node: ast.expr) -> str | None:
    value = at.facts.value(node)
    if _is_made_apart(at, node) or _has_place(at, node):
        return None
    if not at.into:
        extent = as_a_whole(value)
        return WAYS[extent] if extent in NUMBERS and (is_leaf(node) or not value.items) else None
    extent = held(at.facts, value)
    whole = is_leaf(node) and not value.of(PLACED)  # `out[0]`: of all samples, not of each share
    known = extent in NUMBERS or (extent is Extent.SAMPLES and whole)
    if not known:
        return None
    return "gather_part" if extent is Extent.SAMPLES and at.assumed.splits else WAYS[extent]


def _holds_means(facts: Facts, value: Value, opened: frozenset[Obj] = frozenset()) -> bool:
    """`{"loss": loss, "accuracy": hits / n}`: and nothing that a mean would make another thing, such as a count."""
    dicts = value.of("dict") - opened
    inside = [v for _, v in facts.fields.of(*dicts)]
    means = all(spread(v) is Extent.MEAN and not v.items for v in inside if not v.of("dict"))
    deeper = all(_holds_means(facts, v, opened | dicts) for v in inside if v.of("dict"))
    return bool(inside) and dicts == value.objs and means and deeper


def _is_size(call: CallFact) -> bool:
    """`len(losses)`: the same on all ranks, whatever is in it."""
    return bool(call.names) and all(effect_of(n).about == "size" for n in call.names)


def _lists_means(at: Place, node: ast.expr) -> bool:
    """As many on all ranks, also where some of them were put together before."""
    value, inside = at.facts.value(node), at.facts.contents(at.facts.value(node))
    plain = all(not (v.items or v.objs) for v in inside) and not is_uneven(at.facts, value)
    known = not any(o.name for o in value.objs)  # as a deque, which the parts of scripts do not add up
    return value.objs == value.of("list") and at.facts.held.get(node) is Extent.MEAN and plain and known


def _held_then(at: Place, node: ast.expr) -> bool:
    """Though it is put together further down; not what it is made of before it goes in."""
    root, at_source = root_name(node), at.facts.at_source
    inside = {n for o in at.facts.value(node).objs for n in walk(o.node)}
    whole = any(name == root or any(n in inside for n, _ in parts) for (_, name), parts in at_source.items())
    return not whole and at.facts.held.get(node, Extent.UNIFORM) not in WHOLE


def _has_place(at: Place, node: ast.expr) -> bool:
    return bool(at.into) and any(is_place(n, at.into) for n in walk(node))


def _is_made_apart(at: Place, node: ast.expr) -> bool:
    """Of parts that are combined each for itself, or one after another as they are asked for."""
    fact = at.facts.calls.get(node) if isinstance(node, ast.Call) else None
    return isinstance(node, Written | ast.GeneratorExp) or (fact is not None and "map" in fact.names)


def _inside(at: Place, node: ast.expr) -> Iterator[Part]:
    """Of a call its arguments, where it makes a value of them and does nothing else."""
    found = [part for child in _children(at, node) for part in parts(at, child)]
    if not found:
        if _differs(at, node) and not _has_place(at, node):
            yield node, None
        return
    call = isinstance(node, ast.Call) and not _is_of_text(node)
    fails = any(way is None for _, way in found) or (call and (_goes_with_samples(at, node) or _does_more(at, node)))
    computes = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Mult | ast.Div | ast.Pow)
    if fails and (call or computes or isinstance(node, ast.IfExp | ast.BoolOp)):
        yield node, None  # of a number, or of what the ranks may come by otherwise, no part alone
    else:
        yield from found


def _goes_with_samples(at: Place, node: ast.expr) -> bool:
    """`draw(x, len(x))`, where it is shown: of a rank's own samples."""
    return not at.into and any(spread(at.facts.value(child)) is Extent.SAMPLES for child in _children(at, node))


def _differs(at: Place, node: ast.expr) -> bool:
    """Though nothing in it is known to be of a share."""
    value = at.facts.value(node)
    if at.into:
        return True
    return as_a_whole(value) in (Extent.VARYING, *NUMBERS) or (isinstance(node, ast.Call) and holds(at.facts, value))


def _children(at: Place, node: ast.expr) -> list[ast.expr]:
    """Of a call not the method, but what it is called on."""
    if isinstance(node, ast.Call):
        fields = at.program.text_fields.get(node, ())
        read = {f.given for f in fields}
        on = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return [*on, *node.args, *(k.value for k in node.keywords if k not in read), *(f.read for f in fields)]
    return [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]


def _is_apart(at: Place, node: ast.expr) -> bool:
    """What each rank takes as often as its own numbers say, or is called nobody knows how often."""
    if isinstance(node, Comprehension):
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        counts = any(spread(at.facts.value(n)) is Extent.SUM for p in parts for n in walk(p) if isinstance(n, ast.expr))
        return any(_picks(at, generator, counts) for generator in node.generators)
    return bool(at.into) and (isinstance(node, ast.IfExp) or _is_unclear(at, node))  # a guard is each rank's own


def _picks(at: Place, generator: ast.comprehension, counts: bool) -> bool:
    """Others on each rank, or as many; a number for each sample adds up with that of no other."""
    chosen = any(spread(at.facts.value(test)) is Extent.VARYING for test in generator.ifs)
    source = at.facts.value(generator.iter)
    gone = held(at.facts, source)
    by_sample = (bool(at.into) or counts) and (gone is Extent.SAMPLES or (counts and gone is Extent.VARYING))
    return chosen or by_sample or is_uneven(at.facts, source)


def _is_unclear(at: Place, node: ast.expr) -> bool:
    """Is it taken for samples, and is one number, some of them, or a part of its share, or do others turn it?"""
    value = at.facts.value(node)
    one = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "item"
    if one and held(at.facts, at.facts.value(node.func.value)) is Extent.SAMPLES:  # type: ignore[attr-defined]
        return True  # `loss.item()` of a loss that a module makes: how it adds up is not known
    samples = held(at.facts, value) is Extent.SAMPLES
    return samples and (one or bool(value.of(PICKED, "shape")) or (is_leaf(node) and bool(value.of(*OF_A_SHARE))))


def _is_of_text(node: ast.expr) -> bool:
    """`"{} of {}".format(a, b)`: each part for itself."""
    func = node.func if isinstance(node, ast.Call) else None
    return isinstance(func, ast.Attribute) and isinstance(func.value, ast.Constant)


def _does_more(at: Place, node: ast.expr) -> bool:
    """Than to make a value of the numbers that it is given: it holds others, shows or keeps them, decides by them."""
    todo, seen = [node] if isinstance(node, ast.Call) else [], set[ast.AST]()
    while todo:
        call = todo.pop()
        fact = at.facts.calls.get(call)
        things = [at.facts.value(child) for child in _children(at, call)]
        if fact is None or any(v.of(*THINGS) and held(at.facts, v) not in WHOLE for v in things):
            return True
        names = fact.names or {f".{getattr(call.func, 'attr', '')}"}
        if not fact.bodies and any(effect_of(n).effect not in HARMLESS for n in names):
            return True
        for body in fact.bodies - seen:
            if _is_more(at, body):
                return True
            todo += [n for n in walk(body) if isinstance(n, ast.Call) and not _is_of_its_own(n.func, body)]
        seen |= fact.bodies
    return False


def _is_more(at: Place, body: ast.AST) -> bool:
    """Does a function change or read what is not its own, or decide, or show something?"""
    own = local_names(body) if isinstance(body, Function) else set()
    for node in walk(body):
        stored = isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)
        outer = isinstance(node, ast.Name) and node.id not in own and held(at.facts, at.facts.value(node)) not in WHOLE
        call = at.facts.calls.get(node) if isinstance(node, ast.Call) else None
        if outer or (stored and not _is_of_its_own(node, body)) or node in at.assumed.agreed:
            return True
        if isinstance(node, ast.Global | ast.Nonlocal) or (call is not None and lets_out(call)):
            return True
    return False


def _is_of_its_own(node: ast.AST, body: ast.AST) -> bool:
    """Does a thing stand in a name that the function itself makes: `row["loss"] = loss`, `rows.append(loss)`?"""
    if not isinstance(node, ast.Attribute | ast.Subscript) or not isinstance(body, Function):
        return False
    return root_name(node) in local_names(body) - {a.arg for a in all_arguments(body.args)}


def is_leaf(node: ast.expr) -> bool:
    """What is made of samples by a call may be a count."""
    calls = any(isinstance(n, ast.Call) for n in walk(node))
    return isinstance(node, ast.Name | ast.Constant | ast.Attribute | ast.Subscript) and not calls


def as_a_whole(value: Value) -> Extent:
    """Of a tuple: counts beside what is the same on all ranks cannot be added up in one."""
    mixed = spread(value) is Extent.SUM and any(as_a_whole(i) is not Extent.SUM for i in value.items or ())
    return Extent.VARYING if mixed else spread(value)


def holds(facts: Facts, value: Value, opened: frozenset[Obj] = frozenset()) -> bool:
    """Containers, and objects whose text tells what they hold, with numbers of a share that were not combined."""
    shown = {o for o in value.objs - opened if o.kind in ITEMS or (o.kind == "instance" and _tells(facts, o))}
    inside = [item for item in value.items or () if not item.varies]  # of itself, as numbers are
    inside += [v for f, v in facts.fields.of(*shown) if f == "[]" or not f.startswith("[")]
    return any((v.varies and spread(v) is not Extent.REPEATED) or holds(facts, v, opened | shown) for v in inside)


def _tells(facts: Facts, obj: Obj) -> bool:
    owner = facts.classes.get(obj)
    dataclass = owner is not None and any("dataclass" in ast.unparse(d) for d in owner.decorator_list)
    return dataclass or any(isinstance(s, ast.FunctionDef) and s.name in TEXTS for s in (owner.body if owner else ()))
