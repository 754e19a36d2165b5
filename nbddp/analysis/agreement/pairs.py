"""Samples of a batch that are set against each other: a rank sees only those of its share."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.evaluator import contracted
from nbddp.analysis.library import MATRIX, Samples, Shape, effect_of, entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting import is_put_back, leaves_the_first, sizes_in
from nbddp.analysis.syntax import keywords_of, qualified
from nbddp.analysis.values import (
    ANYTHING,
    EARLIER,
    FLAT,
    LINE,
    MOVED,
    ONE,
    OPERATORS,
    PICKED,
    STATES,
    TURNED,
    Extent,
    Place,
    Value,
    spread,
)

LINE_AND_COLUMN = (1, 2)  # places of samples, from the last
ELSEWHERE = (TURNED, FLAT, ONE, PICKED)  # marks of samples that stand elsewhere than in the first dimension, or one
BEFORE = 4  # arguments of a recurrent layer, before the one that says where the samples are
SHUFFLES = ("torch.randperm", "numpy.random.permutation")


def among_samples(plan: Reading) -> Iterator[ast.expr | ast.stmt]:
    """Where a sample meets others of its batch, or a statistic of it: the outermost expressions; also statements."""
    told: set[ast.AST] = set()
    for node in plan.nodes():
        of_its_batch = node in plan.facts.among_samples and not is_put_back(plan, node)
        of_its_batch |= node in plan.facts.out_of_proportion
        compares = isinstance(node, ast.BinOp | ast.Call | ast.Compare) and compares_samples(plan, node)
        if (of_its_batch or compares) and not any(a in told or a in plan.dealt for a in plan.program.ancestors(node)):
            told |= {node} if of_its_batch else set()
            assert isinstance(node, ast.expr | ast.stmt)
            yield node


def is_paired(plan: Reading, node: ast.AST) -> bool:
    """`x - y.T`, `mse_loss(x[:, 0], y)` where `y` is a column; not `masks.argmax(1) == y`, of pictures."""
    found = (places for places in _meetings(plan, node) if len(places - {None}) > 1 and _are_known(places))
    return any(not _compares(node) or all(p is None or p in LINE_AND_COLUMN for p in places) for places in found)


def perhaps_paired(plan: Reading) -> Iterator[ast.expr]:
    """What computes with several tensors of samples of which one may have another number of dimensions.

    That a comparison is of what is alike is taken for granted: what it would count is of no use to anyone.
    """
    for node in plan.facts.meets:
        in_a_model = plan.program.function_of(node) in plan.run_by_models
        if in_a_model or _compares(node) or is_paired(plan, node):
            continue
        if any(len(places) > 1 or None in places for places in _meetings(plan, node)):
            assert isinstance(node, ast.expr)
            yield node


def _compares(node: ast.AST) -> bool:
    """`pred == y`, `pred.eq(y)`."""
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(node, ast.Compare) or bool(
        isinstance(called, ast.Attribute) and effect_of(f".{called.attr}").truth
    )


def _meetings(plan: Reading, node: ast.AST) -> Iterator[set[Place]]:
    ranks = plan.facts.ranks
    for places in plan.facts.meets.get(node, ()):
        yield {p[1] + min(ranks[p[0]]) if isinstance(p, tuple) and len(ranks.get(p[0], ())) == 1 else p for p in places}


def _are_known(places: set[Place]) -> bool:
    """From the same end."""
    ends = {p[0] if isinstance(p, tuple) else None for p in places - {None}}
    return len(ends) == 1


def compares_samples(plan: Reading, node: ast.BinOp | ast.Call | ast.Compare) -> bool:
    """`a @ b.T`, `a[:, None] - b[None]`, `torch.cdist(a, b)` with a sample in each row of both."""
    if isinstance(node, ast.Call) and _goes_along_samples(plan, node):
        return True
    if is_paired(plan, node) or _meets_another_order(plan, node) or _meets_those_before(plan, node):
        return True
    if isinstance(node, ast.Call):
        parts, against = _called(plan, node)
    else:
        parts = [node.left, node.comparators[0] if isinstance(node, ast.Compare) else node.right]
        multiplied = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
        minus = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)
        turned = (minus and _in_columns(plan, parts)) or _with_its_own(*parts) or {*map(_place, parts)} == {0, 1}
        against = _is_product(plan, parts) if multiplied else turned
    values = [plan.facts.value(p) for p in parts]
    return against and bool(parts) and all(spread(v) is Extent.SAMPLES and not v.of(ONE) for v in values)


def _goes_along_samples(plan: Reading, call: ast.Call) -> bool:
    """`nn.LSTM(8, 8)(x)`, which takes time for the first dimension, of batches as a DataLoader puts them together.

    Or one that takes samples for the first, of what was turned.
    """
    given = plan.facts.value(call.args[0]) if call.args else ANYTHING
    layers = [o.node for o in plan.facts.value(call.func).of("model", "submodule") if effect_of(o.name).sequence]
    if spread(given) is not Extent.SAMPLES or given.items or not layers:
        return False
    made = [n for n in layers if isinstance(n, ast.Call)]
    time_first = len(made) == len(layers) and all(_is_time_first(plan, n) for n in made)
    if given.of(TURNED) and not given.of(LINE, FLAT, ONE, PICKED) and all(o.name != STATES for o in given.of(TURNED)):
        return len(made) == len(layers) and not any(_is_time_first(plan, n, unknown=True) for n in made)
    if given.of(*ELSEWHERE) or not time_first:
        return False
    own = plan.options.exact or any("collate_fn" in fact.args for fact in plan.facts.calls.values())
    moves = any(_moves_the_first(plan, n) for n in plan.nodes() if isinstance(n, ast.Attribute))
    return _begins_with_samples(given) or not (own or moves)


def _begins_with_samples(given: Value) -> bool:
    """By its sizes, of which only theirs is not known."""
    sizes = given.shape if isinstance(given.shape, tuple) else ()
    return len(sizes) > MATRIX and sizes[0] is None and None not in sizes[1:]


def _moves_the_first(plan: Reading, method: ast.Attribute) -> bool:
    """`x.transpose(0, 1)`, `x.view(28, -1, 28)`; not `x.transpose(1, 2)`, `x.view(len(x), -1)`."""
    shape = entry_of(method).shape
    if plan.program.function_of(method) not in plan.run_by_models and not _is_of_step(plan, method):
        return False
    if shape is Shape.TURNED:
        return not leaves_the_first(plan, method)
    call = plan.program.parents[method]
    first = next(iter(sizes_in(call.args)), None) if shape is Shape.ANEW and isinstance(call, ast.Call) else None
    return first is not None and not plan.facts.value(first).size and plan.facts.value(first).const != -1


def _is_of_step(plan: Reading, node: ast.AST) -> bool:
    """In the loop over the batches, or in a function that it runs."""
    call, steps = plan.program.parents[node], {f.node for f in plan.roles.batch_loops}
    fact = plan.facts.calls.get(call) if isinstance(call, ast.Call) else None
    return not steps.isdisjoint(plan.program.ancestors(node)) or (fact is not None and bool(fact.loops & steps))


def _is_time_first(plan: Reading, made: ast.Call, *, unknown: bool = False) -> bool:
    """As it is where nothing else is said, by name or by place; perhaps where that is `unknown`."""
    named = keywords_of(made)
    said = named.get("batch_first")
    open_ended = len(made.args) > BEFORE or any(k.arg is None for k in made.keywords)
    if said is None:
        return unknown or not open_ended
    const = plan.facts.value(said).const
    return const is not True if unknown else const is False


def _meets_another_order(plan: Reading, node: ast.BinOp | ast.Call | ast.Compare) -> bool:
    """`output - y[order]`: each sample meets another; of samples that are all in that order nothing need be said."""
    if isinstance(node, ast.Call):
        given = node.args if plan.facts.is_loss(node) else []
    else:
        given = [node.left, *(node.comparators if isinstance(node, ast.Compare) else [node.right])]
    values = [v for v in map(plan.facts.value, given) if spread(v) is Extent.SAMPLES]
    moved = [{o.name for o in v.of(MOVED)} for v in values]
    return {""} in moved and set() in moved


def _meets_those_before(plan: Reading, node: ast.expr) -> bool:
    """`h = cell(x[i], h)` in a loop over the samples."""
    layer = isinstance(node, ast.Call) and plan.facts.value(node.func).of("model", "submodule")
    return bool(layer) and isinstance(node, ast.Call) and any(plan.facts.value(a).of(EARLIER) for a in node.args)


def _called(plan: Reading, call: ast.Call) -> tuple[list[ast.expr], bool]:
    """What is set against what; `x.roll(1, 0)` and `x[torch.randperm(len(x))]` pair each sample with another."""
    method = isinstance(call.func, ast.Attribute) and not plan.facts.value(call.func).of("library")
    word = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    given = [call.func.value, *call.args] if method and isinstance(call.func, ast.Attribute) else call.args
    name = f"torch.{word}" if method else qualified(call.func, plan.flow.imports) or ""
    op = effect_of(name)
    if op.samples is Samples.MOVES:
        return given[:1], bool(plan.facts.value(call).of(MOVED))
    if name in SHUFFLES:
        places = {spread(plan.facts.value(g)) for g in given[:1]}
        return [call], Extent.SUM in places
    if name == "torch.einsum":
        found = contracted(plan.facts.value(given[0]).const, [*map(plan.facts.value, given[1:])]) if given else None
        return given[1:], found is not None and len(set(found[0])) > 1
    if {*map(_place, call.args[:2])} == {0, 1}:  # `self.similarity(z.unsqueeze(1), z.unsqueeze(0))`
        return call.args[:2], True
    if len(given) < 2 or op.distances:
        return given[:2], bool(op.distances) and (plan.facts.value(given[0]).rank or 0) <= MATRIX
    minus = isinstance(OPERATORS.get(word), ast.Sub) and _in_columns(plan, given[:2])
    return given[:2], minus or bool(op.product and _is_product(plan, given[:2]))


def _is_product(plan: Reading, parts: list[ast.expr]) -> bool:
    """Of samples in rows with samples in columns."""
    left, right = (plan.facts.value(p) for p in parts)
    return bool(right.of(TURNED) and not left.of(TURNED))


def _in_columns(plan: Reading, parts: list[ast.expr]) -> bool:
    """`p - q.T`: unless the left has one number for each sample, it has them in rows."""
    rows, columns = map(plan.facts.value, parts)
    return bool(columns.of(TURNED) and columns.of(LINE)) and not rows.of(TURNED, LINE, FLAT)


def _with_its_own(left: ast.expr, right: ast.expr) -> bool:
    """`scores - scores.T`, `labels == labels.t()`."""
    match right:
        case ast.Attribute(value=turned, attr="T") | ast.Call(func=ast.Attribute(value=turned, attr="t")):
            return ast.dump(turned) == ast.dump(left)
    return False


def _place(node: ast.expr) -> int | None:
    """Where `x.unsqueeze(0)`, `x[:, None]` and `x.view(-1, 1)` put a new dimension."""
    match node:
        case ast.Call(func=ast.Attribute(attr="unsqueeze"), args=[ast.Constant(value=int(place))]) if place in (0, 1):
            return place
        case ast.Call(func=ast.Attribute(attr="view" | "reshape"), args=[ast.Constant(value=1), ast.UnaryOp()]):
            return 0
        case ast.Call(func=ast.Attribute(attr="view" | "reshape"), args=[ast.UnaryOp(), ast.Constant(value=1)]):
            return 1
        case ast.Subscript(slice=ast.Constant(value=None) | ast.Tuple(elts=[ast.Constant(value=None), *_])):
            return 0
        case ast.Subscript(slice=ast.Tuple(elts=[ast.Slice(), ast.Constant(value=None), *_])):
            return 1
    return None
