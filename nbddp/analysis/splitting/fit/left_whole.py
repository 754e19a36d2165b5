"""What has the rows of a whole batch where a step computes with a rank's samples; nothing need show that they meet."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.library import Effect, entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.slicing import root_name
from nbddp.analysis.splitting.cuts import is_asked_for_its_size
from nbddp.analysis.splitting.origins import known_size, rows_of_batches
from nbddp.analysis.splitting.regions import Region, goes_through_loader, is_split, region_at, run_by, stored
from nbddp.analysis.splitting.roots import is_data
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import FLAT, MASK, OPERATORS, TURNED, WHOLE, Split, spread
from nbddp.sentence import Sentence, sentence


def left_whole(plan: Reading, split: Split) -> Sentence | None:
    """In fields; for the numbers of one process, of the batch of a loader: one that is drawn is what is found of it."""
    region = region_at(plan, split.at)
    whole = next(_in_fields(plan), None) or next(_outside(region), None)
    if plan.options.exact and goes_through_loader(plan, region.owner):
        whole = whole or next(_not_cut(region, split), None) or next(_made_in_functions(region), None)
    whole = whole or next(_of_as_many_rows(region), None)
    return sentence("'%1' has all samples of the batch", plan.program.source(whole)) if whole is not None else None


def _in_fields(plan: Reading) -> Iterator[ast.expr]:
    """`criterion(self.out, self.y)`, where another method of the step has kept all of the batch."""
    steps = {f.node for f in plan.roles.batch_loops}
    run = [f for f in plan.facts.calls.values() if f.loops & steps]
    for call in (f.node for f in run if plan.facts.is_loss(f.node)):
        sides = call.args[:2] if any(is_split(plan, side) for side in call.args[:2]) else []
        for field in (s for s in sides if isinstance(s, ast.Attribute) and not is_split(plan, s) and is_data(plan, s)):
            makers = {plan.program.function_of(b.value) for b in plan.bindings.of(field) if b.value is not None}
            if any(f.bodies & makers for f in run):
                yield field


def _of_as_many_rows(region: Region) -> Iterator[ast.expr]:
    """`users @ items.T - ratings`, of parameters with a row for each sample; `h + table`, of as many dimensions."""
    plan = region.plan
    for node in (n for s in region.rest for n in run_by(plan, s) if isinstance(n, ast.BinOp | ast.Call)):
        sides = _computed(plan, node)
        split = [plan.facts.value(side) for side in sides if is_split(plan, side)]
        parts = [value.rank for value in split if not value.of(TURNED, FLAT)]
        for side in (s for s in sides if parts and not is_split(plan, s)):
            value = plan.facts.value(side)
            first = value.shape[0] if isinstance(value.shape, tuple) and value.shape else None
            as_many = isinstance(first, int) and first > 1 and value.rank in parts
            if as_many or any(_has_rows_of_parameters(plan, made) for made in plan.bindings.made_by(side)):
                yield side


def _computed(plan: Reading, node: ast.BinOp | ast.Call) -> list[ast.expr]:
    """With each other, entry by entry: also by a method, `x.sub(y)`."""
    if isinstance(node, ast.BinOp):
        return [] if isinstance(node.op, ast.MatMult) else [node.left, node.right]
    method = isinstance(node.func, ast.Attribute) and node.func.attr in OPERATORS and len(node.args) == 1
    return [node.func.value, node.args[0]] if method and isinstance(node.func, ast.Attribute) else _met(plan, node)


def _has_rows_of_parameters(plan: Reading, node: ast.expr) -> bool:
    """`users @ items.T`, and what is made of it entry by entry: as many rows as the first of them has."""
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        return any(_has_rows_of_parameters(plan, side) for side in (node.left, node.right))
    if isinstance(node, ast.BinOp):
        return bool(plan.facts.value(node.left).of("parameter"))
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    of_library = bool(plan.facts.value(node.func.value).of("library"))
    first = node.args[0] if of_library and node.args else node.func.value
    if node.func.attr in ("matmul", "mm"):
        return bool(plan.facts.value(first).of("parameter"))
    return node.func.attr in OPERATORS and _has_rows_of_parameters(plan, first)


def _outside(region: Region) -> Iterator[ast.expr]:
    """`mse_loss(render(pose), target)`, `places[losses_of(x) > 1]`, where the function cuts the batch that it makes."""
    plan = region.plan
    if region.scope is None:
        return
    here = {n for statement in region.rest for n in run_by(plan, statement)}
    for node in (n for n in plan.nodes() if isinstance(n, ast.Call | ast.Subscript) and n not in here):
        sides = _met(plan, node) if plan.program.function_of(node) is not region.scope else []
        if any(is_split(plan, side) for side in sides):
            yield from (s for s in sides if isinstance(s, ast.Name) and not is_split(plan, s) and is_data(plan, s))


def _met(plan: Reading, node: ast.Call | ast.Subscript) -> list[ast.expr]:
    """Of as many samples: what a loss is given, a mask and what is picked by it."""
    if isinstance(node, ast.Subscript):
        return [node.value, node.slice] if plan.facts.value(node.slice).of(MASK) else []
    return node.args[:2] if plan.facts.is_loss(node) else []


def _not_cut(region: Region, split: Split) -> Iterator[ast.expr]:
    """`buffer.copy_(x)`, while `y` is cut: the loader has drawn both."""
    assert isinstance(region.owner, ast.For)
    before = region.block[: region.block.index(region.at)]
    came, own = stored(region.owner.target), {*split.names}
    anew = own & came.union(*map(stored, before))
    cut = {n for piece in (*split.renamed, *split.inline) for n in walk(piece)}
    for statement in before:
        came |= stored(statement) if came & {n.id for n in walk(statement) if isinstance(n, ast.Name)} else set()
    kept = [n for s in before if _kept_in(s) - anew for n in walk(s) if getattr(n, "id", "") in came]
    for node in (*kept, *(n for s in region.rest for n in walk(s) if getattr(n, "id", "") in came - own)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            whole = is_data(region.plan, node) and spread(region.plan.facts.value(node)) in WHOLE
            if whole and node not in cut and not is_asked_for_its_size(region, node):
                yield node


def _kept_in(statement: ast.stmt) -> set[str | None]:
    """`buffer.resize_(x.size()).copy_(x)`, `buffer[:] = x`: what is there from before the turn has it then."""
    if isinstance(statement, ast.Assign):
        return {root_name(t) for t in statement.targets if isinstance(t, ast.Subscript | ast.Attribute)}
    func = getattr(getattr(statement, "value", None), "func", None)
    stores = isinstance(func, ast.Attribute) and (func.attr.endswith("_") or entry_of(func).effect is Effect.STORES)
    return {root_name(func)} if isinstance(statement, ast.Expr) and stores and isinstance(func, ast.expr) else set()


def _made_in_functions(region: Region) -> Iterator[ast.expr]:
    """`torch.zeros(32, classes)` in a function that a step calls; in the step itself a part is taken of it."""
    plan, rows = region.plan, rows_of_batches(region.plan)
    here = {n for s in region.rest for n in walk(s)}
    for node in (n for s in region.rest for n in run_by(plan, s) if n not in here):
        fact = plan.facts.calls.get(node) if isinstance(node, ast.Call) else None
        if fact is not None and not fact.ever_in_forward and known_size(plan, fact.node) in rows:
            yield fact.node
