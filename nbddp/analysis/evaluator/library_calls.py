"""Call a function of a library in the abstract."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import reduce

from nbddp.analysis.evaluator.attributes import class_of, fields_of, read
from nbddp.analysis.evaluator.iteration import (
    as_often_as,
    is_indirect,
    iterate,
    loaders_in,
    only,
    params_in,
    parts,
    taken_from,
)
from nbddp.analysis.evaluator.tensor_rules import (
    PRODUCTS,
    TOTALS,
    einsum,
    joined,
    like,
    note_mixed,
    of_samples,
    of_size,
    operation,
)
from nbddp.analysis.evaluator.writes import moved_by_hand, put_element, write_into
from nbddp.analysis.library import Gives, Op, Samples, effect_of, is_class, makes
from nbddp.analysis.slicing import effects
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import (
    ANYTHING,
    EACH,
    GLOBALS,
    MARKS,
    MOVED,
    PICKED,
    PLACED,
    PLACES,
    SHUFFLED,
    STATISTIC,
    TURNED,
    UNARY,
    WHOLE,
    Extent,
    Machine,
    Obj,
    Value,
    alike,
    elementwise,
    foreign,
    guarded,
    is_foreign,
    is_uneven,
    join,
    join_all,
    join_extent,
    marked,
    note_size,
    placed,
    reduced,
    spread,
    thing,
)

Args = list[Value]
Keywords = dict[str, Value]
LISTS = {"list", "set", "collections.deque"}


def call_library(m: Machine, node: ast.Call, name: str, args: Args, keywords: Keywords) -> Value | None:
    found = _call_library(m, node, name, args, keywords)
    if found and effect_of(name).numeric and all(v.number for v in (*args, *keywords.values())):
        return replace(found, number=True)
    if found is not None:
        found = of_uneven(m, found, args)
    if "requires_grad" in keywords and keywords["requires_grad"].const is True and found and not found.objs:
        return replace(found, objs=frozenset({Obj("parameter", node, name, None, m.frame.call)}))
    return found


def of_uneven(m: Machine, made: Value, args: Args) -> Value:
    """`sum(1 for _ in range(int(loss)))`: of as many as a rank has."""
    apart = not made.objs and made.extent in WHOLE and any(is_uneven(m.facts, v) for v in args)
    return made.with_extent(Extent.VARYING) if apart else made


def _call_library(m: Machine, node: ast.Call, name: str, args: Args, keywords: Keywords) -> Value | None:
    given = [*args, *keywords.values()]
    if name.endswith("_") and node.args:  # torch._foreach_lerp_, torch.nn.init.ones_
        moved_by_hand(m, node.args[0], given[1:])
    write_into(m, node, name, args, keywords)
    made = _make(m, node, name, args, keywords)
    if made is not None:
        return made
    op = effect_of(name)
    if args and name.startswith("torch."):
        note_mixed(m, node, args[0], name.rpartition(".")[2], args[1:], keywords)
    found = _of_samples(m, name, args, keywords, op)
    found = found if found is not None else _builtin(m, node, name, args, keywords, op)
    if found is not None:
        return found
    whole = name.startswith("torch.nn.functional.") and any(v.of("shape") and v.varies for v in given)
    if (op.batch or whole) and spread(args[0] if args else ANYTHING) is Extent.SAMPLES:  # `F.layer_norm(x, x.shape)`
        m.facts.against_statistic.add(node)
    if op.samples is Samples.LOSS:
        return Value(extent=reduced(given, keywords))
    if op.noise and (m.sharing() or _like_the_share(given)):
        drawn = Value(extent=Extent.SAMPLES)
        return marked(drawn, MOVED, SHUFFLED) if name.endswith(("randperm", "permutation")) else drawn
    if op.clock or (m.loops and (op.chance or op.noise)):
        return Value(extent=reduce(join_extent, (spread(v) for v in given), Extent.REPEATED))
    if name.startswith("torch.nn.utils.clip_grad"):
        return ANYTHING
    result = _compute(m, node, name, args, keywords, op)
    return foreign(m, node, name) if is_foreign(name) and not result.varies else result


def _like_the_share(given: Args) -> bool:
    """`torch.randn_like(x)`, `torch.rand(x.size(0), 1)`: as many as the rank has samples."""
    return any(spread(v) is Extent.SAMPLES or v.size for v in given) and Extent.VARYING not in map(spread, given)


THINGS = ("loss", "parameter", "parser", "scaler", "device", "sampler", "dataset", "split", "writer", "file", "logger",
          "tracker", "metric")  # fmt: skip


def _make(m: Machine, node: ast.Call, name: str, args: Args, keywords: Keywords) -> Value | None:
    """Things that a library makes: loaders, models, optimizers and so on."""
    first, kind, call = args[0] if args else ANYTHING, makes(name), m.frame.call
    if name in ("torch.optim.swa_utils.AveragedModel", "copy.deepcopy"):
        return _copied(m, node, first) if first.of("model") else (first if name == "copy.deepcopy" else None)
    if kind == "loader":
        return _made(m, thing(kind, node, name, m.context.turn, call), {"dataset": first, **keywords})
    if kind == "scheduler":
        return _made(m, thing(kind, node, name, None, call), {"optimizer": keywords.get("optimizer", first)})
    owners = params_in(m, keywords.get("params", first))
    if kind == "optimizer" or (owners and is_class(name) and not name.startswith("torch.nn")):
        return _made(m, thing("optimizer", node, name, None, call), {"params": Value(owners)})
    if kind == "model" and effect_of(name).gives is not Gives.ITSELF:
        return _model(m, node, name, [*args, *keywords.values()])
    if kind not in THINGS:
        return None
    fields = {"source": first} if kind in ("sampler", "dataset", "split") else keywords if kind == "loss" else {}
    made = _made(m, thing(kind, node, name, None, call if kind in ("loss", "parameter") else None), fields)
    return replace(made, extent=spread(first)) if kind == "parameter" else made


def _made(m: Machine, made: Value, fields: Keywords) -> Value:
    for obj in made.objs:
        for name, value in fields.items():
            m.put(obj, name, value)
    return made


def _copied(m: Machine, node: ast.Call, value: Value) -> Value:
    copies = set()
    for obj in value.of("model"):
        copy = Obj("model", node, f"copy of {obj.name}", None, m.frame.call)
        if obj in m.facts.classes:
            m.facts.classes[copy] = m.facts.classes[obj]
        for (owner, name), field in list(m.facts.fields.items()):
            if owner == obj:
                m.put(copy, name, field)
        copies.add(copy)
    return Value(frozenset(copies))


def _model(m: Machine, node: ast.Call, name: str, given: list[Value]) -> Value:
    made = thing("model", node, name, None, m.frame.call)
    (obj,) = made.objs
    for value in given:
        for child in parts(m, value):
            m.facts.contained[child].add(obj)
        if "Sequential" in name or "ModuleList" in name or "ModuleDict" in name:
            inner = value if value.of("model") else m.elements(value)
            if inner.objs:
                m.put(obj, "[]", inner)
    return made


def _builtin(  # noqa: C901, PLR0912 -- one case for each function
    m: Machine, node: ast.Call, name: str, args: Args, keywords: Keywords, op: Op
) -> Value | None:
    first = args[0] if args else keywords.get("iterable", ANYTHING)
    if name == "len":
        return _length(m, first)
    if name == "next":
        batches_of = loaders_in(m, first)
        m.facts.drawn |= batches_of
        for loader in batches_of if m.context.grad else ():
            for active in m.loops:
                active.draw_next(loader)
        batch = iterate(m, first, node) if first.objs else Value(extent=spread(first))
        return batch.with_extent(Extent.REPEATED) if batches_of and batches_of <= m.assumed.unshared else batch
    if name == "zip":
        return _iterator(m, node, "zip", Value(items=tuple(args)))
    if args and (made := _of_a_share(m, node, name, first)) is not None:
        return made
    if op.gives in (Gives.TURNS, Gives.SOME):
        return _passed(m, node, name, first, args)
    if name == "filter" and len(args) > 1:
        return args[1]
    if name == "map" and len(args) > 1:
        return _mapped(m, node, args)
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
            for field in [known] if known is not None else [f for o, f in m.facts.fields if o == obj]:
                m.put(obj, field, args[2])
        return ANYTHING
    if name == "functools.reduce" and first.of("function", "method"):
        return _reduced(m, node, args)
    if name == "sum" and len(args) > 1 and args[1].of("list"):
        put_element(m, args[1], m.elements(iterate(m, first, node)))
        return args[1]
    if name == "super":
        return thing("super", node)  # in a method: the instance, seen from the bases
    if op.makes == "dict":
        zero = name == "collections.Counter" or {o.name for o in first.of("library")} & {"int", "float"}
        made = _dict_call(m, node, keywords, bool(zero))
        lists = name == "collections.defaultdict" and {o.name for o in first.of("library")} & LISTS
        if lists:
            return _made(m, made, {"[]": m.make("list", node)})
        if name == "collections.Counter" and spread(first) is Extent.SAMPLES:
            note_size(m.facts, made.objs)
            return _made(m, made, {"[]": Value(extent=Extent.SUM, number=True)})
        default = m.steps.call(m, node, first, None, [], {}) if first.of("class", "function") else None
        return _made(m, made, {"[]": default}) if default is not None else made  # `defaultdict(Meter)`
    if op.makes == "list":
        made = Value(frozenset({Obj("list", node, name, None, m.frame.call)}))
        return _made(m, made, {"[]": iterate(m, first, node)} if args else {})
    if name == "functools.partial":
        holds = any(m.held(v) not in WHOLE for v in (*args[1:], *keywords.values()))
        return _partial(m, node, args, keywords) if holds or first.of("function", "method", "bound") else first
    if name in ("set", "frozenset") and not args:
        return Value(frozenset({Obj("list", node, name, None, m.frame.call)}))
    if op.gives is Gives.ITSELF:
        return first
    if op.samples is Samples.KEEPS:
        kept = _kept(m, name, first)
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
    if name in ("min", "max"):
        found = [join_extent(spread(v), spread(m.elements(v))) for v in args]
        return Value(extent=reduce(join_extent, found, Extent.UNIFORM) if set(found) <= {*WHOLE} else Extent.VARYING)
    return None


MADE_OF_A_SHARE = {
    **dict.fromkeys(("sorted", "reversed"), (MOVED,)),
    **dict.fromkeys(("set", "frozenset"), (STATISTIC,)),  # what other ranks have too counts once
    "itertools.islice": (PICKED, PLACED),
}


def _of_a_share(m: Machine, node: ast.Call, name: str, first: Value) -> Value | None:
    """What Python's own functions make of samples, and of numbers that each rank has for itself."""
    if spread(first) is Extent.SAMPLES and not first.objs - first.of(*MARKS):
        for mark in MADE_OF_A_SHARE.get(name, ()):
            first = marked(first, mark)
        return first if name in MADE_OF_A_SHARE else None
    inner = m.elements(first)
    if name == "sorted" and first.of("list") and spread(inner) in (Extent.MEAN, Extent.SUM):
        return _made(m, m.make("list", node), {"[]": inner.with_extent(Extent.VARYING)})  # each rank by its own
    alone = name in ("any", "all") and (first.of("list") or first.items)
    return replace(inner, objs=frozenset(), const=None) if alone and inner.varies and alike(inner) else None


