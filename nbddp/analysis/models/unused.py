"""Parameters that a step may leave without a gradient: DDP, which waits for the gradient of each, is told to look."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence, Set
from types import UnionType

from nbddp.analysis.library import entry_of, is_class, learns
from nbddp.analysis.models.cut_off_parts import Place, cut_off, outputs
from nbddp.analysis.reading import Reading
from nbddp.analysis.syntax import handed, is_name, keywords_of, walk
from nbddp.analysis.values import CallFact, Obj, Value, is_foreign

PARTS = ("modules", "children", "named_modules", "named_children", "_modules")


def unused_parameters(plan: Reading, model: Obj) -> bool:
    """Parts of the notebook's own models that no loss comes from, or may not: DDP must be told to look for them."""
    if any(model in holders for _, holders in unread_parts(plan)):
        return True
    parts = (o for o in plan.facts.classes if o.kind == "model" and model in plan.facts.roots(o))
    return any(_leaves_out(plan, o, _unread(plan, o)) for o in dict.fromkeys((model, *parts)))


def gives_weights(plan: Reading, model: Obj) -> bool:
    """`return outputs, self.weights`: of a parameter itself DDP does not see whether the loss goes by it."""
    owner = plan.facts.classes.get(model)
    returns = (n.value for part in owner.body if getattr(part, "name", "") == "forward" for n in walk(part)
               if isinstance(n, ast.Return) and n.value is not None) if owner is not None else ()  # fmt: skip
    given = (one for value in returns for _, one in outputs(value))
    return any(plan.facts.value(one).of("parameter") for one in given if isinstance(one, ast.Attribute))


def unread_parts(plan: Reading) -> Iterator[tuple[CallFact, Set[Obj]]]:
    """Layers and models whose code is in files, which are not read, and the models that have them."""
    for fact in plan.calls_that(is_foreign):
        made, held = plan.facts.value(fact.node), plan.program.parents.get(fact.node)
        if any(map(is_class, fact.names)):
            inside = next((a for a in plan.program.ancestors(fact.node) if isinstance(a, ast.ClassDef)), None)
            holders = {o for o, cls in plan.facts.classes.items() if o.kind == "model" and cls is inside}
            holders |= plan.facts.value(held).of("model") if isinstance(held, ast.Call) else set()
        else:
            holders = set()
        holders |= made.of("model")
        if holders:
            yield fact, {*holders, *(root for o in holders for root in plan.facts.roots(o))}


def _unread(plan: Reading, model: Obj) -> frozenset[Place]:
    """Of `logits, extra = model(x)`: 1, where the loss may be made without it, wherever the model is trained."""
    training = {loop for loop, fact in plan.facts.loops.items() if fact.backward}
    calls = (f for f in plan.facts.calls.values() if model in f.called and f.grad and f.taped & training)
    places = [_dropped(plan, fact.node, _places(plan, model)) for fact in calls]
    return frozenset.intersection(*places) if places else frozenset()


def _places(plan: Reading, model: Obj) -> frozenset[Place]:
    """Under which its forward gives several things back."""
    owner = plan.facts.classes.get(model)
    forwards = [p for p in owner.body if isinstance(p, ast.FunctionDef) and p.name == "forward"] if owner else []
    given = (n.value for body in forwards for n in walk(body) if isinstance(n, ast.Return) and n.value is not None)
    return frozenset(place for value in given for place, _ in outputs(value) if place is not None)


def _dropped(plan: Reading, call: ast.Call, places: frozenset[Place]) -> frozenset[Place]:
    """Those that are surely not all that is looked at: not where the whole is handed on."""
    match plan.program.parents[call]:
        case ast.Assign(targets=[ast.Tuple() as target]):
            return _left_over(plan, call, target)
        case ast.Assign(targets=[ast.Name(id=name)]):
            turn = _turn(plan, call)
            uses: list[ast.AST] = [n for n in walk(turn) if is_name(n, name) and isinstance(n.ctx, ast.Load)]
        case ast.Subscript():
            uses = [call]
        case _:
            return frozenset()
    read = set[Place]()
    for use in uses:
        match plan.program.parents[use]:
            case ast.Subscript(slice=ast.Constant(value=int() | str() as place)):
                read.add(place)
            case ast.Assign(targets=[ast.Tuple() as target]):
                read |= places - _left_over(plan, use, target)
            case _:
                return frozenset()
    return places - read if uses else frozenset()


def _left_over(plan: Reading, given: ast.AST, target: ast.Tuple) -> frozenset[Place]:
    read = _surely_read(plan, given)
    return frozenset(at for at, n in enumerate(target.elts) if isinstance(n, ast.Name) and n.id not in read)


def _turn(plan: Reading, node: ast.AST) -> ast.AST:
    around = plan.program.ancestors(node)
    return next(a for a in around if isinstance(a, ast.For | ast.While | ast.FunctionDef | ast.Module))


