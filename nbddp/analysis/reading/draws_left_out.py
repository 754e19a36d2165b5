"""Statements that the slice leaves out, and that draw random numbers after a seed: all that is drawn later changes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence

from nbddp.analysis.library import Stream, effect_of, is_class
from nbddp.analysis.reading.loaders_named import is_loader, values_of
from nbddp.analysis.reading.random_draws import (
    ALL,
    KNOWN,
    Definition,
    Source,
    draws,
    is_dropping,
    is_layer,
    seeds,
    surely_draws,
    with_what_it_calls,
)
from nbddp.analysis.reading.reading import Reading
from nbddp.analysis.slicing import Slice
from nbddp.analysis.syntax import BUILTINS, Statement, is_name, qualified, walk
from nbddp.analysis.values import is_foreign

TRAINS = frozenset("backward step fit train_model".split())
ASKED = "parameters"
PICTURES = frozenset("plot hist imshow show".split())


def draws_left_out(plan: Reading) -> Iterator[Statement]:
    """Of cells that run before the training, where something that is kept draws from the same generator later."""
    marked = [s for s in plan.program.statements if s.cell.number == plan.training_cell]
    trains = [s for s in plan.training if s in marked] or marked
    first = trains[0].index if trains else 0
    before = [s for s in plan.program.statements[:first] if not isinstance(s.node, Definition)]
    definitions, seeded = _definitions(plan), set[Source]()
    kept = {s.index for s in plan.kept}
    later = [s for s in [*before, *(plan.training or trains)] if s.index in kept]
    for statement in before:
        if statement.index in kept:
            seeded |= seeds(plan, statement.node, definitions) | _seeded_elsewhere(plan, statement.node)
        elif found := {*_drawn_by(plan, statement.node, _definitions(plan, statement.index))} & seeded:
            after = [s for s in later if s.index > statement.index]
            if any(_is_drawn_from(plan, stream, after, definitions) for stream in found):
                yield statement


def _seeded_elsewhere(plan: Reading, node: ast.stmt) -> frozenset[Source]:
    """`seed_everything(0)` of a module that is not read, by its name."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return frozenset()
    name = qualified(node.value.func, plan.flow.imports) or ""
    return ALL if is_foreign(name) and "seed" in name.rpartition(".")[2].lower() else frozenset()


def _drawn_by(plan: Reading, node: ast.stmt, definitions: Mapping[str, Definition]) -> Iterator[Source]:
    """Surely: weights, samples, a batch of a loader; dropout and noise in a model that is tried."""
    yield from surely_draws(plan, node, definitions)
    calls = [n for n in with_what_it_calls(node, definitions) if isinstance(n, ast.Call)]
    if any(_is_of_an_unread_model(plan, call) for call in calls):
        yield Stream.TORCH
    for func, entry in (found for call in calls if (found := _asked(call)) and found[0].id not in definitions):
        made = [n for one in values_of(plan, func) for n in with_what_it_calls(one, definitions)]
        layers = [n for n in made if isinstance(n, ast.ClassDef) and any(is_layer(plan, base) for base in n.bases)]
        drops = [n for n in made if layers and isinstance(n, ast.Call) and is_dropping(plan, n)]
        run = [n for layer in layers for n in _run_from(layer, entry)]
        runs = bool(run) or entry == "forward"  # not `model.parameters()`
        if runs and drops and not _sleeps(plan, func):
            yield Stream.TORCH
        named = ((qualified(n.func, plan.flow.imports) or "") for n in run if isinstance(n, ast.Call))
        noise = (d for name in named if not is_class(name) and (d := effect_of(name).draws))
        yield from (Stream.TORCH if stream is Stream.ANY else stream for stream in noise)


def _is_of_an_unread_model(plan: Reading, call: ast.Call) -> bool:
    """`model = Net()`, of a module beside the notebook, and `model(x)` in training mode: first weights, dropout."""
    if isinstance(call.func, ast.Name) and call.func.id not in plan.flow.imports:
        return any(_is_unread(plan, made) for made in values_of(plan, call.func)) and not _sleeps(plan, call.func)
    around = next((a for a in plan.program.ancestors(call) if not isinstance(a, ast.Call | ast.Attribute)), None)
    bound = around.targets if isinstance(around, ast.Assign) and _made_first(around.value) is call else []
    names = [t.id for t in bound if isinstance(t, ast.Name)]
    used = (n for n in plan.program.nodes if isinstance(n, ast.Call | ast.Attribute) and names)
    asked = (n.func if isinstance(n, ast.Call) else n.value for n in used if getattr(n, "attr", ASKED) == ASKED)
    return _is_unread(plan, call) and any(is_name(node, name) for node in asked for name in names)


