"""Models that go through time, or relate places to each other: which dimension counts the samples?"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from nbddp.analysis.library import Samples, Shape, effect_of, entry_of, is_class
from nbddp.analysis.reading import FAR, Reading
from nbddp.analysis.splitting.dimension.turning import leaves_the_first, turns_round
from nbddp.analysis.splitting.origins import sizes_in, written_sizes
from nbddp.analysis.splitting.regions import Definition, Region, goes_through_loader, is_split, stored
from nbddp.analysis.syntax import keywords_of, qualified, walk
from nbddp.analysis.values import Literal, Split

STACKING = ("stack", "vstack", "unfold", "sliding_window_view", "pad_sequence", "pack_padded_sequence")


def is_layer(name: str) -> bool:
    """One that goes through time, in the first dimension where nothing else is said."""
    return is_class(name) and bool(effect_of(name).sequence)


def time_first(plan: Reading) -> str | None:
    """A layer that goes along the first dimension; what turns that round in a model is not followed."""
    for call in plan.calls_that(is_layer):
        first = keywords_of(call.node).get("batch_first")
        if (first is None or plan.facts.value(first).const is not True) and not turns_round(plan, call.node):
            if not _goes_step_by_step(plan, call.node):
                return plan.program.source(call.node.func)
    return next((plan.program.source(call.node.func) for call in plan.calls_that(_puts_time_first)), None)


def _puts_time_first(name: str) -> bool:
    """`BucketIterator.splits(...)`, `IMDB.iters(...)`: batches with the samples in the second dimension."""
    package, *parts = name.split(".")
    return package == "torchtext" and any(part == "iters" or part.endswith("Iterator") for part in parts)


def _goes_step_by_step(plan: Reading, made: ast.Call) -> bool:
    """`self.gru(x.view(1, len(x), -1), hidden)`: what has a place of time before its samples had none before."""
    uses = [f.node for f in plan.facts.calls.values() if any(o.node is made for o in f.called)]
    return bool(uses) and all(use.args and _is_one(plan, use.args[0]) for use in uses)


def _is_one(plan: Reading, given: ast.expr) -> bool:
    """A place of several sequences, or a place of one: `self.lstm(x[i].view(1, 1, -1))`."""
    match given:
        case ast.Call(func=ast.Attribute(attr="view" | "reshape"), args=[*sizes, _]):
            one = [getattr(size, "value", None) == 1 for size in sizes] == [True, True]
            return one or _has_one_place(plan, given)
    return _has_one_place(plan, given)


def _has_one_place(plan: Reading, node: ast.expr) -> bool:
    """`x.unsqueeze(0)`, `x[None]`, `x.view(1, n, -1)`; by whatever name too."""
    match node:
        case ast.Name():
            made = [*plan.bindings.made_by(node)]
            return bool(made) and _has_one_place(plan, made[-1])
        case ast.Call(func=ast.Attribute(attr="unsqueeze"), args=[ast.Constant(value=0)]):
            return True
        case ast.Call(func=ast.Attribute(attr="view" | "reshape"), args=[ast.Constant(value=1), size, *_]):
            return not isinstance(size, ast.Constant)
        case ast.Subscript(slice=ast.Constant(value=None)):
            return True
    return False


def may_turn(plan: Reading) -> bool:
    """Does anything put the samples into another dimension: in the notebook, or in a model that is not read?"""
    models = {m.obj for m in plan.roles.models}
    read = all(o in plan.facts.classes or o.name.startswith("torch.nn.") for o in models)
    turned = [n for n in plan.nodes() if isinstance(n, ast.Attribute) and entry_of(n).shape is Shape.TURNED]
    turns = [n for n in turned if not leaves_the_first(plan, n)]
    return (bool(turns) and _reach(plan, turns)) or time_first(plan) is not None or not read


def _reach(plan: Reading, turns: Sequence[ast.Attribute]) -> bool:
    """Does a model do it, or is it done to what a model is given? Where that goes back too far, it may."""
    collating = [k.value for call in plan.facts.calls for k in call.keywords if k.arg == "collate_fn"]
    functions = {o.node for given in collating for o in plan.facts.value(given).of("function", "method")}
    forwards = {f for f in plan.facts.reached if getattr(f, "name", "") == "forward"}
    inside = {n for f in (*_forward(plan), *forwards, *functions) for n in walk(f)}
    calls = {c for m in plan.roles.models for c in m.forward_calls}
    made = [[*plan.bindings.made_of(given)] for call in calls for given in (*call.args, *call.keywords)]
    return any(len(one) >= FAR for one in made) or not inside.union(*made).isdisjoint(turns)


def one_sequence(region: Region, split: Split) -> ast.expr | None:
    """What relates places in time, where nothing shows that a batch holds several sequences."""
    plan = region.plan
    relating = next(_relating(plan), None)
    if relating is None or _picks(region, split):
        return None
    if goes_through_loader(plan, region.owner):
        return None if _gives_batches(plan) else relating
    model = [n for f in _forward(plan) for n in walk(f)]
    step = [n for s in region.rest for n in walk(s)]
    shown = any(_has_second(n) for n in (*model, *step)) or any(_has_three(plan, n) for n in plan.nodes())
    return None if shown else relating


def _gives_batches(plan: Reading) -> bool:
    """A loader puts samples together, but for one with `batch_size=None`."""
    made = (plan.facts.calls[o.node].args for o in plan.assumed.alike if o.node in plan.facts.calls)
    sizes = [args.get("batch_size") or args.get(1) for args in made]
    return all(size is None or size.const is not Literal.NONE for size in sizes)


def _forward(plan: Reading) -> set[Definition]:
    calls = [f.node for f in plan.facts.calls.values() if f.ever_in_forward]
    return {f for c in calls if (f := plan.program.function_of(c)) is not None}


def _relating(plan: Reading) -> Iterator[ast.expr]:
    """Layers that go along the sequence; products of two things that both hold the samples."""
    yield from (call.node.func for call in plan.calls_that(is_layer))
    for node in (n for f in _forward(plan) for n in walk(f)):
        parts: Sequence[ast.expr] = ()
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            parts = (node.left, node.right)
        elif isinstance(node, ast.Call) and ((op := entry_of(node, plan.flow.imports)).product or op.sequence):
            method = isinstance(node.func, ast.Attribute) and qualified(node.func, plan.flow.imports) is None
            parts = (node.func.value, *node.args) if method else node.args  # type: ignore[attr-defined]
        if sum(is_split(plan, p) for p in parts) > 1:
            assert isinstance(node, ast.expr)
            yield node


def _picks(region: Region, split: Split) -> bool:
    """`X[idx]`: rows by an index are samples."""
    before = region.block[: region.block.index(region.at)]
    drawn = [n for s in before if stored(s) & {*split.names} for n in walk(s)]
    for node in (*drawn, *(n for s in region.rest for n in walk(s))):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name | ast.Call):
            dealt = isinstance(node.slice, ast.Name) and node.slice.id in split.names
            if dealt or (node in drawn and not region.plan.facts.value(node.slice).number):
                return True
    return False


def _has_second(node: ast.AST) -> bool:
    """In a model or a step: it speaks of a dimension behind that of the samples and of time."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=[_, _, *_])], value=size):
            read = size.func if isinstance(size, ast.Call) else size
            return isinstance(read, ast.Attribute) and read.attr == ("shape" if read is size else "size")
        case (
            ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant(value=1 | 2))
            | ast.Subscript(slice=ast.Tuple(elts=[ast.Slice(lower=None, upper=None), *_]))
        ):
            return True
        case ast.Call(func=ast.Attribute(attr=word)) if _names_dimensions(word):
            given = (*node.args, *(k.value for k in node.keywords if k.arg == "dim"))
            return any(isinstance(g, ast.Constant) and g.value in (1, 2) and g.value is not True for g in given)
        case ast.Call(func=ast.Attribute(attr="view" | "reshape"), args=[ast.UnaryOp() | ast.BinOp(), _]):
            return True  # `logits.view(-1, vocabulary)`, `view(B * T, C)`
    return False