def _surely_read(plan: Reading, call: ast.AST) -> set[str]:
    """Names in the turn of the call, whichever way it goes; not `p` of `[p.numel() for p in parts]`."""
    around, turn = [*plan.program.ancestors(call)], _turn(plan, call)
    found = set[str]()
    for name in (n for n in walk(turn) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)):
        above = [a for a in plan.program.ancestors(name) if a not in around]
        own = any(is_name(t, name.id) for a in above for g in getattr(a, "generators", ()) for t in walk(g.target))
        if not own and not any(isinstance(a, ast.If | ast.IfExp) for a in above) and not _is_ignored(plan, name):
            found.add(name.id)
    return found


def _is_ignored(plan: Reading, name: ast.Name) -> bool:
    """`decoder(z, hidden[None])`, of `def forward(self, z, hidden): return self.out(z)`."""
    calls = (plan.facts.calls.get(a) for a in plan.program.ancestors(name) if isinstance(a, ast.Call))
    return any(_ignores(fact, name) for fact in calls if fact is not None)


def _ignores(fact: CallFact, name: ast.Name) -> bool:
    bodies = [b for b in fact.bodies if isinstance(b, ast.FunctionDef)]
    given = [[arg for arg, node in handed(fact.node, b) if name in walk(node)] for b in bodies]
    read = [any(_reads(b.body, arg) for arg in args) for b, args in zip(bodies, given, strict=True)]
    return all(given) and bool(given) and not any(read)


def _reads(block: Sequence[ast.stmt], parameter: str) -> bool:
    """Before it is something else."""
    for statement in block:
        named = [n for n in walk(statement) if is_name(n, parameter)]
        if any(isinstance(n.ctx, ast.Load) for n in named if isinstance(n, ast.Name)):
            return True
        if named and isinstance(statement, ast.Assign):
            return False
    return False


def _leaves_out(plan: Reading, model: Obj, unread: frozenset[Place] = frozenset()) -> bool:
    owner = plan.facts.classes.get(model)
    if owner is None:
        return False
    methods = {p.name: p for p in owner.body if isinstance(p, ast.FunctionDef)}
    init, forward = methods.get("__init__"), methods.get("forward")
    if init is None or forward is None:
        return False
    running = [methods[name] for name in _read_from(forward, methods, set()) & methods.keys()]
    if owner.bases and (_asks_by_name(owner) or any(map(_goes_through_parts, [forward, *running]))):
        return False
    building = [init, *(methods[name] for name in _read_from(init, methods, set()) & methods.keys() - {"forward"})]
    attributes = (n for body in building for n in walk(body) if isinstance(n, ast.Attribute))
    stored = {n.attr for n in attributes if isinstance(n.ctx, ast.Store)}
    if _is_forgotten(plan, model, building, stored):
        return True
    made = {name for name in stored if _trainable(plan, model, name)}
    never = made - _read_from(forward, methods, set()) - _read_in_init(plan, building, made)
    at_times = {
        name for body in (forward, *running) for name in [*_picked(plan, model, body), *_read_under_conditions(body)]
    }
    at_times |= {name for name in made if _is_weight_alone(plan, model, name, [forward, *running])}
    return bool(never or made & (cut_off(owner, forward, unread, _attributes(plan)) | at_times))


def _is_weight_alone(plan: Reading, model: Obj, name: str, bodies: Sequence[ast.FunctionDef]) -> bool:
    """`F.linear(x, F.normalize(self.out.weight))`: no loss comes from its bias, if it has one."""
    layers = [o.node for o in plan.facts.fields.get((model, name), Value()).of("model") if "Embedding" not in o.name]
    biased = [n for n in layers if isinstance(n, ast.Call) and ast.unparse(keywords_of(n).get("bias") or n) != "False"]
    reads = [n for body in bodies for n in walk(body) if isinstance(n, ast.Attribute) and n.attr == name]
    parts = {getattr(plan.program.parents[n], "attr", "") for n in reads}
    return bool(biased) and bool(reads) and len(parts) == 1 and parts <= {"weight", "bias"}


def _attributes(plan: Reading) -> frozenset[str]:
    """Those that somebody reads: what a model keeps in another is of no use."""
    return frozenset(n.attr for n in plan.nodes() if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load))


def _picked(plan: Reading, model: Obj, method: ast.FunctionDef) -> Iterator[str]:
    """`self.heads[task](x)`, `self.layers[:-1]`: lists of which a call takes some; a loop may take them all."""
    loops = [n for n in walk(method) if isinstance(n, ast.For | ast.comprehension)]
    owner = plan.facts.classes[model]
    targets = [loop.target for loop in loops if _may_count_all(loop.iter, owner)]
    counted = {n.id for target in targets for n in walk(target) if isinstance(n, ast.Name)}
    taken: dict[str, set[str]] = {}
    for node in walk(method):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            if not {n.id for n in walk(node.slice) if isinstance(n, ast.Name)} & {"self", *counted}:
                taken.setdefault(node.value.attr, set()).add(ast.unparse(node.slice))
    picks = {n.value for n in walk(method) if isinstance(n, ast.Subscript)}
    whole = {n.attr for n in walk(method) if isinstance(n, ast.Attribute) and n not in picks}
    yield from (name for name, places in taken.items() if name not in whole and not _are_all(plan, model, name, places))


