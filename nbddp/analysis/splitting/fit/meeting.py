"""What meets the samples of a rank: labels, weights, noise that was drawn before. It has to be of the same samples."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nbddp.analysis.library import Samples, effect_of, entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.cuts import add, is_all_of_the_data, is_asked_for_its_size, is_made_of_the_batch
from nbddp.analysis.splitting.find import chain_of
from nbddp.analysis.splitting.origins import (
    are_drawn_by,
    draws,
    fits,
    is_constant,
    is_count,
    is_mask,
    is_put_on_top,
    is_unchanging,
    known_size,
    on_top,
    picked_by,
    rows_of_batches,
    written_sizes,
)
from nbddp.analysis.splitting.own_parameters import learned
from nbddp.analysis.splitting.regions import LOOPS, Region, held, is_split, region_at, run_by, stored
from nbddp.analysis.splitting.roots import Root, comes_out, is_data, roots
from nbddp.analysis.syntax import is_name, names_in, walk
from nbddp.analysis.values import ONE, PLACED, POSITIONS, Extent, Split, contents, spread
from nbddp.sentence import NOTHING, Sentence, sentence

ELEMENTWISE = (ast.Add, ast.Sub, ast.Mult, ast.Div)


def with_what_meets(plan: Reading, split: Split) -> Split:
    """The split, and what is still whole although it is computed with what is split."""
    region = replace(region_at(plan, split.at), chain=chain_of(plan), dim=split.dim)
    met = [root for statement in region.rest for node in walk(statement) for root in _meeting(region, node)]
    named = [n for s in region.rest for n in walk(s) if isinstance(n, ast.Name) and n.id in split.names]
    all_of_it = region.whole or is_all_of_the_data(region)
    found = [r for r in met if not all_of_it or not is_constant(plan, r.node, [*named, *split.renamed])]
    reads = {root.node: f"{root.name}_part" for root in _read_by_functions(region) if _is_seen(region, root)}
    return add(replace(split, renamed={**split.renamed, **reads}), region, found)


def met_whole(plan: Reading, split: Split) -> Sentence:
    """What a function of the step reads whole, although it computes with what is split."""
    region = replace(region_at(plan, split.at), chain=chain_of(plan), dim=split.dim)
    whole = next((root.node for root in _read_by_functions(region) if not is_split(plan, root.node)), None)
    whole = whole or next(_left_to_callers(region), None)
    if whole is None:
        return NOTHING
    return sentence("'%1' has all samples in a function that computes with those of a batch",
                    plan.program.source(whole))  # fmt: skip


def _left_to_callers(region: Region) -> Iterator[ast.expr]:
    """`loss, out = self.step(batch)`, which cuts the batch, and `out.argmax(1) == batch["y"]` behind it."""
    plan, function = region.plan, region.plan.program.function_of(region.at)
    for call in plan.callers.get(function, ()) if function is not None else ():
        given = {name for a in (*call.args, *(k.value for k in call.keywords)) for name in names_in(a)}
        around = next((a for a in plan.program.ancestors(call) if isinstance(a, (*LOOPS, ast.FunctionDef))), call)
        for sides in map(_operands, walk(around)):
            whole = [side for side in sides if not is_split(plan, side)]
            if len(whole) == 1 < len(sides) and names_in(whole[0]) & given and not plan.facts.value(whole[0]).number:
                yield whole[0]


def _operands(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            return [left, right]
    return []


def _read_by_functions(region: Region) -> Iterator[Root]:
    """`def loss_of(w, y): return ((X @ w - y) ** 2).sum()`, with `y` split by whoever calls it: `X`."""
    plan = region.plan
    own = {*learned(plan)}
    run = {n for s in region.rest for n in run_by(plan, s)}
    outer = (plan.program.tree, *(n for n in plan.program.tree.body if isinstance(n, ast.ClassDef)))
    bodies = (n for n in run if isinstance(n, ast.FunctionDef) and plan.program.parents[n] in outer)
    given = {value for whole in _met_by_samples(region, region.rest, own) for value in _returned(plan, whole)}
    for body in sorted(bodies, key=plan.program.span):
        inner = Region(plan, body, body, body.body, body.body[0], region.chain, region.dim)
        local = inner.bound_before | inner.bound_in_rest
        here = (n for n in walk(body) if n in given and isinstance(n, ast.expr))
        for whole in (*_met_by_samples(region, inner.rest, own), *here):
            data = (r for r in roots(inner, whole) if r.name is not None and r.name not in {*local, *own})
            yield from (r for r in data if not is_constant(plan, r.node, ()))


def _met_by_samples(region: Region, statements: Sequence[ast.AST], own: set[str]) -> Iterator[ast.expr]:
    """What is whole, beside what is split."""
    plan = region.plan
    for node in (n for s in statements for n in walk(s)):
        sides = _sides(plan, node)
        made = [{*plan.bindings.made_of(side)} for side in sides] if isinstance(node, ast.BinOp) else []
        fitted = any(n in region.chain or getattr(n, "id", "") in own for parts in made for n in parts)
        if (fitted or not made) and [is_split(plan, side) for side in sides].count(True) == 1:
            yield next(side for side in sides if not is_split(plan, side))


def _returned(plan: Reading, node: ast.expr) -> Iterator[ast.AST]:
    """`model(x)`, of `def model(x): return X @ w`, whatever it is given: `X @ w`."""
    calls = (plan.facts.calls.get(n) for n in plan.bindings.made_of(node) if isinstance(n, ast.Call))
    returns = (n for fact in calls if fact is not None for body in fact.bodies for n in walk(body))
    yield from (n.value for n in returns if isinstance(n, ast.Return) and n.value is not None)


def _sides(plan: Reading, node: ast.AST) -> list[ast.expr]:
    """What has the same samples: two operands; output and target of a loss."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    return node.args[:2] if isinstance(node, ast.Call) and node.args[1:] and plan.facts.is_loss(node) else []


