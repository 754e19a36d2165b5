"""Places where a number of one rank's share gets out, or decides something, before it was put together."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from nbddp.analysis.agreement.decisions import rates_set
from nbddp.analysis.combining import (
    WAYS,
    Part,
    Place,
    Uses,
    Written,
    is_leaf,
    is_shown,
    is_text,
    lets_out,
    parts,
    straight,
    uses,
    written_with,
)  # fmt: skip
from nbddp.analysis.library import effect_of
from nbddp.analysis.reading import Reading, writes
from nbddp.analysis.slicing import Function, local_names
from nbddp.analysis.syntax import blocks_around, walk
from nbddp.analysis.values import PIECES, PLACED, WHOLE, Assumptions, CallFact, Extent, Value, spread

NUMBERS = (WAYS[Extent.MEAN], WAYS[Extent.SUM])
LAYOUT = ("file", "end", "sep", "flush", "step", "global_step", "extra", "stacklevel")


@dataclass(frozen=True, eq=False)
class Outlet:
    node: ast.expr
    way: str | None  # the function of the script that combines it, where all ranks come together; else it is reported
    decides: bool = False  # steers the training, rather than being shown
    told: bool = False  # combined, but not to what one process has: a rate that has to be the same on all ranks


def outlets(plan: Reading) -> Iterator[Outlet]:
    """Each expression once, in the order of the text."""
    found: dict[ast.expr, Outlet] = {}
    for call in sorted(plan.facts.calls.values(), key=lambda c: (c.node.lineno, c.node.col_offset)):
        decides = _steps_scheduler(call)
        if not (decides or _lets_out(plan, call)):
            continue
        for argument in _given(plan, call):
            gathers = "gather_part" if plan.assumed.splits and _in_step(plan, call) else None
            shown = [*_samples(plan, call, argument)]
            samples = ((n, None if _is_elsewhere(plan.facts.value(n)) else gathers) for n in shown)
            for node, way in (*parts(_place(plan, call.node), argument), *samples):
                found[node] = Outlet(node, way if _is_safe(plan, call) else None, decides)
    yield from found.values()
    yield from (o for o in _rates(plan) if o.node not in found)


def _given(plan: Reading, call: CallFact) -> Iterator[ast.expr]:
    """What it lets out; `frame.to_csv(path)` lets out what it is called on."""
    func = call.node.func
    if isinstance(func, ast.Attribute) and not call.names and writes(plan, call.node):
        yield func.value
    yield from call.node.args
    yield from (k.value for k in call.node.keywords if k.arg not in LAYOUT)


def _of_row(plan: Reading, call: ast.Call, name: ast.Name) -> Iterator[Part] | None:
    made = displayed(plan, call, name)
    return None if made is None else (part for node in made for part in parts(_place(plan, call), node))


def _place(plan: Reading, call: ast.Call) -> Place:
    return Place(plan.program, plan.facts, plan.assumed, partial(_of_row, plan, call))


def displayed(plan: Reading, call: ast.Call, name: ast.Name) -> list[ast.expr] | None:
    """What a text or a dictionary of that name was written with, where all ranks that come to the call come by it."""
    found = _uses(plan, name)
    made = written_with(found)
    in_step = {f.node for f in plan.roles.batch_loops}  # of which all ranks take as many turns
    around = {*blocks_around(plan.program, call), *in_step}
    if made is None or isinstance(found.made, ast.List | ast.Tuple):
        return None
    together = all({*blocks_around(plan.program, part)} <= around for part in made)
    shown = all(is_shown(plan.program, plan.facts, n) for n in found.read)
    return [*made] if together and shown else None


def always_displayed(plan: Reading, name: ast.Name) -> bool:
    """Is it shown so wherever it is read?"""
    reads = _uses(plan, name).read
    calls = [next((a for a in plan.program.ancestors(n) if isinstance(a, ast.Call)), None) for n in reads]
    return all(c is not None and displayed(plan, c, n) is not None for c, n in zip(calls, reads, strict=True))


def _uses(plan: Reading, name: ast.Name) -> Uses:
    function = plan.program.function_of(name)
    own = isinstance(function, Function) and name.id in local_names(function)
    return uses(plan.program, walk(function) if own and function else plan.nodes(), name.id)


def returned(plan: Reading) -> Assumptions:
    """`return metric[0] / metric[1]` behind a training loop, `psnr = -10 * torch.log10(loss)` in one.

    Of a quotient of sums, or the logarithm of a mean, nobody can make that of all ranks later.
    """
    found = dict(plan.assumed.returned)
    for one in (*_given_back(plan), *_named(plan)):
        at = Place(plan.program, plan.facts, plan.assumed, lambda _: None)
        made = list(parts(at, one)) if _is_of_share(plan, one) else []
        if all(way in NUMBERS and _is_clear(plan, part) for part, way in made):
            found.update((part, way) for part, way in made if way is not None)
    return replace(plan.assumed, returned=found) if found.keys() != plan.assumed.returned.keys() else plan.assumed


def _is_of_share(plan: Reading, node: ast.expr) -> bool:
    return spread(plan.facts.value(node)) is Extent.VARYING


def _is_clear(plan: Reading, part: ast.expr) -> bool:
    """What a call makes a sum of may be a count."""
    value = plan.facts.value(part)
    return not value.objs and (is_leaf(part) or spread(value) is Extent.MEAN)


def _given_back(plan: Reading) -> Iterator[ast.expr]:
    """At the end of functions whose loops only ever run over what the ranks share for the training."""
    loops = plan.roles.batch_loops
    apart = {f.function for f in loops if f.watched or not f.trained | f.perhaps <= plan.roles.training_loaders}
    for function in {f.function for f in loops} - apart:
        last = function.body[-1] if isinstance(function, ast.FunctionDef) else None
        if isinstance(last, ast.Return) and last.value is not None:
            yield from last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]


def _named(plan: Reading) -> Iterator[ast.expr]:
    """What all ranks come to in each step, and what only numbers are read of: nothing is differentiated through it."""
    for loop in plan.roles.batch_loops:
        if isinstance(loop.node, ast.For) and not (loop.watched or loop.perhaps):
            for statement in straight(plan.facts, loop.node.body):
                match statement:
                    case ast.Assign(targets=[ast.Name() as name], value=made) if _is_of_share(plan, made):
                        is_read = uses(plan.program, plan.program.nodes, name.id).read  # also by later cells
                        number = plan.facts.value(made).number and not any(_picks_by(plan, n) for n in is_read)
                        if is_read and (number or all(_is_let_go(plan, n) for n in _uses(plan, name).read)):
                            yield made


def _picks_by(plan: Reading, read: ast.Name) -> bool:
    """`x[:half]`, `errors.topk(half)`, `range(half)`: of a rank's own samples as many as the rank has."""
    for around in plan.program.ancestors(read):
        if isinstance(around, ast.Call):
            func, fact = around.func, plan.facts.calls.get(around)
            of_samples = isinstance(func, ast.Attribute) and plan.facts.value(func.value).varies
            makes = any(n.startswith(("torch.", "numpy.")) for n in fact.names) if fact is not None else False
            return of_samples or makes or plan.facts.counts(around)
        if isinstance(around, ast.Slice | ast.Subscript | ast.stmt):
            return not isinstance(around, ast.stmt)
    return False