def _may_count_all(source: ast.expr, owner: ast.ClassDef) -> bool:
    """Not `range(2)`, unless something is made so often as well."""
    written = isinstance(source, ast.Call) and source.args and all(isinstance(a, ast.Constant) for a in source.args)
    others = (n.iter for n in walk(owner) if isinstance(n, ast.For | ast.comprehension) and n.iter is not source)
    return not written or ast.unparse(source) in map(ast.unparse, others)


def _are_all(plan: Reading, model: Obj, name: str, places: Set[str]) -> bool:
    """`self.layers[:-1]` and `self.layers[-1]`; 0 and 1 of two that are written out."""
    if {":-1", "-1"} <= places or {"0", "1:"} <= places:
        return True
    made = [o.node for o in plan.facts.fields.get((model, name), Value()).of("model") if isinstance(o.node, ast.Call)]
    for call in made:
        match call.args:
            case [ast.List(elts=items)] if not any(isinstance(i, ast.Starred) for i in items):
                return {str(at) for at in range(len(items))} <= places
            case [ast.Dict(keys=keys)] if all(isinstance(k, ast.Constant) for k in keys):
                return {ast.unparse(k) for k in keys if k is not None} <= places
    return False


def _read_under_conditions(method: ast.FunctionDef) -> set[str]:
    """Parts that only some calls go through: `self.head(x) if self.training else None`, what follows a `continue`."""
    loops = [n for n in walk(method) if isinstance(n, ast.For)]
    items = {n.id: loop.iter for loop in loops for n in walk(loop.target) if isinstance(n, ast.Name)}
    found = {name for loop in loops if _leaves(loop.body, ast.Break | ast.Return) for name in _parts(loop.body, items)}
    for node in walk(method):
        if isinstance(node, ast.IfExp):
            found |= _parts([node.body], items) ^ _parts([node.orelse], items)
        for block in (getattr(node, "body", ()), getattr(node, "orelse", ())):
            for at, choice in enumerate(block if isinstance(block, list) else ()):
                if isinstance(choice, ast.If):
                    rest = block[at + 1 :] if _leaves(choice.body, ast.Continue | ast.Return) else []
                    found |= _parts(choice.body, items) ^ _parts([*choice.orelse, *rest], items)
    return found


def _leaves(block: Sequence[ast.stmt], how: type[ast.stmt] | UnionType) -> bool:
    return any(isinstance(n, how) for part in block for n in walk(part))


def _parts(nodes: Sequence[ast.AST], items: Mapping[str, ast.expr]) -> set[str]:
    """`self.a(x)`; `expert(x)` in `for expert in self.experts`."""
    read = [n for part in nodes for n in walk(part)]
    read += [n for i in read if isinstance(i, ast.Name) and i.id in items for n in walk(items[i.id])]
    return {n.attr for n in read if isinstance(n, ast.Attribute)}


def _asks_by_name(node: ast.ClassDef) -> bool:
    names = {n.func.id for n in walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    return bool(names & {"getattr", "setattr", "eval", "exec"})


def _goes_through_parts(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr in PARTS for n in walk(node))


def _is_forgotten(plan: Reading, model: Obj, building: Sequence[ast.AST], stored: Set[str]) -> bool:
    """A parameter of its own that nobody reads, whoever has the model: a loss may be made with it besides."""
    values = {name: plan.facts.fields.get((model, name), Value()) for name in stored}
    own = {name for name, value in values.items() if value.of("parameter") and not value.of("model")}
    frozen = {n for n in own for o in values[n].of("parameter") if _is_frozen(plan, o)}
    inside = {n for body in building for n in walk(body)}
    read = (n.attr for n in plan.nodes() if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load | ast.Del)
            and n not in inside)  # fmt: skip
    return bool(own - frozen - {*read} - {*_read_in_init(plan, building, own)}) if own else False


def _is_frozen(plan: Reading, parameter: Obj) -> bool:
    """`nn.Parameter(x, requires_grad=False)`"""
    given = keywords_of(parameter.node).get("requires_grad") if isinstance(parameter.node, ast.Call) else None
    return given is not None and plan.facts.value(given).const is not True


def _trainable(plan: Reading, model: Obj, name: str) -> bool:
    return any(learns(o.name) for o in plan.facts.fields.get((model, name), Value()).of("model"))


def _read_from(method: ast.FunctionDef, methods: Mapping[str, ast.FunctionDef], seen: set[str]) -> set[str]:
    found = {n.attr for n in walk(method) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)}
    for name in found & methods.keys() - seen:
        seen.add(name)
        found = found | _read_from(methods[name], methods, seen)
    return found


def _read_in_init(plan: Reading, building: Sequence[ast.AST], made: set[str]) -> set[str]:
    """Parts that others are made of: `self.net = nn.Sequential(self.a, self.b)`; not what is taken apart or copied."""
    inside = [n for body in building for n in walk(body)]
    loads = [n for n in inside if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)]
    copying = (n for n in inside if isinstance(n, ast.Call) and entry_of(n, plan.flow.imports).copies)
    apart = {n.value for n in loads if n.attr in PARTS}.union(a for call in copying for a in call.args)
    return {n.attr for n in loads if n not in apart} & made
