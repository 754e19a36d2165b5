"""Places where a number of one rank's share gets out, or decides something, before it was put together."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from nbddp.analysis.combining import ROUNDING, Uses, fillings, is_shown, is_written_out, lets_out, uses, written_with
from nbddp.analysis.library import effect_of
from nbddp.analysis.reading import Reading, writes
from nbddp.analysis.slicing import Function, local_names
from nbddp.analysis.syntax import blocks_around
from nbddp.analysis.values import WHOLE, CallFact, Extent, Obj, Value, is_uneven, spread

DICT_VIEWS = ("items", "values", "keys")
DEPTH = 4  # of containers in containers
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
LAYOUT = ("file", "end", "sep", "flush", "step", "global_step", "extra", "stacklevel")


@dataclass(frozen=True, eq=False)
class Outlet:
    node: ast.expr
    safe: bool  # all ranks come here together, so that they can exchange numbers
    decides: bool = False  # steers the training, rather than being shown
    steers: bool = False  # is a rate of an optimizer, which has to be the same on all ranks


def outlets(plan: Reading) -> Iterator[Outlet]:
    """Each expression once, in the order of the text."""
    found: dict[ast.expr, Outlet] = {}
    for call in sorted(plan.facts.calls.values(), key=lambda c: (c.node.lineno, c.node.col_offset)):
        decides = _steps_scheduler(call)
        if not (decides or _lets_out(plan, call)):
            continue
        for argument in [*call.node.args, *(k.value for k in call.node.keywords if k.arg not in LAYOUT)]:
            for place in _written(plan, call.node, argument):
                for node in (*_numbers(plan, place), *_samples(plan, call, place)):
                    found[node] = Outlet(node, _is_safe(plan, call), decides)
    yield from found.values()
    yield from (o for o in _rates(plan) if o.node not in found)


def _written(plan: Reading, call: ast.Call, argument: ast.expr) -> list[ast.expr]:
    """The argument; of `log(metrics)` what the dictionary was written with, where it goes nowhere else."""
    if isinstance(argument, ast.Dict) and None in argument.keys:
        return [p for key, v in zip(argument.keys, argument.values, strict=True)
                for p in ([v] if key is not None else _written(plan, call, v))]  # fmt: skip
    return (displayed(plan, call, argument) if isinstance(argument, ast.Name) else None) or [argument]


def displayed(plan: Reading, call: ast.Call, name: ast.Name) -> list[ast.expr] | None:
    """What a text or a dictionary of that name was written with, where all ranks that come to the call come by it."""
    found = _uses(plan, name)
    parts = written_with(found)
    in_step = {f.node for f in plan.roles.batch_loops}  # of which all ranks take as many turns
    around = {*blocks_around(plan.program, call), *in_step}
    if parts is None or isinstance(found.made, ast.List | ast.Tuple):
        return None
    together = all({*blocks_around(plan.program, part)} <= around for part in parts)
    shown = all(is_shown(plan.program, plan.facts, n) for n in found.read)
    return [*parts] if together and shown else None


def always_displayed(plan: Reading, name: ast.Name) -> bool:
    """Is it shown so wherever it is read?"""
    reads = _uses(plan, name).read
    calls = [next((a for a in plan.program.ancestors(n) if isinstance(a, ast.Call)), None) for n in reads]
    return all(c is not None and displayed(plan, c, n) is not None for c, n in zip(calls, reads, strict=True))


def _uses(plan: Reading, name: ast.Name) -> Uses:
    function = plan.program.function_of(name)
    own = isinstance(function, Function) and name.id in local_names(function)
    return uses(plan.program, ast.walk(function) if own and function else plan.nodes(), name.id)


def _rates(plan: Reading) -> Iterator[Outlet]:
    """`group["lr"] = 0.1 * loss.item()`: must be the same on all ranks."""
    for node in plan.nodes():
        if not isinstance(node, ast.Assign) or not any(_is_rate(plan, t) for t in node.targets):
            continue
        together = not any(a in plan.dealt for a in plan.program.ancestors(node))
        terms = list(_terms(plan, node.value))
        known = all(spread(plan.facts.value(t)) in (Extent.MEAN, Extent.SUM) for t in terms)
        for term in terms if known else [node.value]:
            yield Outlet(term, together, True, True)


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


def _is_rate(plan: Reading, target: ast.expr) -> bool:
    if not isinstance(target, ast.Subscript):
        return False
    around = (a for a in plan.program.ancestors(target) if isinstance(a, ast.For))
    sources = [target.value, *(a.iter for a in around if ast.unparse(target.value) in ast.unparse(a.target))]
    return any("param_groups" in ast.unparse(s) for s in sources)


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


def _numbers(plan: Reading, node: ast.expr) -> Iterator[ast.expr]:
    """The largest parts of an argument that are numbers of a share."""
    value = plan.facts.value(node)
    extent = as_a_whole(value)
    leaf = isinstance(node, ast.Name | ast.Constant | ast.Attribute | ast.Subscript)
    text = _in_text(plan, node)
    if text is not None:
        for part in text:
            each = _of_each(plan, part)
            yield from [part] if each is None and _joins(plan, node, part) else _numbers(plan, each or part)
    elif isinstance(node, Comprehension) and any(_picks(plan, g) for g in node.generators):
        yield node
    elif extent in (Extent.MEAN, Extent.SUM) and (leaf or not value.items):
        yield node
    elif leaf:
        if extent is Extent.VARYING or _holds(plan, value):
            yield node
    elif isinstance(node, ast.Call) and _tells_apart(plan, node):
        yield node
    else:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _numbers(plan, child)


def _samples(plan: Reading, call: CallFact, node: ast.expr) -> Iterator[ast.expr]:
    """What a rank has of a batch that is split at the step: who looks at it wants all of the batch."""
    if not plan.assumed.splits or not call.loops & {f.node for f in plan.roles.batch_loops}:
        return
    if isinstance(node, ast.Name):
        if plan.facts.value(node).extent is Extent.SAMPLES:
            yield node
    elif spread(plan.facts.value(node)) is Extent.SAMPLES:
        for child in ast.iter_child_nodes(node):
            inner = child.value if isinstance(child, ast.Attribute) else child
            if isinstance(inner, ast.expr):
                yield from _samples(plan, call, inner)


def _picks(plan: Reading, generator: ast.comprehension) -> bool:
    """Does each rank take as many as its own numbers say?"""
    chosen = any(spread(plan.facts.value(test)) is Extent.VARYING for test in generator.ifs)
    return chosen or is_uneven(plan.facts, plan.facts.value(generator.iter))


def _tells_apart(plan: Reading, call: ast.Call) -> bool:
    """What is not understood; and a dictionary of numbers that a function of the notebook gives."""
    value = plan.facts.value(call)
    if plan.facts.calls[call].bodies and _holds(plan, value):
        return True
    return as_a_whole(value) is Extent.VARYING and not _formats(call)


def _in_text(plan: Reading, node: ast.expr) -> list[ast.expr] | None:
    """What is written into a text, or rounded."""
    if isinstance(node, ast.JoinedStr):
        return [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "join"):
        return [*node.args, *(k.value for k in node.keywords)]
    return node.args[:1] if isinstance(node, ast.Call) and _rounds(plan, node) else None


def _of_each(plan: Reading, node: ast.expr) -> ast.expr | None:
    """`f"{name} {meter.avg}"` of a comprehension in which all ranks take as many turns."""
    match node:
        case ast.GeneratorExp(elt=elt, generators=[source]) | ast.ListComp(elt=elt, generators=[source]):
            return elt if is_fixed(plan, source.iter) and not source.ifs else None
    return None


def is_fixed(plan: Reading, node: ast.expr) -> bool:
    """`meters` or `meters.items()`, where `meters = {"loss": Meter(), "error": Meter()}`: all ranks have the same."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in DICT_VIEWS:
        node = node.func.value
    things = plan.facts.value(node).objs
    changes = (n for n in fillings(plan.facts, things) if not _is_given(n))
    return bool(things) and all(is_written_out(o.node) for o in things) and next(changes, None) is None