def _reduced(m: Machine, node: ast.Call, args: Args) -> Value:
    """`functools.reduce(function, items, start)`: what has come so far goes in again."""
    item = iterate(m, args[1], node)
    found = args[2] if len(args) > 2 else item
    for _ in range(2):
        found = join(found, m.steps.call(m, node, args[0], None, [found, item], {}))
    return found.with_extent(Extent.VARYING) if m.held(found) not in WHOLE else found


def _partial(m: Machine, node: ast.Call, args: Args, keywords: Keywords) -> Value:
    made = m.make("partial", node)
    for obj in made.objs:
        for key, value in [*enumerate(args), *keywords.items()]:
            m.put(obj, f"given {key}", value)
    return made


def _kept(m: Machine, name: str, value: Value) -> Value:
    inner = m.elements(value) if value.of("list") else value
    word = name.rsplit(".", 1)[-1]
    extent = UNARY[word](inner) if word in UNARY else spread(inner)
    if value.of("instance"):
        extent = Extent.VARYING if m.held(value) not in WHOLE else Extent.UNIFORM
        return Value(extent=extent)
    if name == "str" and extent not in WHOLE:
        return Value(extent=Extent.VARYING)
    if name in ("float", "int", "round"):
        extent = m.one_number(extent)
    const = value.const if isinstance(value.const, int | float) else None
    number = name in ("float", "int") or (value.number and name in ("round", "abs"))
    return Value(value.objs - value.of("list"), extent, const=const, equal=value.equal, number=number)