def _is_seen(region: Region, root: Root) -> bool:
    """Where the part gets its name at the top level, and no one else calls the function, with all of the data."""
    function = region.plan.program.function_of(root.node)
    assert function is not None
    inside = {n for s in region.rest for n in run_by(region.plan, s)}
    return region.scope is None and {*region.plan.callers.get(function, ())} <= inside


def _meeting(region: Region, node: ast.AST) -> Iterator[Root]:
    if isinstance(node, ast.Call) and node.args and entry_of(node, region.plan.flow.imports).samples is Samples.JOINS:
        yield from _beside(region, *getattr(node.args[0], "elts", ()))
    elif isinstance(node, ast.Call):
        yield from _given(region, node)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ELEMENTWISE):
        yield from _beside(region, *on_top(region.plan, node.left, node.right))
    elif isinstance(node, ast.Compare):
        yield from _beside(region, *on_top(region.plan, node.left, node.comparators[0]))
    elif isinstance(node, ast.Subscript) and (is_mask(region.plan, node.slice) or _are_positions(region, node.slice)):
        yield from _beside(region, node.value, node.slice)
    elif (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Tuple)
        and is_count(region.plan, node.slice.elts[0])
    ):
        picked = [node.value, *node.slice.elts[1:]]
        alike = not region.whole and any(is_split(region.plan, p) for p in picked)
        yield from _of_the_same(region, picked) if alike else _beside(region, *picked)


def _are_positions(region: Region, node: ast.expr) -> bool:
    """`drawn[wrong.nonzero()]`: of a rank's own samples."""
    return any(o.name == POSITIONS for o in region.plan.facts.value(node).of(PLACED))


def _beside(region: Region, *operands: ast.expr) -> Iterator[Root]:
    if any(
        _holds_samples(region.plan, o) and (not region.whole or region.of_one_step or comes_out(region, o))
        for o in operands
    ):
        for operand in operands:
            if not _holds_samples(region.plan, operand) and is_data(region.plan, operand):
                known = (r for r in roots(region, operand) if not r.one or _is_of_the_same_batch(region, r))
                yield from [r for r in known if _belongs(region, r)] or _drawn_late(region, operand)
            elif isinstance(operand, ast.Name) and operand.id in region.bound_before & region.bound_in_rest:
                splits = (s for s in region.plan.assumed.splits if s.at is region.at)
                if any(is_made_of_the_batch(split, region, operand.id) for split in splits):
                    yield Root(operand, operand.id)


def _holds_samples(plan: Reading, node: ast.expr) -> bool:
    """Itself, or what is in it: `{"mu": mu, "sigma": sigma}`."""
    return any(spread(v) is Extent.SAMPLES for v in contents(plan.facts, plan.facts.value(node)))


