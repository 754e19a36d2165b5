"""Evaluate an expression in the abstract."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import lru_cache, reduce
from itertools import pairwise

from nbddp.analysis.evaluator.attributes import by_class, by_comparison, by_operator, read
from nbddp.analysis.evaluator.calls import call, instance
from nbddp.analysis.evaluator.iteration import BATCHES, give, iterate, loaders_in, taken_from
from nbddp.analysis.evaluator.tensor_rules import before, samples_at
from nbddp.analysis.evaluator.writes import put_all, put_element
from nbddp.analysis.library import USUAL, Samples, effect_of, exports
from nbddp.analysis.slicing import changed_names, fresh_names
from nbddp.analysis.syntax import BUILTINS, Program, place_of, walk
from nbddp.analysis.values import (
    ANYTHING,
    Extent,
    Machine,
    Obj,
    Value,
    alike,
    as_average,
    as_mean,
    as_total,
    binary,
    chosen,
    chosen_by,
    domain,
    elementwise,
    is_foreign,
    join,
    join_all,
    note_divisor,
    note_size,
    note_statistic,
    spread,
    tell_unlike,
    thing,
    turned,
    unary,
)

FEW = 3
EACH_STAYS = (Samples.KEEPS, Samples.EACH, Samples.ALONG, Samples.WEIGHS, Samples.MOVES)
UNKNOWN_KEY = "[any]"  # of a dictionary from which an item was taken by a key that is not known


def evaluate(m: Machine, node: ast.expr) -> Value:
    """The value, also noted at its node."""
    value = evaluate_unseen(m, node)
    m.facts.see(node, value)
    return value


def evaluate_unseen(m: Machine, node: ast.expr) -> Value:
    """Of a node that is made for the moment: nobody will ask for it."""
    return _sized(m, node, _evaluate(m, node))


def _sized(m: Machine, node: ast.expr, value: Value) -> Value:
    """A place that reads a batch size may be about the share where the number itself is not, and the other way."""
    if node in m.assumed.whole_sizes:
        return replace(value, extent=Extent.UNIFORM)
    if node in m.assumed.summed:
        return as_total(m, node, value)
    if node in m.assumed.averaged:
        return as_average(m, node, value)
    if node in m.assumed.shares and isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        return replace(value, extent=Extent.SUM, equal=True, size=True, number=True)
    for split in m.assumed.splits:
        if node in split.states:
            return domain.placed(Value(extent=Extent.SAMPLES), domain.TURNED if split.dim else "")
        if node in split.inline or node in split.renamed:
            return split.samples(m.program.source(node))
    return value


def _evaluate(m: Machine, node: ast.expr) -> Value:  # noqa: C901, PLR0912 -- one case for each kind of node
    match node:
        case ast.Constant():
            return _constant(m, node)
        case ast.Name():
            return _name(m, node)
        case ast.Attribute():
            return attribute(m, evaluate(m, node.value), node)
        case ast.Call():
            return _call(m, node)
        case ast.BinOp():
            return _binary(m, node)
        case ast.Tuple():
            return _tuple(m, node)
        case ast.List() | ast.Set():
            made = m.make("list", node)
            for element in node.elts:
                put_element(m, made, evaluate(m, element))
            return made
        case ast.Dict():
            return _dict(m, node)
        case ast.Subscript():
            return _subscript(m, node)
        case ast.Compare():
            return _compare(m, node)
        case ast.BoolOp():
            parts = _operands(m, node)
            return chosen(parts, join_all(parts))
        case ast.UnaryOp():
            operand = evaluate(m, node.operand)
            if isinstance(node.op, ast.USub) and isinstance(operand.const, int | float):
                return Value(const=-operand.const, number=operand.number)
            if isinstance(node.op, ast.Not):
                known = domain.truth(operand)
                return replace(unary(operand, node.op), const=None if known is None else not known)
            return unary(operand, node.op)
        case ast.IfExp():
            return _choice(m, node)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            return _comprehension(m, node)
        case ast.Lambda():
            for default in (*node.args.defaults, *node.args.kw_defaults):
                evaluate(m, default) if default is not None else None
            return m.close_over(node)
        case ast.NamedExpr():
            value = evaluate(m, node.value)
            m.bind(node.target.id, value)
            return value
        case ast.Starred():
            return iterate(m, evaluate(m, node.value), node)
        case ast.JoinedStr():
            return _joined(m, node)
        case ast.FormattedValue():
            return domain.scaled(evaluate(m, node.value))
        case ast.Await():
            return evaluate(m, node.value)
        case ast.YieldFrom():
            return _yield_from(m, node)
        case ast.Yield():
            return give(m, evaluate(m, node.value) if node.value else ANYTHING)
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.expr):
            evaluate(m, part)
    return ANYTHING


def _yield_from(m: Machine, node: ast.YieldFrom) -> Value:
    source = evaluate(m, node.value)
    m.draw(loaders_in(m, source))
    return give(m, iterate(m, source, node), taken_from(m, source))


def _constant(m: Machine, node: ast.Constant) -> Value:
    number = isinstance(node.value, int) and not isinstance(node.value, bool)
    sources = frozenset[ast.AST]({node}) if number else frozenset[ast.AST]()
    if node in m.assumed.shares:
        return Value(extent=Extent.SUM, sources=sources, equal=True, size=True, number=True)
    plain = isinstance(node.value, int | float)
    return Value(const=domain.Literal.NONE if node.value is None else node.value, sources=sources, number=plain)


def _name(m: Machine, node: ast.Name) -> Value:
    found = m.lookup(node.id)
    if found is not None:
        if m.context.conditions and m.facts.undefined.get(node.id) is node:
            del m.facts.undefined[node.id]  # a branch of the first turn that only later ones take
        return found
    for module in reversed(m.star_imports):
        if exports(module, node.id):
            return library(f"{module}.{node.id}")
    if node.id in USUAL and any(is_foreign(f"{module}.*") for module in m.star_imports):
        return library(USUAL[node.id])
    if node.id == "__name__":
        return Value(const="__main__")
    if node.id in BUILTINS:
        return thing("library", _SAME_PLACE, node.id)
    (m.facts.starred if m.star_imports else m.facts.undefined).setdefault(node.id, node)
    if m.star_imports and all(is_foreign(f"{module}.*") for module in m.star_imports):
        return library(f"{m.star_imports[-1]}.{node.id}")  # as if it had been asked for by name
    return ANYTHING


_SAME_PLACE = ast.Pass()  # library names are the same wherever they are looked up


def library(name: str) -> Value:
    return thing("library", _SAME_PLACE, name)


def attribute(m: Machine, base: Value, node: ast.Attribute) -> Value:
    return read(m, base, node.attr, node)


def _call(m: Machine, node: ast.Call) -> Value:
    receiver = None
    if isinstance(node.func, ast.Attribute):
        receiver = evaluate(m, node.func.value)
        func = attribute(m, receiver, node.func)
        m.facts.see(node.func, func)
    else:
        func = evaluate(m, node.func)
    _made_anew(m, node, func)
    args = [value for a in node.args for value in _given(m, a)]
    keywords = {k.arg or "**": evaluate(m, k.value) for k in node.keywords}
    if any(_is_open(m, a) for a in node.args):
        keywords["*"] = args[-1]
    return call(m, node, func, receiver, args, keywords)


def _made_anew(m: Machine, node: ast.Call, func: Value) -> None:
    """`torch.cat([x, y])`: nothing keeps the list, and it holds nothing of what went into it in the training."""
    if func.objs and all(o.kind == "library" and effect_of(o.name).reads for o in func.objs):
        for made in (m.make("list", a) for a in node.args if isinstance(a, ast.List)):
            m.drop_fields(made)


def _given(m: Machine, node: ast.expr) -> Sequence[Value]:
    """`f(*pair)`: each for itself, where it is known how many there are."""
    value = evaluate(m, node)
    parts = m.facts.value(node.value).items if isinstance(node, ast.Starred) else None
    return [value] if parts is None else parts


def _is_open(m: Machine, node: ast.expr) -> bool:
    """`f(*batch)`: as many arguments as there may be."""
    return isinstance(node, ast.Starred) and m.facts.value(node.value).items is None


def _binary(m: Machine, node: ast.BinOp) -> Value:
    left, right = evaluate(m, node.left), evaluate(m, node.right)
    note_statistic(m, node, left, right)
    if node in m.assumed.shares:
        return Value(extent=Extent.SUM, sources=frozenset[ast.AST]({node}), equal=True, size=True, number=True)
    if (own := by_operator(m, node.op, left, right)) is not None:
        return own
    if isinstance(node.op, ast.Mult) and left.of("list") and right.varies:  # `[label] * len(x)`
        repeated = m.elements(left).with_extent(Extent.SAMPLES if right.size else Extent.VARYING)
        return _listed(m, node, repeated)
    if isinstance(node.op, ast.BitOr) and left.of("dict"):
        return put_all(m, put_all(m, m.make("dict", node), left), right)
    if isinstance(node.op, ast.Add | ast.Sub):
        left, right = as_mean(m, node.left, left), as_mean(m, node.right, right)
        found = tell_unlike(m, binary(left, right, node.op), (node.left, left), (node.right, right))
        return with_contents(m, found, left, right)
    if isinstance(node.op, ast.Div) and not alike(right):
        note_divisor(m, node.right, left)
    result = with_contents(m, binary(left, right, node.op), left, right)
    if isinstance(node.op, ast.Div) and m.assumed.splits and result.extent is Extent.MEAN and _grows(m, node.right):
        return result.with_extent(Extent.VARYING)  # over unlike parts, which no one weight makes up for
    if (left.sources or right.sources) and isinstance(node.op, ast.Mult | ast.Div | ast.FloorDiv):
        return replace(result, sources=frozenset[ast.AST]({node}))  # a number of its own, computed from literals
    return result


def _listed(m: Machine, node: ast.expr, element: Value) -> Value:
    made = m.make("list", node)
    put_element(m, made, element)
    return made


def _grows(m: Machine, count: ast.expr) -> bool:
    """`total / seen`: does it count the samples of more batches than this one?"""
    loops = [a.fact.node for a in m.loops]
    kept = {n for one in loops if isinstance(one, ast.stmt) for n in changed_names([one]) - fresh_names(one)}
    return any(isinstance(n, ast.Name) and n.id in kept for n in walk(count))


def with_contents(m: Machine, found: Value, *operands: Value) -> Value:
    """`seen | {label}`, `counts - others`: what sets and counters hold goes into what is made of them."""
    holders = [v for v in operands if v.of("list", "dict") and m.held(v) not in domain.WHOLE]
    return found.with_extent(Extent.VARYING) if holders and m.held(found) in domain.WHOLE else found


def _tuple(m: Machine, node: ast.Tuple) -> Value:
    if any(isinstance(e, ast.Starred) for e in node.elts):
        return join_all(evaluate(m, e) for e in node.elts)
    items = tuple(evaluate(m, e) for e in node.elts)
    extent = Extent.UNIFORM
    return Value(frozenset(), extent, items)


def _dict(m: Machine, node: ast.Dict) -> Value:
    made = m.make("dict", node)
    (obj,) = made.objs
    for key, item in zip(node.keys, node.values, strict=True):
        value = evaluate(m, item)
        if key is None:  # {**other}
            put_all(m, made, value)
            continue
        at = evaluate(m, key)
        if at.const is not None:
            m.put(obj, f"[{at.const!r}]", value)
        m.put(obj, "[]", value)
    return made


def _subscript(m: Machine, node: ast.Subscript) -> Value:
    base, index = evaluate(m, node.value), evaluate(m, node.slice)
    _make_what_it_lacks(m, base, index)
    return subscript(m, base, index, node)


def _make_what_it_lacks(m: Machine, base: Value, index: Value) -> None:
    """`meters["loss"]` of `defaultdict(Meter)`: what it counts is not what the one of another key counts.

    Unless a key that is not known has come before: that may have been this one.
    """
    for obj in base.of("dict"):
        fact = m.facts.calls.get(obj.node) if isinstance(obj.node, ast.Call) else None
        if fact is None or "collections.defaultdict" not in fact.names or not fact.node.args:
            continue
        if index.const is None:
            m.facts.fields[obj, UNKNOWN_KEY] = ANYTHING
        elif m.get(obj, f"[{index.const!r}]") is None and m.get(obj, UNKNOWN_KEY) is None:
            for made_by in m.facts.value(fact.node.args[0]).of("class"):
                key = Obj("key", fact.node, repr(index.const))
                put_element(m, Value(frozenset({obj})), instance(m, fact.node, made_by, [], {}, key), index.const)


def subscript(m: Machine, base: Value, index: Value, node: ast.Subscript) -> Value:
    if (own := by_class(m, base, "getitem", [index])) is not None:
        return own
    if base.of("shape"):
        first = index.const == samples_at(base) or (index.const is None and not isinstance(node.slice, ast.Slice))
        return m.size(base) if first and base.varies else Value(number=True)
    if base.items is not None and isinstance(index.const, int) and -len(base.items) <= index.const < len(base.items):
        return base.items[index.const]
    found: Value | None = None
    for obj in base.objs:
        if isinstance(node.slice, ast.Slice):
            found = base if found is None else join(found, base)
            continue
        exact = m.get(obj, f"[{index.const!r}]") if index.const is not None else None
        value = exact if exact is not None else m.get(obj, "[]")
        if value is not None:
            found = value if found is None else join(found, value)
    if base.of("model", "submodule"):  # model[0]: a part of the model
        root = next(iter(base.of("model", "submodule")))
        part = thing("submodule", node, "[]", root.owner or root)
        found = part if found is None else join(found, part)
    result = found or (m.elements(base) if base.items else ANYTHING)
    extent = domain.join_extent(spread(result), base.extent)
    if index.varies and extent in domain.WHOLE:
        extent = spread(index) if spread(index) is Extent.SAMPLES else Extent.VARYING
    objs = result.objs | base.of(*domain.OF_EACH)
    found = Value(objs, extent, result.items, result.const, result.sources, arrays=result.arrays | base.arrays)
    if spread(index) is Extent.SAMPLES and extent not in (*domain.WHOLE, Extent.SAMPLES):
        return domain.marked(found.with_extent(Extent.VARYING), domain.STATISTIC)  # of those that a rank has seen
    return _picked(m, found, base, index, node)


def _picked(m: Machine, found: Value, base: Value, index: Value, node: ast.Subscript) -> Value:
    """Of what is taken out of a batch: those samples, or others on each rank."""
    if isinstance(node.slice, ast.Slice) and base.of(domain.STATISTIC) and node.slice.step is None:
        return domain.marked(found, domain.PICKED)  # `torch.argsort(losses)[:k]`
    if not found.extent is base.extent is Extent.SAMPLES:
        return found
    if any(o.name == BATCHES for o in index.of("counter")):
        return found.with_extent(Extent.VARYING)  # `x[i]` of batch i: of a rank's share it is another sample
    found, at = _where(m, found, base, index, node)
    if at is None:
        return found
    place = m.facts.value(at)
    by_place = _is_some(m, at, base) or (
        not m.context.forward and (_is_first_few(m, at) or (_is_cut_off(at) and _is_a_batch(m, node)))
    )
    if isinstance(place.const, int) and _is_a_batch(m, node):
        return domain.marked(found, domain.PLACED)
    if not m.context.forward and (order := _order(m, at, place, tensor=_is_a_batch(m, node))):
        found = reduce(domain.marked, order, found)
        known = place.of(domain.MOVED)
        return replace(found, objs=found.objs - found.of(domain.MOVED) | known) if known else found
    if not index.of(domain.MASK, domain.PICKED) and not by_place:
        return found
    found = domain.marked(found, domain.PLACED) if by_place else found
    found = replace(found, objs=found.objs | (index.of(domain.PLACED) if index.of(domain.MASK) else frozenset()))
    by_mask = index.of(domain.MASK) and spread(index) is Extent.SAMPLES and not index.of(domain.PLACED)
    if by_mask and not [*base.of(domain.PICKED), *index.of(domain.PICKED)]:
        found = domain.marked(found, domain.BY_MASK)
    return domain.marked(found, domain.PICKED)


def _where(m: Machine, found: Value, base: Value, index: Value, node: ast.Subscript) -> tuple[Value, ast.expr | None]:
    """Where the samples are then, and what of the index is about them: of `x[:, 0]` the first part."""
    given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if any(isinstance(e, ast.Constant) and e.value is ... for e in given):
        return found, None
    news = [m.facts.value(e).const is domain.Literal.NONE or ast.unparse(e).endswith(".newaxis") for e in given]
    old = [e for e, new in zip(given, news, strict=True) if not new]
    if base.of(domain.TURNED):
        found, at = _of_columns(m, found, base, index, node), old[1] if len(old) > 1 else None
        return (found.with_extent(Extent.VARYING), None) if any(news[:2]) else (found, at)
    if news[0]:
        return before(domain.marked(found, domain.LINE) if base.of(domain.LINE) else found), old[0] if old else None
    column = [isinstance(e, ast.Slice) for e in given] == [True, False] and _is_column(index)
    line = column or (len(given) == 1 and bool(base.of(domain.LINE)))
    return domain.marked(found, domain.LINE) if line else found, given[0]


def _is_column(index: Value) -> bool:
    """`x[:, 0]`."""
    return index.items is not None and isinstance(index.items[-1].const, int)


def _order(m: Machine, node: ast.expr, index: Value, *, tensor: bool) -> tuple[str, ...]:
    """What is taken by places, `x[order]`, `x[[2, 0, 1]]`, `x[::-1]`; nothing where the samples stay in order."""
    if isinstance(node, ast.Slice):
        return (domain.MOVED if _is_all(node) else domain.PICKED, domain.PLACED) if node.step else ()
    if index.of(domain.PLACES, domain.MASK, domain.PICKED) or index.number or index.const is not None:
        return ()
    if m.facts.counts(node):  # `logp[range(len(y)), y]`, `x[range(len(x) - 1, -1, -1)]`
        back = isinstance(node, ast.Call) and [ast.unparse(a) for a in node.args[2:]] == ["-1"]
        stepped = isinstance(node, ast.Call) and len(node.args) > 2
        return (domain.MOVED,) if back else (domain.MOVED, domain.PICKED, domain.PLACED) if stepped else ()
    if spread(index) is Extent.SAMPLES or index.of(domain.STATISTIC):
        ordered = index.of(domain.STATISTIC, domain.MOVED, domain.PLACED) or not tensor
        return (domain.MOVED,) if ordered else (domain.MOVED, domain.PICKED, domain.PLACED)  # by what they are
    if spread(index) is Extent.VARYING:
        return (domain.MOVED, domain.PICKED)
    listed = index.of("list") or any(not m.facts.counts(array.node) for array in index.arrays)
    return (domain.MOVED, domain.PICKED, domain.PLACED) if listed else ()


def _is_some(m: Machine, node: ast.expr, base: Value) -> bool:
    """`x[: len(x) // 2]`; of `torch.cat([a, b])` that is the one of the two."""
    bounds = [m.facts.value(b) for b in (node.lower, node.upper) if b] if isinstance(node, ast.Slice) else []
    return not base.of(domain.JOINED) and any(spread(b) not in domain.WHOLE and not b.size for b in bounds)


def _is_cut_off(node: ast.expr) -> bool:
    """`x[1:]`, `x[:-1]`."""
    bounds = (node.lower, node.upper) if isinstance(node, ast.Slice) else ()
    return any(isinstance(b, ast.Constant | ast.UnaryOp) for b in bounds)


def _is_all(node: ast.Slice) -> bool:
    """`x[::-1]`."""
    return node.lower is node.upper is None and ast.unparse(node.step or node) == "-1"


def _of_columns(m: Machine, found: Value, base: Value, index: Value, node: ast.Subscript) -> Value:
    """Of a batch with its samples in the second dimension: a place in time, or some places."""
    place, *_ = index.items or (index,)
    first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
    called = m.facts.value(node.value.func) if isinstance(node.value, ast.Call) else ANYTHING
    one = not (called.of("model", "submodule") or isinstance(first, ast.Slice))  # `self.lstm(x)[0]`: what it gives
    one = one and (isinstance(place.const, int) or place.number or bool(place.of("counter")))
    if base.of(domain.LINE):
        return domain.placed(found, domain.LINE) if one else domain.marked(turned(found), domain.LINE)
    return found if one else replace(found, objs=found.objs | base.of(domain.TURNED))


def _is_first_few(m: Machine, node: ast.expr) -> bool:
    """`output[:16]`; smaller numbers are mostly places in a tuple, or steps in time."""
    bounds = [m.facts.value(b).const for b in (node.lower, node.upper) if b] if isinstance(node, ast.Slice) else []
    return any(isinstance(bound, int) and abs(bound) > FEW for bound in bounds)


def _is_a_batch(m: Machine, node: ast.Subscript) -> bool:
    """Of what a loss was given as it is: its first dimension is that of the samples, no tuple and no steps in time."""
    if not m.context.forward and _is_a_tensor(m, node.value, node):
        return True
    given = m.program.handed.get(ast.unparse(node.value), ())
    before = (c for c, a in given if place_of(a) < place_of(node) and m.facts.is_loss(c))
    return any(m.program.function_of(c) is m.program.function_of(node) for c in before)


def _is_a_tensor(m: Machine, node: ast.expr, at: ast.Subscript) -> bool:
    """What is computed is no tuple; nor is what is computed with, before, or as `x[1:] - x[:-1]`."""
    around = m.program.parents.get(at)
    if isinstance(around, ast.BinOp) and isinstance(around.op, ast.Sub) and isinstance(at.slice, ast.Slice):
        return True
    if isinstance(node, ast.Name):
        first = _computed_with(m.program).get((m.program.function_of(at), node.id))
        return first is not None and first < place_of(at)
    op = (
        effect_of(f".{node.func.attr if isinstance(node.func, ast.Attribute) else ''}")
        if isinstance(node, ast.Call)
        else None
    )
    alone = op is not None and op.samples in EACH_STAYS and bool(op.fresh or op.shape)
    return isinstance(node, ast.BinOp) or alone or (isinstance(node, ast.Attribute) and node.attr == "T")


@lru_cache(maxsize=4)
def _computed_with(program: Program) -> Mapping[tuple[ast.AST | None, str], tuple[int, int]]:
    """The names of a function, or of the cells, that something is computed with, and where first."""
    found: dict[tuple[ast.AST | None, str], tuple[int, int]] = {}
    for node in (n for n in program.nodes if isinstance(n, ast.Name)):
        if _computes_with(program.parents.get(node), node):
            key = program.function_of(node), node.id
            found[key] = min(found.get(key, place_of(node)), place_of(node))
    return found


def _computes_with(around: ast.AST | None, node: ast.Name) -> bool:
    """`x - y`, `x.view(…)`."""
    keeps = isinstance(around, ast.Attribute) and effect_of(f".{around.attr}").shape is not None
    return isinstance(around, ast.BinOp) or (keeps and isinstance(around, ast.Attribute) and around.value is node)


def _operands(m: Machine, node: ast.BoolOp) -> list[Value]:
    """Each is asked only where those before it have not decided."""
    found = [evaluate(m, node.values[0])]
    with ExitStack() as around:
        for operand in node.values[1:]:
            around.enter_context(chosen_by(m, found[-1]))
            found.append(evaluate(m, operand))
    return found


def _choice(m: Machine, node: ast.IfExp) -> Value:
    """One of two, by a condition that may differ between ranks."""
    test = evaluate(m, node.test)
    if (known := domain.truth(test)) is not None:
        return evaluate(m, node.body if known else node.orelse)
    varying = m.context.varying or m.differs(node.test, test)
    with m.within(conditions=m.context.conditions + 1, varying=varying):
        body, other = evaluate(m, node.body), evaluate(m, node.orelse)
    found = join(body, other)
    if not m.differs(node.test, test):
        return found.with_extent(Extent.VARYING) if domain.is_sum_or_not(body, other) else found
    samples = spread(test) is Extent.SAMPLES and spread(found) in (*domain.WHOLE, Extent.SAMPLES)
    return Value(found.objs, Extent.SAMPLES if samples else Extent.VARYING)


def _compare(m: Machine, node: ast.Compare) -> Value:
    parts = [evaluate(m, node.left), *(evaluate(m, c) for c in node.comparators)]
    note_statistic(m, node, *parts[:2])
    own = [by_comparison(m, op, *pair) for op, pair in zip(node.ops, pairwise(parts), strict=True)]
    if known_own := [value for value in own if value is not None]:
        return join_all(known_own)
    if len(parts) == 2 and (known := _compared(node.ops[0], *parts)) is not None:
        return Value(const=known)
    if all(isinstance(o, ast.Is | ast.IsNot) or _asks_for_none(o, p) for o, p in zip(node.ops, parts[1:], strict=True)):
        return ANYTHING
    found = Value(extent=elementwise(parts), equal=all(domain.alike(p) for p in parts))
    if any(p.of("shape") and p.varies for p in parts):  # `x.shape == (64, 3)`, and `x.shape == y.shape` on all ranks
        return Value(extent=Extent.VARYING, equal=all(p.of("shape") for p in parts))
    if Extent.SAMPLES not in map(spread, parts):
        return found
    places = frozenset[Obj]().union(*(p.of(domain.PLACED) for p in parts))
    return domain.marked(replace(found, objs=places), domain.MASK)


def _compared(op: ast.cmpop, left: Value, right: Value) -> bool | None:
    """What a comparison of literals comes to, and one with None of something known."""
    if _asks_for_none(op, right):
        if left.const is domain.Literal.NONE and not left.objs:
            return isinstance(op, ast.Is | ast.Eq)
        there = left.of(*domain.KNOWN) or spread(left) in (Extent.SAMPLES, Extent.MEAN, Extent.SUM)
        return isinstance(op, ast.IsNot | ast.NotEq) if left.const is None and there else None
    if isinstance(op, ast.In | ast.NotIn):
        choices = [i.const for i in right.items or ()]
        known = isinstance(left.const, str | int) and choices and all(isinstance(c, str | int) for c in choices)
        return ((left.const in choices) == isinstance(op, ast.In)) if known else None
    if isinstance(op, ast.Eq | ast.NotEq) and isinstance(left.const, str | int) and isinstance(right.const, str | int):
        return (left.const == right.const) == isinstance(op, ast.Eq)
    return None


def _asks_for_none(op: ast.cmpop, right: Value) -> bool:
    """`targets is None`, and `targets == None`, which no tensor is either."""
    return isinstance(op, ast.Is | ast.IsNot | ast.Eq | ast.NotEq) and right.const is domain.Literal.NONE


def _comprehension(m: Machine, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
    """Runs in the frame around it: its names are few and are put back after."""
    saved = dict(m.frame.local if m.frame.node is not None else m.globals)
    made, around = m.make("dict" if isinstance(node, ast.DictComp) else "list", node), m.context

    def body() -> None:
        key = evaluate(m, node.key).const if isinstance(node, ast.DictComp) else None
        value = evaluate(m, node.value if isinstance(node, ast.DictComp) else node.elt)
        note_size(m.facts, made.objs if m.context.of_share and not around.of_share else ())
        if m.context.varying and not around.varying and value.extent is Extent.SUM:
            value = value.with_extent(Extent.SAMPLES)  # of one of them
        with m.within(varying=around.varying, of_share=around.of_share):
            put_element(m, made, value, key)

    m.steps.comprehension(m, node.generators, body)
    env = m.frame.local if m.frame.node is not None else m.globals
    m.rebound = object() if env is m.globals else m.rebound
    for name in sorted({n.id for g in node.generators for n in walk(g.target) if isinstance(n, ast.Name)}):
        env.pop(name, None)
        if name in saved:
            env[name] = saved[name]
    over_samples = any(_goes_through_samples(m, g) for g in node.generators)
    tests = [m.facts.value(c) for g in node.generators for c in g.ifs]
    note_size(m.facts, made.objs if any(spread(t) is Extent.VARYING for t in tests) else ())
    picks = any(spread(t) is Extent.SAMPLES or (over_samples and t.varies) for t in tests)
    return domain.marked(made, domain.PICKED) if picks else domain.marked(made, domain.EACH) if over_samples else made


def _goes_through_samples(m: Machine, generator: ast.comprehension) -> bool:
    """Those of a batch, not batches of a loader."""
    source = m.facts.value(generator.iter)
    return not loaders_in(m, source) and spread(iterate(m, source, generator)) is Extent.SAMPLES


def _joined(m: Machine, node: ast.JoinedStr) -> Value:
    extent = Extent.UNIFORM
    for part in node.values:
        extent = domain.join_extent(extent, spread(evaluate(m, part)))
    return Value(extent=extent if extent in domain.WHOLE else Extent.VARYING)