def _names_dimensions(word: str) -> bool:
    """`size`, `sum`, `squeeze`, `transpose`."""
    op = effect_of(f".{word}")
    shaped = op.shape in (Shape.ONES, Shape.TURNED, Shape.FLAT)
    return shaped or op.about == "size" or op.samples in (Samples.SUM, Samples.MEAN)


def _has_three(plan: Reading, node: ast.AST) -> bool:
    """Makes a tensor of at least three dimensions, or puts sequences together to a batch."""
    if not isinstance(node, ast.Call):
        return False
    shaped = entry_of(node, plan.flow.imports).shape is Shape.ANEW
    sizes = sizes_in(node.args) if shaped else written_sizes(plan, node)
    if _is_given_several(plan, node):
        return True
    return ast.unparse(node.func).rpartition(".")[2] in STACKING or len(sizes) > 2


def _is_given_several(plan: Reading, call: ast.Call) -> bool:
    """A layer of sequences that gets a tensor of three dimensions: no single sequence, which would have two, or a 1."""
    fact = plan.facts.calls.get(call)
    if fact is None or not call.args or not any(is_layer(o.name) for o in fact.called):
        return False
    shape, made = plan.facts.value(call.args[0]).shape, plan.bindings.made_of(call.args[0])
    several = isinstance(shape, tuple) and len(shape) > 2 and 1 not in shape[:2]
    return several and not any(isinstance(n, ast.expr) and _has_one_place(plan, n) for n in made)