def _made_first(node: ast.AST) -> ast.AST:
    """`Net()` of `Net().to(device)`."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call):
        node = node.func.value
    return node


def _is_unread(plan: Reading, node: ast.AST) -> bool:
    made = _made_first(node)
    name = qualified(made.func, plan.flow.imports) if isinstance(made, ast.Call) else None
    return name is not None and is_foreign(name) and is_class(name)


def _asked(call: ast.Call) -> tuple[ast.Name, str] | None:
    """`model(x)`, `model.generate(10)`: the model, and the method that is run."""
    match call.func:
        case ast.Name() as name:
            return name, "forward"
        case ast.Attribute(value=ast.Name() as name, attr=method):
            return name, method
    return None


def _run_from(owner: ast.ClassDef, entry: str) -> Iterator[ast.AST]:
    """That method, and those of the class that it runs; `self(x)` is forward."""
    methods = {part.name: part for part in owner.body if isinstance(part, ast.FunctionDef)}
    waiting, seen = [entry], set[str]()
    while waiting:
        name = waiting.pop()
        for node in walk(methods[name]) if name in methods and name not in seen else ():
            yield node
            match node:
                case ast.Attribute(value=ast.Name(id="self"), attr=method):
                    waiting.append(method)
                case ast.Call(func=ast.Name(id="self")):
                    waiting.append("forward")
        seen.add(name)


def _sleeps(plan: Reading, read: ast.Name) -> bool:
    """Is `net.eval()` the last that is said of its mode, and of the name, before it is called?"""
    said = [(plan.program.span(plan.program.statements[i].node), "") for i in plan.flow.binders.get(read.id, ())]
    for node in (n for n in plan.program.nodes if isinstance(n, ast.Attribute) and is_name(n.value, read.id)):
        said += [(plan.program.span(node), node.attr)] if node.attr in ("eval", "train") else []
    before = [one for one in sorted(said) if one[0] < plan.program.span(read)]
    return bool(before) and before[-1][1] == "eval"


def _is_drawn_from(
    plan: Reading, stream: Source, after: Sequence[Statement], definitions: Mapping[str, Definition]
) -> bool:
    """Before it is seeded again.

    The training too, where it draws as one process does: before its loop, a batch that all ranks draw alike, or from a
    generator of the notebook's own.
    """
    for statement in after:
        if stream in seeds(plan, statement.node, definitions):
            return False
        if plan.options.exact and statement in plan.training:
            return True
        alike = plan.assumed.splits or not plan.roles.training_loaders
        if isinstance(stream, str) or statement not in plan.training or alike:
            drawn = draws(plan, statement.node, definitions)
        else:
            drawn = _drawn_before_loops(plan, statement.node, definitions)
        if stream in drawn:
            return True
    return False


def _drawn_before_loops(plan: Reading, node: ast.stmt, definitions: Mapping[str, Definition]) -> set[Source]:
    """`model = Net()` in the function that then trains it."""
    training = {loop for loop, fact in plan.facts.loops.items() if fact.backward}
    called = (n for n in with_what_it_calls(node, definitions) if isinstance(n, ast.Call) and n in plan.facts.calls)
    outside = (n for n in called if not plan.facts.calls[n].loops & training)
    return {stream for call in outside for stream in draws(plan, call, {})}


def draws_to_keep(plan: Reading, sliced: Callable[[frozenset[int]], Slice]) -> frozenset[int]:
    """Those that do nothing else, nor does what they need: with them the notebook's numbers are drawn later."""
    definitions, kept = _definitions(plan), frozenset(plan.slice.kept)
    found = frozenset[int]()
    for statement in draws_left_out(plan):
        new = frozenset(sliced(frozenset({statement.index})).kept) - kept
        if all(_only_computes(plan, plan.program.statements[i].node, definitions) for i in new):
            found |= {statement.index}
    return found


def _definitions(plan: Reading, until: int | None = None) -> Mapping[str, Definition]:
    """Of each name the last one, or the last before a statement; also of `ARCHITECTURE = Net`."""
    found = dict[str, Definition]()
    for node in (s.node for s in plan.program.statements[:until]):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found[node.name] = node
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=other)) if other in found:
                found[name] = found[other]
    return found


def _only_computes(plan: Reading, node: ast.stmt, definitions: Mapping[str, Definition]) -> bool:
    """No figure, no code that is not known; no pass over data where that is drawn in another order, too."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return not any(effect_of(plan.flow.imports.get(a.asname or a.name, a.name)).display for a in node.names)
    plain = isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | Definition)
    return plain and all(_is_computed(plan, n, definitions) for n in with_what_it_calls(node, definitions))


def _is_computed(plan: Reading, node: ast.AST, definitions: Mapping[str, Definition]) -> bool:
    if isinstance(node, ast.Name) and effect_of(plan.flow.imports.get(node.id, "")).display:
        return False
    if not isinstance(node, ast.Call):
        loader = isinstance(node, ast.Name | ast.Subscript | ast.Attribute) and is_loader(plan, node)
        return plan.options.exact or not loader
    name = qualified(node.func, plan.flow.imports)
    if isinstance(node.func, ast.Attribute) and name is None:
        return node.func.attr not in TRAINS | PICTURES
    if isinstance(node.func, ast.Name) and name is None and node.func.id not in definitions:
        return _is_built(plan, node.func.id, definitions)
    root = _root(plan, node.func)
    if _is_unread(plan, node) and _is_of_an_unread_model(plan, node):
        return True  # the training runs one as well
    return root in definitions or root in BUILTINS or (root in KNOWN and not effect_of(name or "").display)


def _is_built(plan: Reading, name: str, definitions: Mapping[str, Definition]) -> bool:
    """`first(x)`, of `first = Net()`, whatever of the notebook or of a library that is known makes it."""
    bound = [plan.program.statements[i].node for i in plan.flow.binders.get(name, ())]
    calls = [_made_first(n.value) for n in bound if isinstance(n, ast.Assign)]
    made = [call for call in calls if isinstance(call, ast.Call)]
    read = all(_root(plan, call.func) in {*definitions, *KNOWN} for call in made)
    return bool(made) and len(made) == len(bound) and (read or all(_is_unread(plan, call) for call in made))


def _root(plan: Reading, func: ast.expr) -> str:
    """`torch` of `nn.Linear`, `Net`."""
    name = qualified(func, plan.flow.imports) or (func.id if isinstance(func, ast.Name) else "")
    return name.partition(".")[0]