def _length(m: Machine, value: Value) -> Value:
    if value.of("loader", "dataset"):
        return ANYTHING
    if value.of("loader sampler"):
        return Value(extent=Extent.UNIFORM)
    if value.of(EACH, PICKED):
        return Value(extent=Extent.SUM, number=True)
    if value.of("iterator") and Extent.SAMPLES in taken_from(m, value):
        plain = not is_indirect(m, value)
        return Value(extent=Extent.SUM if plain else Extent.VARYING, equal=plain, number=True)
    if value.of(STATISTIC) or is_uneven(m.facts, value) or (spread(value) is Extent.VARYING and not value.objs):
        return Value(extent=Extent.VARYING, number=True)
    if value.of("list"):  # as many as there are batches, or samples
        return Value(
            extent=Extent.VARYING if spread(m.elements(value)) is Extent.SAMPLES or m.deals() else Extent.UNIFORM
        )
    return (
        replace(m.size(value), number=False) if spread(value) is Extent.SAMPLES and not value.of(TURNED) else ANYTHING
    )


def _passed(m: Machine, node: ast.Call, name: str, first: Value, args: Args) -> Value:
    if name in ("list", "tuple") and first.of("instance"):
        return _made(m, m.make("list", node), {"[]": iterate(m, first, node)})
    if name in ("list", "tuple", "itertools.chain") and not first.of("loader", "iterator"):
        if name == "itertools.chain":
            return Value(join_all(args).objs, join_all(args).extent)
        return first
    return _iterator(m, node, name, first)


