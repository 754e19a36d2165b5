"""Parameters that belong to no model: tensors that the notebook itself moves along their gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.regions import is_split, region_at
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Obj, Split, Value


def learned(plan: Reading) -> frozenset[str]:
    """Names of tensors that gradients are asked for; `self.w` of those that an object has."""
    found = {name for node in plan.nodes() for name in _learned_by(plan, node) if not _is_another(plan, name, node)}
    return frozenset(found | {n for name in found for n in _listed(plan, name)})


def _learned_by(plan: Reading, node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _makes_learned(plan, value):
            yield name
        case ast.Assign(targets=[ast.Attribute() as place], value=value) if _makes_learned(plan, value):
            yield ast.unparse(place)
        case ast.Assign(targets=[ast.Attribute(value=ast.Name() | ast.Attribute() as place, attr="requires_grad")]):
            yield ast.unparse(place)
        case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as place, attr="requires_grad_")):
            yield ast.unparse(place)
        case ast.Attribute(value=ast.Name(id=name), attr="grad" | "data"):
            yield name


def _is_another(plan: Reading, name: str, node: ast.AST) -> bool:
    """In an earlier cell: by the time of the training the name stands for something else."""
    if plan.program.function_of(node) is not None:
        return False
    last = plan.flow.bound_by(name, min((s.index for s in plan.training), default=0))
    return last is not None and plan.program.span(last)[0] > plan.program.span(node)[0]


def inputs(plan: Reading, value: Value) -> frozenset[Obj]:
    """`X = torch.tensor(data, requires_grad=True)`: beside a model it is data, unless an optimizer moves it."""
    moved = {o for p in plan.roles.optimizers for o in plan.facts.fields.get((p, "params"), Value()).objs}
    found = {o for o in value.of("parameter") if o.owner is None and not o.name.endswith(".Parameter")}
    return frozenset(found - moved if plan.roles.models else ())


def _makes_learned(plan: Reading, node: ast.expr) -> bool:
    """Here, or in a function of the notebook."""
    fact = plan.facts.calls.get(node) if isinstance(node, ast.Call) else None
    returned = (n.value for body in (fact.bodies if fact else ()) for n in walk(body) if isinstance(n, ast.Return))
    return any(value is not None and _wants_gradients(value) for value in (node, *returned))


def _wants_gradients(node: ast.expr) -> bool:
    named = [k for part in walk(node) if isinstance(part, ast.Call) for k in part.keywords]
    return any(isinstance(n, ast.Attribute) and n.attr == "requires_grad_" for n in walk(node)) or any(
        k.arg == "requires_grad" and not (isinstance(k.value, ast.Constant) and not k.value.value) for k in named
    )


def _listed(plan: Reading, variable: str) -> Iterator[str]:
    """`for p in [W, b]`, `for p in parameters`: what the list was written with."""
    for loop in plan.nodes():
        if isinstance(loop, ast.For | ast.comprehension) and getattr(loop.target, "id", "") == variable:
            made = [n.value for n in plan.nodes() if isinstance(n, ast.Assign) and _is_name(n.targets[0], loop.iter)]
            for source in (loop.iter, *made):
                if isinstance(source, ast.List | ast.Tuple):
                    yield from (e.id for e in source.elts if isinstance(e, ast.Name))


def _is_name(target: ast.expr, other: ast.expr) -> bool:
    return isinstance(target, ast.Name) and isinstance(other, ast.Name) and target.id == other.id


def leaves(plan: Reading, split: Split) -> dict[str, str]:
    """How parts are cut off of which gradients are asked for: in the step, as torch allows of no slice, or before it.

    `x.requires_grad_()`, and then the loss: the part has to be asked, no longer the whole.
    """
    region = region_at(plan, split.at)
    before = [n for s in region.block[: region.block.index(region.at)] for n in walk(s)]
    asked = {name for n in before for name in _asked_for(n)} if region.owner is not plan.program.tree else set()
    return {
        **dict.fromkeys(_in_the_step(plan), ".detach()"),
        **dict.fromkeys(asked & {*split.names}, ".detach().requires_grad_()"),
    }


def _asked_for(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _wants_gradients(value):
            yield name
        case ast.Attribute(value=ast.Name(id=name), attr="requires_grad", ctx=ast.Store()):
            yield name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="requires_grad_")):
            yield name


def _in_the_step(plan: Reading) -> frozenset[str]:
    found = set[str]()
    for node in plan.nodes():
        match node:
            case ast.Attribute(value=ast.Name() as name, attr="requires_grad", ctx=ast.Store()):
                if is_split(plan, name):
                    found |= {*_names(plan, name, frozenset())}
    return frozenset(found)


def _names(plan: Reading, name: ast.Name, seen: frozenset[ast.AST]) -> Iterator[str]:
    """Also those under which callers hand it on."""
    yield name.id
    for one in plan.bindings.of(name):
        handed = isinstance(one.target, ast.arg) and one.target not in seen
        if handed and isinstance(one.whole, ast.Name):
            yield from _names(plan, one.whole, seen | {one.target})


def moves_no_model(plan: Reading, call: ast.Call) -> bool:
    """`Adam([images])` beside loops that train a model: an attack, an inversion, that each rank makes alike."""
    here, own = plan.program.function_of(call), plan.facts.calls[call].loops
    steps = [f for f in plan.facts.calls.values() if f.optimizers and f.loops == own]
    moved = {o for f in steps if plan.program.function_of(f.node) is here for o in f.optimizers}
    trains = any(f.loaders or f.next_of for f in plan.facts.loops.values() if f.backward)
    return bool(moved) and trains and moved.isdisjoint(o for m in plan.roles.models for o in m.optimizers)