def _is_let_go(plan: Reading, read: ast.Name) -> bool:
    """`psnr.item()`, `float(psnr)`, `f"{psnr:.2f}"`."""
    match plan.program.parents[read]:
        case ast.Attribute(attr="item" | "detach" | "data") | ast.FormattedValue():
            return True
        case ast.Call(func=ast.Name(id="float")):
            return True
    return False


def _rates(plan: Reading) -> Iterator[Outlet]:
    """`group["lr"] = 0.1 * loss.item()`: must be the same on all ranks."""
    for node in plan.nodes():
        together = not any(a in plan.dealt for a in plan.program.ancestors(node))
        for value in rates_set(plan, node):
            yield from _of_a_rate(plan, value, together)


def _of_a_rate(plan: Reading, value: ast.expr, together: bool) -> Iterator[Outlet]:
    terms = list(_terms(plan, value))
    known = all(spread(plan.facts.value(t)) in (Extent.MEAN, Extent.SUM) for t in terms)
    for term in terms if known else [value]:
        way = WAYS[spread(plan.facts.value(term))] if known else "from_rank_0"
        yield Outlet(term, way if together else None, True, way == "from_rank_0")


def _terms(plan: Reading, node: ast.expr) -> Iterator[ast.expr]:
    """The largest parts of an expression that are numbers of a share, or are not known."""
    extent = spread(plan.facts.value(node))
    if extent in WHOLE:
        return
    parts = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
    plain = isinstance(node, ast.Call) and any(effect_of(n).reads for n in plan.facts.calls[node].names)
    if extent is Extent.VARYING and (isinstance(node, ast.BinOp | ast.UnaryOp) or plain):
        for part in parts:
            yield from _terms(plan, part)
    else:
        yield node