def _iterator(m: Machine, node: ast.Call, name: str, source: Value) -> Value:
    """Of its own for each loader that the same `enumerate(loader)` goes through."""
    loaders = {o for part in (source, *(source.items or ())) for o in loaders_in(m, part)}
    return _made(m, thing("iterator", node, name, only(loaders), m.frame.call), {"of": source})


def _mapped(m: Machine, node: ast.Call, args: Args) -> Value:
    with ExitStack() as around:
        for given in args[1:]:
            around.enter_context(as_often_as(m, given, node))
        result = m.steps.call(m, node, args[0], None, [iterate(m, a, node) for a in args[1:]], {})
        made = m.make("list", node)
        note_size(m.facts, made.objs if m.context.of_share else ())
    for obj in made.objs:
        m.put(obj, "[]", result)
    return made


def _dict_call(m: Machine, node: ast.Call, keywords: Keywords, counts: bool) -> Value:
    made = m.make("dict", node)
    (obj,) = made.objs
    if counts:
        m.put(obj, "[]", Value(const=0))
    for key, value in keywords.items():
        m.put(obj, f"[{key!r}]", value)
        m.put(obj, "[]", value)
    return made


def _of_samples(m: Machine, name: str, args: Args, keywords: Keywords, op: Op) -> Value | None:
    """`torch.std(x, 0)` is `x.std(0)`; of a list it is about the items."""
    if not args or not (name.startswith(("torch.", "numpy.")) or op.samples in TOTALS):
        return None
    if (name == "sum" and any(v.of("list") for v in args[1:])) or args[0].of("generator"):
        return None  # `sum(rows, [])`; a generator may give one for each sample, or whole batches
    if name in ("torch.einsum", "numpy.einsum"):
        return einsum(m, args[0].const, args[1:])
    if op.about == "kind":
        return Value(number=True)
    first, word = args[0], name.rpartition(".")[2]
    if word in PRODUCTS and len(args) > 1 and args[1].of(TURNED) and spread(first) in WHOLE:
        return placed(Value(extent=spread(args[1])), TURNED)  # `torch.matmul(W, X)`, of samples in columns
    inner = m.elements(first) if first.of("list") else first
    if op.samples is Samples.SUM and spread(inner) in WHOLE and first.of(EACH, PICKED):
        return Value(extent=Extent.SUM, number=inner.number)  # `sum(1 for t, p in zip(y, predicted) if t == p)`
    if name == "sum" and spread(inner) is Extent.SAMPLES and _holds_batches(m, first):
        return inner
    if word == "average" and any(spread(v) not in WHOLE for v in (*args[2:], keywords.get("weights", ANYTHING))):
        return Value(extent=Extent.VARYING)
    found = of_samples(m, inner, word, args[1:], keywords, op.samples)
    return Value(extent=spread(found)) if found is not None and op.samples in TOTALS else found


