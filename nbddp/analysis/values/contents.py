"""What is in a value: the parts of a tuple, and what lists, dictionaries, iterators and objects hold, however deep."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import reduce

from nbddp.analysis.library import learns
from nbddp.analysis.values.domain import WHOLE, Extent, Obj, Value, join_extent
from nbddp.analysis.values.facts import Facts

# The field in which things of a kind hold others; None for all that they have.
Kinds = Mapping[str, str | None]
ITEMS: Kinds = {"list": "[]", "dict": "[]"}
SOURCES: Kinds = {"iterator": "of"}  # what it goes through: a bar, `enumerate`, `zip`
# Who looks at them, or calls them, finds it.
OPENED: Kinds = {**ITEMS, **SOURCES, "generator": "[]", "instance": None, "partial": None}
SIZE = "[size]"  # of a list or a dictionary: it differs where each rank puts things in for its own share
TURNS = "[turns]"  # of a generator: it yields for each sample, or as often as a rank's own numbers say


def contents(facts: Facts, value: Value, through: Kinds | None = ITEMS) -> Iterator[Value]:
    """The value, and what is in it; each thing of these kinds, or of any, is opened once."""
    todo, opened, every = [value], set[Obj](), dict[Obj, list[Value]]()
    while todo:
        value = todo.pop()
        yield value
        todo += value.items or ()
        for obj in (value.objs if through is None else value.of(*through)) - opened:
            opened.add(obj)
            if through is None or (field := through[obj.kind]) is None:
                every = every or _by_owner(facts)
                todo += every.get(obj, ())
            elif (found := facts.fields.get((obj, field))) is not None:
                todo.append(found)


def held(facts: Facts, value: Value, *, objects: bool = True) -> Extent:
    """What a value comes to when it is looked at as a whole, with what lists hold, and objects."""
    inside = contents(facts, value, OPENED if objects else ITEMS)
    return reduce(join_extent, (v.extent for v in inside), Extent.UNIFORM)


def _by_owner(facts: Facts) -> dict[Obj, list[Value]]:
    held = defaultdict[Obj, list[Value]](list)
    for (owner, _), value in facts.fields.items():
        held[owner].append(value)
    return held


def sources(facts: Facts, value: Value, through: Kinds = SOURCES) -> Iterator[Value]:
    """What a loop over the value takes its turns from; a tuple itself is no such thing, its parts are."""
    return contents(facts, replace(value, items=None) if value.items else value, through)


def note_size(facts: Facts, holders: Iterable[Obj]) -> None:
    for obj in holders:
        facts.fields[obj, SIZE] = Value(extent=Extent.VARYING)


def is_uneven(facts: Facts, value: Value) -> bool:
    """Also of what goes through it: `enumerate(large)`, `by_class.items()`."""
    holders = (o for v in sources(facts, value) for o in v.of("list", "dict", "generator"))
    sizes = (facts.fields.get((o, TURNS if o.kind == "generator" else SIZE), Value()) for o in holders)
    return any(size.extent is Extent.VARYING for size in sizes)


def holds_own(facts: Facts, value: Value) -> bool:
    """What each rank has put in for itself, or as much as it has of its own."""
    return held(facts, value) not in WHOLE or is_uneven(facts, value)


def turns_of(facts: Facts, generator: Obj) -> Extent:
    return facts.fields.get((generator, TURNS), Value()).extent


def is_of_own_choice(facts: Facts, call: ast.Call) -> bool:
    """`by_class[label].append(…)`, `by_class.setdefault(label, []).append(…)`: which list it is, each rank knows."""
    match call.func:
        case ast.Attribute(
            value=ast.Subscript(slice=key) | ast.Call(func=ast.Attribute(attr="setdefault" | "get"), args=[key, *_])
        ):
            return facts.value(key).varies
    return False


def loads_apart(facts: Facts, loader: Obj) -> bool:
    """`Subset(data, losses.argsort()[:100])`, `WeightedRandomSampler(losses, 100)`, by the losses of a rank's own."""
    given = [v for name in ("dataset", "sampler", "batch_sampler") if (v := facts.fields.get((loader, name)))]
    made = [facts.calls[o.node].args for v in given for o in v.objs if o.node in facts.calls]
    inside = [v for one in given for _, v in facts.fields.of(*one.objs) if held(facts, v) is not Extent.SAMPLES]
    every = (*given, *inside, *(v for args in made for v in args.values()))
    return any(holds_own(facts, v) for v in every)


def may_learn(facts: Facts, obj: Obj, depth: int = 0) -> bool:
    """A module that has parameters, as far as can be seen: a loss or an activation has none."""
    if obj.kind != "model" or obj not in facts.classes:
        return obj.kind == "model" and learns(obj.name)
    inner = [o for _, value in facts.fields.of(obj) for o in value.objs]
    inside = [part for part, holders in facts.contained.items() if obj in holders]
    if any(part.kind != "model" for part in inside):
        return True  # which is not read
    inner += inside
    return any(o.kind == "parameter" or (depth < 6 and o != obj and may_learn(facts, o, depth + 1)) for o in inner)


def is_read(facts: Facts, part: Obj, around: frozenset[Obj] = frozenset()) -> bool:
    """Not what a module gives that is not read: `self.model = Unet()`, `nn.Sequential(*base.children())`."""
    part = part.owner or part if part.kind == "submodule" else part
    if part.kind != "model" or part in around:
        return part.kind != "foreign"
    if part not in facts.classes and not part.name.startswith("torch.nn."):
        return False
    values = [value for _, value in facts.fields.of(part)]
    given = part.node.args if isinstance(part.node, ast.Call) and part not in facts.classes else []
    starred = [facts.value(a.value) for a in given if isinstance(a, ast.Starred)]
    values += [*starred, *(facts.value(a) for a in given if not isinstance(a, ast.Starred))]
    held = [inner for value in values for v in contents(facts, value) for inner in v.objs]
    return all(value.objs for value in starred) and all(is_read(facts, one, around | {part}) for one in held)