def _lets_out(plan: Reading, call: CallFact) -> bool:
    return lets_out(call) or writes(plan, call.node) or _appends_outside(plan, call) or _on_a_bar(plan, call)


def _is_safe(plan: Reading, call: CallFact) -> bool:
    """Inside a loop over a training loader's shares, or behind one: not inside a dealt-out evaluation, or a model."""
    return not (call.varying_control or call.loops & plan.dealt or call.ever_in_forward)


def _steps_scheduler(call: CallFact) -> bool:
    func = call.node.func
    return (
        isinstance(func, ast.Attribute) and func.attr == "step" and any(o.kind == "scheduler" for o in call.receivers)
    )


def _on_a_bar(plan: Reading, call: CallFact) -> bool:
    """`bar.set_postfix(loss=total)` of the epochs; a bar of the batches shows rank 0's on the way."""
    attr = getattr(call.node.func, "attr", "")
    bar = attr.startswith("set_") and bool(effect_of(f".{attr}").bar)
    return bar and not call.bodies and not _among_batches(plan, call)


def _among_batches(plan: Reading, call: CallFact) -> bool:
    return bool(call.loops & {f.node for f in (*plan.roles.batch_loops, *plan.roles.evaluation_loops)})


def _appends_outside(plan: Reading, call: CallFact) -> bool:
    """`history.append(total / n)` outside of the loop over the batches."""
    func = call.node.func
    if not (isinstance(func, ast.Attribute) and func.attr == "append"):
        return False
    return not _among_batches(plan, call)


def _in_step(plan: Reading, call: CallFact) -> bool:
    return bool(call.loops & {f.node for f in plan.roles.batch_loops})


def _is_elsewhere(value: Value) -> bool:
    """`x[:3]` and `x.nonzero()` by a name: the ranks' own together are not those of the batch."""
    return any(o.name != PIECES for o in value.of(PLACED))


def _is_made_of(node: ast.expr) -> bool:
    """`f"{loss} {classes}"`, `"loss " + str(loss)`: of parts, each of which shows what it is for itself."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _is_made_of(node.left) or _is_made_of(node.right)
    return isinstance(node, Written) or is_text(node) or (isinstance(node, ast.Constant) and type(node.value) is str)


def _samples(plan: Reading, call: CallFact, node: ast.expr) -> Iterator[ast.expr]:
    """What a rank has of a batch, where that is shown as a whole: in a step, as an example, it has its own."""
    value, example = plan.facts.value(node), isinstance(node, ast.Subscript) and _in_step(plan, call)
    if isinstance(node, ast.Name):
        if value.extent is Extent.SAMPLES:
            yield node
    elif (spread(value) is Extent.SAMPLES or _is_made_of(node)) and (plan.assumed.splits or not example):
        method = node.func if isinstance(node, ast.Call) else None
        children = [c.value if c is method and isinstance(c, ast.Attribute) else c for c in ast.iter_child_nodes(node)]
        found = [s for c in children if isinstance(c, ast.expr) for s in _samples(plan, call, c)]
        kept = isinstance(node, ast.Attribute | ast.Subscript) and value.extent is Extent.SAMPLES
        yield from found or ([node] if kept and not value.of("shape") else [])