def _holds_batches(m: Machine, value: Value) -> bool:
    """`log_dets`, with one for each layer: nothing around goes through samples, which may have put one in for each."""
    made = [m.program.function_of(obj.node) or m.program.tree for obj in value.of("list")]
    loops = (n for around in made for n in walk(around) if isinstance(n, ast.For))
    return bool(made) and not value.of(EACH, PICKED) and all(spread(m.facts.value(n.iter)) in WHOLE for n in loops)


def _is_size(value: Value) -> bool:
    """`torch.reshape(x, (len(x), -1))`."""
    return (value.equal and value.number) or any(map(_is_size, value.items or ()))


def _compute(m: Machine, node: ast.Call, name: str, args: Args, keywords: Keywords, op: Op) -> Value:
    given, word = [*args, *keywords.values()], name.rpartition(".")[2]
    extents = [m.held(v) for v in given]
    extent = reduce(join_extent, extents, Extent.UNIFORM)
    if extent in WHOLE:
        return Value(extent=extent, const=0 if word in ("zeros", "zeros_like") else None)
    if (op.makes == "tensor" or word == "arange") and not op.draws and of_size({*extents}) is Extent.SAMPLES:
        made = Value(extent=Extent.SAMPLES)
        return marked(marked(made, PLACED), PLACES) if op.counts else made
    if name.startswith("sklearn.metrics.") and Extent.SAMPLES in extents:
        if any(k in keywords and keywords[k].const is not True for k in ("normalize", "squared")):
            return Value(extent=Extent.SUM if word == "accuracy_score" else Extent.VARYING)
        return Value(extent=Extent.MEAN if op.samples is Samples.SCORE else Extent.VARYING)
    if name.startswith(("torch.", "numpy.", "einops.", "torchvision.")) and Extent.SAMPLES in extents:
        if op.samples is Samples.MIXES:
            return Value(extent=Extent.VARYING)
        parts = (replace(v, extent=m.held(v)) for v in given if not _is_size(v))
        found = operation(word, args, keywords) or like(Value(extent=elementwise(parts)), args)
        beside = op.samples is Samples.JOINS and found.extent is Extent.SAMPLES and args
        return joined(m, node, word, args[0], args[1:], keywords) if beside else found
    return Value(extent=extent if op.samples is Samples.JOINS else Extent.VARYING)


NAMESPACES = ("globals", "locals", "vars")


def namespace(m: Machine, node: ast.AST, *, of_cells: bool) -> Value:
    """The names of the cells themselves, or a copy of those of a function."""
    if of_cells:
        return thing("dict", GLOBALS, "globals")
    made = m.make("dict", node)
    for obj in made.objs:
        for name, value in m.frame.local.items():
            m.put(obj, f"[{name!r}]", value)
            m.put(obj, "[]", value)
    return made


def run_text(m: Machine, args: list[Value]) -> Value:
    """`exec("total += loss.item()")`: what it changes is each rank's own, where it reads what is."""
    names = m.visible()
    changed, read = _touched(args[0].const if args else None, names)
    given = [v for v in args[1:] if v.of("dict")]
    own = [names[n] for n in read if n in names] + given
    apart = m.context.varying or any(m.held(v) not in WHOLE for v in own)
    differs = apart if isinstance(args[0].const if args else None, str) else m.sharing()
    for name in sorted(changed) if differs else ():
        if name in names:
            m.change(name, names[name].with_extent(Extent.VARYING))
    for obj in {o for v in given for o in v.objs} if differs else ():
        m.put(obj, "[]", Value(extent=Extent.VARYING))
    return Value(extent=Extent.VARYING if differs else Extent.UNIFORM)


def _touched(text: object, names: dict[str, Value]) -> tuple[set[str], set[str]]:
    """What it may change and what it reads; of a text that nobody knows, all that is no part of the training."""
    try:
        tree = ast.parse(text if isinstance(text, str) else "")
    except SyntaxError:
        return set(), set()
    if not isinstance(text, str):
        return {*_plain(names)}, set()
    found = effects(tree.body, {})
    return found.may_bind | found.mutates, found.reads | found.mutates


def _plain(names: dict[str, Value]) -> Iterator[str]:
    return (name for name, value in names.items() if value.objs == value.of("list", "dict", "instance"))
