"""Evaluate an expression in the abstract."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise

from nbddp.analysis.evaluator.attributes import read
from nbddp.analysis.evaluator.calls import call
from nbddp.analysis.evaluator.iteration import for_each_sample, give, iterate, loaders_in, may_be_a_tuple, taken_from
from nbddp.analysis.evaluator.operands import compared, computed, constant, named
from nbddp.analysis.evaluator.picking import make_what_it_lacks, subscript
from nbddp.analysis.evaluator.tensors import shaped
from nbddp.analysis.evaluator.writes import put_all, put_element
from nbddp.analysis.library import effect_of
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import (
    ANYTHING,
    Extent,
    Machine,
    Value,
    as_average,
    as_total,
    chosen,
    chosen_by,
    domain,
    join,
    join_all,
    join_extent,
    note_size,
    spread,
    unary,
    with_statistics,
)

MOVES = ("to", "cuda", "cpu")  # between devices


def evaluate(m: Machine, node: ast.expr) -> Value:
    """The value, also noted at its node."""
    value = evaluate_unseen(m, node)
    m.facts.see(node, value)
    if value.of("list", "dict") and isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
        old = m.facts.held.get(node, Extent.UNIFORM)
        m.facts.held[node] = join_extent(old, m.held(value, objects=False))
    return value


def evaluate_unseen(m: Machine, node: ast.expr) -> Value:
    """Of a node that is made for the moment: nobody will ask for it."""
    return shaped(m, node, with_statistics(m, node, _sized(m, node, _evaluate(m, node))))


def _sized(m: Machine, node: ast.expr, value: Value) -> Value:
    """A place that reads a batch size may be about the share where the number itself is not, and the other way."""
    if node in m.assumed.whole_sizes or node in m.assumed.returned:
        return replace(value, extent=Extent.UNIFORM)
    if node in m.assumed.summed:
        return as_total(m, node, value)
    if node in m.assumed.averaged:
        return as_average(m, node, value)
    if node in m.assumed.shares and isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        return replace(value, extent=Extent.SUM, equal=True, size=True, number=True)
    if node in m.assumed.even:
        return replace(value, batches=0)
    for split in m.assumed.splits:
        if node in split.states:
            return domain.placed(Value(extent=Extent.SAMPLES), domain.TURNED if split.dim else "")
        if node in split.inline or node in split.renamed:
            return split.samples(m.program.source(node), value)
    return value


def _evaluate(m: Machine, node: ast.expr) -> Value:  # noqa: C901, PLR0912 -- one case for each kind of node
    match node:
        case ast.Constant():
            return constant(m, node)
        case ast.Name():
            return named(m, node)
        case ast.Attribute():
            return attribute(m, evaluate(m, node.value), node)
        case ast.Call():
            for field in m.program.text_fields.get(node, ()):
                evaluate(m, field.read)
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
            return compared(m, node, [evaluate(m, part) for part in (node.left, *node.comparators)])
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


def attribute(m: Machine, base: Value, node: ast.Attribute) -> Value:
    turns = node.attr == "mT" and spread(base) is Extent.SAMPLES and base.rank == 2
    return read(m, base, "T" if turns else node.attr, node)


def _call(m: Machine, node: ast.Call) -> Value:
    receiver = None
    if isinstance(node.func, ast.Attribute):
        receiver = evaluate(m, node.func.value)
        func = attribute(m, receiver, node.func)
        m.facts.see(node.func, func)
    else:
        func = evaluate(m, node.func)
    _made_anew(m, node, func)
    given = [_given(m, a) for a in node.args]
    args = [value for values, _ in given for value in values]
    keywords = {k.arg or "**": evaluate(m, k.value) for k in node.keywords}
    if any(is_open for _, is_open in given):
        keywords["*"] = args[-1]
    return call(m, node, func, receiver, args, keywords)


def _made_anew(m: Machine, node: ast.Call, func: Value) -> None:
    """`torch.cat([x, y])`: nothing keeps the list, and it holds nothing of what went into it in the training."""
    if func.objs and all(o.kind == "library" and effect_of(o.name).reads for o in func.objs):
        for made in (m.make("list", a) for a in node.args if isinstance(a, ast.List)):
            m.drop_fields(made)


def _given(m: Machine, node: ast.expr) -> tuple[Sequence[Value], bool]:
    """`f(*pair)`: each for itself, where it is known how many there are; else there may be any number of them."""
    if not isinstance(node, ast.Starred):
        return [evaluate(m, node)], False
    whole = evaluate(m, node.value)
    one = iterate(m, whole, node)
    m.facts.see(node, one)
    return ([one], True) if whole.items is None else (whole.items, False)


def _binary(m: Machine, node: ast.BinOp) -> Value:
    left = evaluate(m, node.left)
    return computed(m, node, left, evaluate(m, node.right))


def _tuple(m: Machine, node: ast.Tuple) -> Value:
    if any(isinstance(e, ast.Starred) for e in node.elts):
        return join_all(evaluate(m, e) for e in node.elts)
    return Value(items=tuple(evaluate(m, e) for e in node.elts))


def _dict(m: Machine, node: ast.Dict) -> Value:
    made = m.make("dict", node)
    (obj,) = made.objs
    for key, item in zip(node.keys, node.values, strict=True):
        value = evaluate(m, item)
        if key is None:  # {**other}
            put_all(m, made, value)
            continue
        at = evaluate(m, key)
        note_size(m.facts, made.objs if at.varies else ())
        if at.const is not None:
            m.put(obj, f"[{at.const!r}]", value)
        m.put(obj, "[]", value)
    return made


def _subscript(m: Machine, node: ast.Subscript) -> Value:
    base, index = evaluate(m, node.value), evaluate(m, node.slice)
    make_what_it_lacks(m, base, index)
    return subscript(m, base, index, node)


def _operands(m: Machine, node: ast.BoolOp) -> list[Value]:
    """Each is asked only where those before it have not decided."""
    found = [evaluate(m, node.values[0])]
    with ExitStack() as around:
        for before, operand in pairwise(node.values):
            if any(isinstance(n, ast.Call) for n in walk(operand)):  # `loss.item() > best and scheduler.step()`
                m.differs(before, found[-1])
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
    chosen = domain.of_one(found, [test, body, other])
    return Value(chosen.objs | test.of(domain.PLACED), Extent.SAMPLES if samples else Extent.VARYING)


def _comprehension(m: Machine, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
    """Runs in the frame around it: its names are few and are put back after."""
    saved = dict(m.frame.local if m.frame.node is not None else m.globals)
    made, around = m.make("dict" if isinstance(node, ast.DictComp) else "list", node), m.context

    def body() -> None:
        key = evaluate(m, node.key) if isinstance(node, ast.DictComp) else ANYTHING
        value = evaluate(m, node.value if isinstance(node, ast.DictComp) else node.elt)
        number = value if isinstance(node, ast.SetComp) else key
        apart = spread(number) in (Extent.MEAN, Extent.SUM, Extent.VARYING)
        note_size(m.facts, made.objs if apart or (m.context.of_share and not around.of_share) else ())
        value = domain.of_each(value) if m.context.varying and not around.varying else value
        with m.within(varying=around.varying, of_share=around.of_share):
            put_element(m, made, value, key.const)

    m.steps.comprehension(m, node.generators, body)
    env = m.frame.local if m.frame.node is not None else m.globals
    m.rebound = object() if env is m.globals else m.rebound
    for name in sorted({n.id for g in node.generators for n in walk(g.target) if isinstance(n, ast.Name)}):
        env.pop(name, None)
        if name in saved:
            env[name] = saved[name]
    tensors = not isinstance(node, ast.DictComp) and _moves_tensors(m, node)
    over_samples = any(_goes_through_samples(m, g) or for_each_sample(m, g.iter) for g in node.generators)
    over_samples = over_samples and not tensors
    tests = [m.facts.value(c) for g in node.generators for c in g.ifs]
    note_size(m.facts, made.objs if any(spread(t) is Extent.VARYING for t in tests) else ())
    picks = any(spread(t) is Extent.SAMPLES or (over_samples and t.varies) for t in tests)
    picks = picks or (over_samples and any(m.facts.value(g.iter).of(domain.PICKED) for g in node.generators))
    if picks and any(t.of(domain.PLACED) for t in tests):
        made = domain.marked(made, domain.PLACED)
    if over_samples and m.elements(made).of(domain.STATISTIC):
        made = domain.marked(made, domain.STATISTIC)
    return domain.marked(made, domain.PICKED) if picks else domain.marked(made, domain.EACH) if over_samples else made


def _moves_tensors(m: Machine, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> bool:
    """`tuple(t.to(device) for t in batch)`: those of a batch as a loader gives it; nobody moves samples one by one."""
    match node:
        case ast.ListComp(elt=elt, generators=[one]) | ast.GeneratorExp(elt=elt, generators=[one]):
            moved = isinstance(elt, ast.Call) and isinstance(elt.func, ast.Attribute) and elt.func.attr in MOVES
            return moved and may_be_a_tuple(m, one.iter)
    return False


def _goes_through_samples(m: Machine, generator: ast.comprehension) -> bool:
    """Those of a batch, not batches of a loader."""
    source = m.facts.value(generator.iter)
    known = bool(source.of("list")) and not source.of(domain.EACH, domain.PICKED) and source.extent in domain.WHOLE
    return not (known or loaders_in(m, source)) and spread(iterate(m, source, generator)) is Extent.SAMPLES


def _joined(m: Machine, node: ast.JoinedStr) -> Value:
    extent, texts = Extent.UNIFORM, list[object]()
    for part in node.values:
        extent = domain.join_extent(extent, spread(evaluate(m, part)))
        match part:
            case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
                texts.append(m.facts.value(inner).const)
            case _:
                texts.append(m.facts.value(part).const)
    const = "".join(map(str, texts)) if all(isinstance(text, str) for text in texts) else None  # `f"pre_{self.mode}"`
    return Value(extent=extent if extent in domain.WHOLE else Extent.VARYING, const=const)
