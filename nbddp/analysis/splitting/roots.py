"""From what a model is given back to the names and pieces of data that hold the batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from nbddp.analysis.library import Samples, entry_of
from nbddp.analysis.reading import Reading, scope_of
from nbddp.analysis.splitting.origins import (
    TENSORS,
    holds_tools,
    is_mask,
    is_moved,
    is_of_library,
    is_of_tensors,
    is_only_gone_through,
    is_state,
    is_table,
    lists_settings,
    picked_by,
    picks_at_random,
    written_sizes,
)
from nbddp.analysis.splitting.own_parameters import inputs, learned
from nbddp.analysis.splitting.regions import Region, definitions, set_anew, stored
from nbddp.analysis.syntax import qualified, walk
from nbddp.analysis.values import MARKS, Literal

DATA = ("list", "dict", "foreign", "dataset")  # things that may be or hold samples
DEPTH = 6  # of names that are made of names
FAR = 60  # steps back
TURNED = ("T", "mT")  # all of what they are read from


@dataclass(frozen=True, eq=False)
class Root:
    """One thing that holds samples, where it is read."""

    node: ast.expr
    name: str | None = None  # a variable of its own; else a piece of something
    one: bool = False  # picked by a number: a single sample, or a single place in time


def is_data(plan: Reading, node: ast.expr) -> bool:
    """May it hold samples: no number, no model, no function?"""
    value = plan.facts.value(node)
    if isinstance(node, ast.Name) and not plan.roles.models and node.id in learned(plan):
        return False
    filled = type(value.const) in (int, float) and not value.number  # `torch.zeros(32, 1) + 1` is known to be 1
    literal = not isinstance(value.const, Literal | None) and not filled
    kinds = (*DATA, *MARKS, *(["instance"] if value.of("instance") and is_of_tensors(plan, node) else []))
    others = value.objs - value.of(*kinds) - inputs(plan, value)
    single = value.shape == () and not value.objs  # `X.std() + 1e-6`
    plain = not (value.number or single) and not literal and not others and not value.size
    return plain and not any(holds_tools(plan, obj.node) for obj in value.of("list"))


def roots(region: Region, node: ast.expr, seen: frozenset[ast.AST] = frozenset()) -> Iterator[Root]:
    """What holds the samples that an expression of the step is made of; remembered, unless it leads back to itself."""
    if node in region.found:
        yield from region.found[node]
        return
    if node in seen or len(seen) > FAR:
        region.open.add(node)
        return
    around = {*region.open}
    region.open.clear()
    found = [*_roots(region, node, seen | {node})]
    region.open.discard(node)
    if not region.open:
        region.found[node] = found
    region.open.update(around)
    yield from found


def _roots(region: Region, node: ast.expr, seen: frozenset[ast.AST]) -> Iterator[Root]:
    match node:
        case ast.Constant() | ast.Lambda():
            return
        case ast.Name() | ast.Attribute() | ast.Subscript():
            yield from _of_place(region, node, seen)
        case ast.Call():
            yield from _of_call(region, node, seen)
        case ast.IfExp():  # what it asks is no sample
            for branch in (node.body, node.orelse):
                yield from roots(region, branch, seen)
        case ast.BinOp():  # `(X - mean) / deviation`, `X @ W`: what has a row for each sample is on the left, if at all
            of_left = list(roots(region, node.left, seen))
            yield from of_left
            if not of_left or not region.whole or not region.plan.roles.models:
                yield from roots(region, node.right, seen)
        case _:
            for child in ast.iter_child_nodes(node):
                inner = child.value if isinstance(child, ast.keyword) else child
                if isinstance(inner, ast.expr):
                    yield from roots(region, inner, seen)


Place = ast.Name | ast.Attribute | ast.Subscript


def _of_place(region: Region, node: Place, seen: frozenset[ast.AST]) -> Iterator[Root]:
    base = base_of(node)
    if not isinstance(base, ast.Name):
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                yield from roots(region, part, seen)
        return
    if isinstance(node, ast.Attribute) and (entry_of(node).about or node.attr in TURNED):
        yield from roots(region, node.value, seen) if node.attr in TURNED else ()
        return
    if (made := _made_of(region, base)) is not None:
        for value in made:
            yield from roots(region, value, seen)
    elif isinstance(node, ast.Name):
        if is_data(region.plan, node) and not _is_no_batch(region, node) and not is_state(region.plan, node):
            yield Root(node, node.id)
    elif (index := computed_index(node)) is None:
        if is_data(region.plan, node) and not _is_no_batch(region, node):
            yield Root(node)
    else:
        yield from _indexed(region, node, index)


def _made_of(region: Region, name: ast.Name) -> Iterator[ast.expr] | None:
    """What the step makes it of; `p` of `[p.exp() for p in parts]`, of a lambda, or of a function that calls one."""
    scope = scope_of(region.plan.program, name, name.id)
    if scope is not None and scope not in region.plan.program.ancestors(region.at):
        return region.plan.bindings.below(name)
    anew = name.id not in region.bound_before or bool(set_anew(region.plan, region.rest, name))
    if name.id not in region.bound_in_rest or not anew or _is_next(region, name):
        return None
    made = [*definitions(region, name)]
    return iter(made) if not made or not all(is_moved(one, name.id) for one in made) else None  # `X = X.to(device)`


def _is_next(region: Region, name: ast.Name) -> bool:
    """`xb, yb = prefetcher.next()`, `X = X[order]` at the end of a turn: read before it is what that turn has left."""
    found = list(definitions(region, name))
    later = all(region.plan.program.span(value) > region.plan.program.span(name) for value in found)
    return not region.whole and later and not any(comes_out(region, value) for value in found)


def comes_out(region: Region, node: ast.expr, depth: int = 0) -> bool:
    """Does it hold what a model has made of the samples? What is done to the data before is another matter."""
    for part in walk(node):
        if part in region.chain or (isinstance(part, ast.Call) and region.plan.facts.value(part.func).of("model")):
            return True
        if isinstance(part, ast.Name) and region.plan.program.function_of(part) is not region.scope:  # of a closure
            if any(n in region.chain for n in region.plan.bindings.made_of(part, through_calls=False)):
                return True
        if isinstance(part, ast.Name) and part.id in region.bound_in_rest and depth < DEPTH:
            if any(comes_out(region, value, depth + 1) for value in definitions(region, part)):
                return True
    return not region.plan.roles.models


def _indexed(region: Region, node: ast.expr, index: ast.expr) -> Iterator[Root]:
    """`X[idx]`: the indices are the batch; `X[i : i + 32]`: the piece is; `X[i]` is one of its samples."""
    if isinstance(index, ast.Slice) or (isinstance(index, ast.Tuple) and isinstance(index.elts[0], ast.Slice)):
        if not _is_all(index):
            yield Root(node)
        elif isinstance(node, ast.Subscript):  # `X[:, 0]`: of all samples
            yield from roots(region, node.value)
        return
    first = index.elts[0] if isinstance(index, ast.Tuple) else index
    if _is_number(region, first):
        yield Root(node, one=True)
    elif isinstance(node, ast.Subscript) and is_mask(region.plan, first):
        base = base_of(node)
        drawn = isinstance(base, ast.Name) and base.id in region.bound_before | region.bound_in_rest
        yield from roots(region, node.value) if region.whole or drawn else [Root(node)]  # `y[mask]` of a batch
    elif isinstance(first, ast.Name | ast.Attribute | ast.Subscript) and not region.whole:
        yield from list(_of_place(region, first, frozenset())) or [Root(node)]
    else:
        yield Root(node)


def _is_number(region: Region, node: ast.expr) -> bool:
    """A place, or one that a loop counts; no tensor of places."""
    value = region.plan.facts.value(node)
    if value.number or value.of("counter") or isinstance(value.const, int):
        return True
    if isinstance(node, ast.BinOp):
        return _is_number(region, node.left) and _is_number(region, node.right)
    return isinstance(node, ast.Name) and any(
        node.id in stored(loop.target) and region.plan.facts.counts(loop.iter)
        for loop in region.plan.facts.loops
        if isinstance(loop, ast.For) and loop in region.plan.program.ancestors(node)
    )


def _is_all(index: ast.expr) -> bool:
    first = index.elts[0] if isinstance(index, ast.Tuple) else index
    return isinstance(first, ast.Slice) and first.lower is first.upper is None


def _of_call(region: Region, node: ast.Call, seen: frozenset[ast.AST]) -> Iterator[Root]:
    """`xb.to(device)` is about `xb`; a call of anything else is about what it is given."""
    places = picked_by(region.plan, node)
    number = region.plan.facts.value(node).shape == () and not comes_out(region, node)  # `table["x"].max()`
    if number or places is not None:
        yield from roots(region, places, seen) if places is not None else ()
        return
    if isinstance(node.func, ast.Attribute):
        of_receiver = list(roots(region, node.func.value, seen))
        if of_receiver:
            yield from of_receiver
            return
    if isinstance(node.func, ast.Name) and node.func.id == "len":
        return
    if isinstance(node.func, ast.Attribute) and node.func.attr == "to":  # what it is given is a device
        return
    if is_single(region.plan, node):
        yield Root(node, one=True)
        return
    if _makes_one(region, node):
        return
    given_to = [*node.args, *(k.value for k in node.keywords)]
    of_given = _of_given(region, node, given_to, seen)
    if picks_at_random(region.plan, node, given_to) and not any(_is_set_anew(region, root) for root in of_given):
        yield Root(node)
    else:
        yield from of_given


def _of_given(region: Region, call: ast.Call, given_to: list[ast.expr], seen: frozenset[ast.AST]) -> list[Root]:
    found: list[Root] = []
    for given in (one for one in given_to if not is_table(region.plan, call, one)):
        found += roots(region, given.value if isinstance(given, ast.Starred) else given, seen)
        if found and entry_of(call, region.plan.flow.imports).product:  # as of `X @ W`
            break
    return found


def _is_set_anew(region: Region, root: Root) -> bool:
    """`xb`, `order[i : i + 16]`: a batch already; what is shuffled or mixed in it is no pick of other data."""
    if not isinstance(root.node, Place) or computed_index(root.node) is not None:
        return True
    base = base_of(root.node)  # `data.X`, `data["x"]`: as a name that was there before
    return isinstance(base, ast.Name) and base.id in region.bound_in_rest


def is_single(plan: Reading, node: ast.AST) -> bool:
    """`torch.tensor([label])`: made of one thing; a point that never changes, `torch.tensor([[0.0]])`, is no sample."""
    given = node.args[:1] if isinstance(node, ast.Call) else []
    named = [n for a in given for n in walk(a) if isinstance(n, ast.Name) and not _is_written(plan, n)]
    named = [n for n in named if not plan.facts.value(n).of("library")]  # `2 * np.pi`
    return bool(named) and _lists_one(plan, node)


def _is_written(plan: Reading, name: ast.Name) -> bool:
    """A number that is written out once: `def train(start)`, which is called as `train(2.0)`."""
    made = [*plan.bindings.made_by(name)]
    return len(made) == 1 and isinstance(made[0], ast.Constant)


def _lists_one(plan: Reading, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or qualified(node.func, plan.flow.imports) not in TENSORS:
        return False
    given = node.args[0] if node.args else None
    return isinstance(given, ast.List) and len(given.elts) == 1 and not isinstance(given.elts[0], ast.Starred)


def _is_no_batch(region: Region, node: Place) -> bool:
    return _is_one_thing(region, node) or is_only_gone_through(region.plan, node)


def _is_one_thing(region: Region, node: Place) -> bool:
    """`start = torch.tensor([[0.0]])`; what a call is given as `torch.tensor([2.0, -1.0])`: none of the batch."""
    made = [(one.value, one.by) for one in region.plan.bindings.of(node) if one.value is not None]
    kinds = (
        _makes_one(region, v) or _is_taken_over_all(region, v) or _is_given_numbers(region, v, by) for v, by in made
    )
    return bool(made) and (all(kinds) or all(lists_settings(region.plan, node, v) for v, _ in made))


def _is_given_numbers(region: Region, node: ast.expr, by: ast.AST) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(by, ast.Call)):
        return False
    tensor = qualified(node.func, region.plan.flow.imports) in TENSORS
    return tensor and not any(isinstance(n, ast.Name) for a in node.args[:1] for n in walk(a))


def _is_taken_over_all(region: Region, node: ast.expr) -> bool:
    """`X.mean(0)`, `torch.std(X)`: one for all samples."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or region.dim:
        return False
    first = all(isinstance(a, ast.Constant) and a.value == 0 for a in dims_of(region.plan, node))
    return first and entry_of(node.func).samples in (Samples.SUM, Samples.MEAN, Samples.STATISTIC)