def _drawn_late(region: Region, operand: ast.expr) -> Iterator[Root]:
    """`torch.randn(32, 2)`, `torch.zeros(32, 1)`, further down than where a batch of as many rows is split."""
    plan = region.plan
    rows = rows_of_batches(plan)
    below = {n for s in region.rest for n in walk(s)} if not region.whole else set[ast.AST]()
    for node in below & {*plan.bindings.made_of(operand)}:
        made = isinstance(node, ast.Call) and (draws(plan, node) or bool(written_sizes(plan, node)))
        if made and isinstance(node, ast.Call) and known_size(plan, node) in rows:
            yield Root(node)


def _belongs(region: Region, root: Root) -> bool:
    """Drawn in the same turn as the batch; where all of the data is one batch, beside it."""
    if not region.whole and not is_all_of_the_data(region):
        bound = region.bound_before | region.bound_in_rest
        read = {n.id for n in walk(root.node) if isinstance(n, ast.Name)}
        batches = [n for split in region.plan.assumed.splits for n in held(region.plan, split)]
        apart = is_unchanging(region.plan, root.node) and not fits(region.plan, root.node, batches)
        drawn = bool(read & bound) or _is_drawn_around(region, root)
        return (drawn and not apart) or are_drawn_by(region.plan, root.node, batches)
    return root.name is not None or isinstance(root.node, ast.Attribute) or _is_of_the_same_batch(region, root)


def _is_of_the_same_batch(region: Region, root: Root) -> bool:
    """`batch[1]`, where `batch[0]` is cut."""
    batches = [n for s in region.plan.assumed.splits if s.at is region.at for n in held(region.plan, s)]
    parts = [ast.dump(n.value) for n in batches if isinstance(n, ast.Subscript)]
    node = root.node
    by_key = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant | ast.UnaryOp)  # also `batch[-1]`
    return isinstance(node, ast.Subscript) and by_key and ast.dump(node.value) in parts


def _is_drawn_around(region: Region, root: Root) -> bool:
    """`xb` of the loop around the one in which noise is drawn by its size, once for each of several steps."""
    around = [a for a in region.plan.program.ancestors(region.at) if isinstance(a, LOOPS) and a is not region.owner]
    bound = {n for loop in around for s in (getattr(loop, "target", loop), *loop.body) for n in stored(s)}
    read = (n for loop in around[:1] for n in walk(loop) if is_name(n, root.name or ""))
    return root.name in bound and any(is_asked_for_its_size(region, n) for n in read)


def _given(region: Region, call: ast.Call) -> Iterator[Root]:
    fact = region.plan.facts.calls.get(call)
    given = [*call.args, *(k.value for k in call.keywords)]
    entry = entry_of(call, region.plan.flow.imports)
    meets = (entry.aligned or entry.beside) and picked_by(region.plan, call) is None
    if fact is not None and meets and not fact.bodies:
        on = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        yield from _beside(region, *(one for one in (*on, *given) if not region.plan.facts.value(one).of("library")))
    if fact is None or not any(_holds_samples(region.plan, a) for a in given):
        return
    if region.plan.facts.is_loss(call) or any(effect_of(n).packs for n in fact.names):
        yield from _of_the_same(region, call.args[:2])
        more = given[2 : region.plan.facts.rows_given(call)]  # one of them may be for all samples
        yield from _of_the_same(region, more, new=False)
    elif fact.bodies or any(n.startswith(("sklearn.", "torchmetrics.")) for n in fact.names):
        yield from _beside(region, *(one for one in given if not is_put_on_top(region.plan, fact, one)))


def _is_for_each(plan: Reading, node: ast.expr, given: Sequence[ast.expr]) -> bool:
    """`style`, of `sum(mse_loss(g, style) for g in grams)`: nothing of a turn, with which each sample is compared."""
    turns = [o.node for one in given for o in plan.facts.value(one).of(ONE)]
    bound = {name for turn in turns for name in names_in(getattr(turn, "target", turn))}
    return bool(turns) and bound.isdisjoint(names_in(node))


def _of_the_same(region: Region, given: list[ast.expr], *, new: bool = True) -> Iterator[Root]:
    """Output and target of a loss, rows and the labels by which they are picked: of what was not drawn here as well."""
    for one in given:
        if _is_for_each(region.plan, one, given):
            continue
        if not _holds_samples(region.plan, one) and is_data(region.plan, one):
            found = [r for r in roots(region, one) if not r.one and _belongs(region, r)]
            as_large = known_size(region.plan, one) in rows_of_batches(region.plan)
            yield from found or ([Root(one)] if new or as_large else [])