def _is_given(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.ctx, ast.Store)


def _rounds(plan: Reading, node: ast.Call) -> bool:
    """What is put together of rounded numbers is not a rounded one; counts are whole as they are."""
    fact = plan.facts.calls.get(node)
    names = fact.names if fact else set()  # one that is never reached rounds nothing
    whole = "int" in names and spread(plan.facts.value(node)) is Extent.SUM
    counts = whole and not any(isinstance(n, ast.Div) for n in ast.walk(node))
    return bool(node.args and names & ROUNDING) and not counts


def as_a_whole(value: Value) -> Extent:
    """Of a tuple: counts beside what is the same on all ranks cannot be added up in one."""
    mixed = spread(value) is Extent.SUM and any(as_a_whole(i) is not Extent.SUM for i in value.items or ())
    return Extent.VARYING if mixed else spread(value)


def _joins(plan: Reading, node: ast.expr, part: ast.expr) -> bool:
    """Texts in a list, with numbers of a share in them."""
    texts = plan.facts.value(part).of("list")
    joins = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join"
    return joins and any(plan.facts.fields.get((o, "[]"), Value()).varies for o in texts)


def _holds(plan: Reading, value: Value, depth: int = 0) -> bool:
    """Containers, and objects whose text tells what they hold, with numbers of a share that were not put together."""
    return depth < DEPTH and any(
        (v.varies and spread(v) is not Extent.REPEATED) or _holds(plan, v, depth + 1) for v in _contents(plan, value)
    )


def _contents(plan: Reading, value: Value) -> Iterator[Value]:
    """Of a tuple, a list, a dictionary, and of an object that shows it: `print(meter)`."""
    yield from (item for item in value.items or () if not item.varies)  # of itself, as numbers are
    shown = {o for o in value.of("instance") if _tells(plan, o)}
    for (owner, field), inner in plan.facts.fields.items() if value.objs else ():
        if owner in shown or (field == "[]" and owner in value.of("list", "dict")):
            yield inner


def _tells(plan: Reading, obj: Obj) -> bool:
    owner = plan.facts.classes.get(obj)
    texts = ("__str__", "__repr__", "__format__")
    dataclass = owner is not None and any("dataclass" in ast.unparse(d) for d in owner.decorator_list)
    return dataclass or any(isinstance(s, ast.FunctionDef) and s.name in texts for s in (owner.body if owner else ()))


def _formats(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in (
        "str",
        "repr",
        "format",
        "round",
        "float",
        "int",
        "dict",
    )