def _makes_one(region: Region, node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=base)) if not isinstance(base, ast.Name):
            return _makes_one(region, base)  # `torch.zeros(1, 1).to(device)`
        case ast.Call(func=func, args=[first, *_]):
            if qualified(func, region.plan.flow.imports) in TENSORS:
                number = isinstance(first, ast.BinOp) and region.plan.facts.value(first).number  # `torch.tensor(1 / 2)`
                return _lists_one(region.plan, node) or number or isinstance(first, ast.Constant)
            sizes = written_sizes(region.plan, node)
            own = sizes[region.dim] if len(sizes) > region.dim else next(iter(sizes), None)
            return isinstance(own, ast.Constant) and own.value == 1
    return False


def dims_of(plan: Reading, call: ast.Call) -> list[ast.expr]:
    """`x.mean(0)`, `torch.mean(x, dim=0)`: along what it goes, where that is said."""
    given = call.args[1:2] if is_of_library(plan, call) else call.args[:1]
    return [*given, *(k.value for k in call.keywords if k.arg in ("dim", "axis"))]


def reduced(plan: Reading, call: ast.Call) -> ast.expr:
    """Of what it is."""
    assert isinstance(call.func, ast.Attribute)
    return call.args[0] if is_of_library(plan, call) and call.args else call.func.value


def base_of(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node


def computed_index(node: ast.expr) -> ast.expr | None:
    """The innermost index that is no name of a part: `batch["x"]` and `pair[0]` have none, `data["x"][idx]` has."""
    found = None
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            found = node.slice
        node = node.value
    return found
