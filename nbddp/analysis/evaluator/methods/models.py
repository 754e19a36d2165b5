"""Methods of models, optimizers and scalers."""

from __future__ import annotations

import ast

from nbddp.analysis.evaluator.iteration import params_in, parts
from nbddp.analysis.library import effect_of
from nbddp.analysis.slicing import Function, local_names, root_name
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import ANYTHING, HOOKS, WHOLE, Args, Extent, Keywords, Machine, Obj, Value, may_learn, thing

RETURNS_MODEL = frozenset(
    "to cuda cpu train eval half float double bfloat16 type apply requires_grad_ share_memory".split()
)

NO_GRADIENT = ("data", "new", "device", "dtype")  # what these give of a parameter, and `new_zeros`
INSIDE = {
    **dict.fromkeys(("parameters", "named_parameters", "buffers"), "params"),
    **dict.fromkeys(("modules", "children", "named_modules", "named_children"), "submodule"),
}


def splits(m: Machine, model: Obj) -> bool:
    """Is it this one that splits a whole batch? It may be inside of one that computes with all samples."""
    outermost = is_open(m) and m.context.grad and may_learn(m.facts, model) and not effect_of(model.name).batch
    return bool(m.assumed.joined) and outermost and model not in m.assumed.opened


def is_opened(m: Machine, model: Obj) -> bool:
    return model in m.assumed.opened and is_open(m)


def is_open(m: Machine) -> bool:
    """In no model, or in those alone that have whole batches."""
    return m.context.opened or not m.context.forward


def backward(m: Machine, node: ast.Call) -> Value:
    m.facts.backward.add(node)
    fact = m.facts.calls[node]
    fact.visible.see_all(m.visible())
    m.mark_backward(m.context.conditions)
    return ANYTHING


def _put_in(m: Machine, owner: Obj, attr: str, args: Args) -> None:
    """A layer, or a buffer."""
    if attr == "register_buffer" and len(args) > 1 and isinstance(args[0].const, str):
        m.put(owner, args[0].const, Value(shape=args[1].shape))
    for child in (child for value in args for child in value.of("model")):
        m.facts.contained[child].add(owner)
        places = [f for f, _ in m.facts.fields.of(owner) if f.startswith("[")] if attr == "insert" else []
        for place in {"[]", *places}:  # which it may have now
            m.put(owner, place, Value(frozenset({child})))


def model_method(m: Machine, node: ast.Call, base: Value, attr: str, args: Args, keywords: Keywords) -> Value | None:
    models = base.of("model", "submodule")
    if attr in RETURNS_MODEL:
        if attr in ("train", "eval"):
            m.mark_loops(toggles=True)
            mode = attr == "train" and (not args or args[0].const is not False)
            switched = m.facts.with_parts(models)
            m.let_sleep(m.asleep - switched - _around(m, models) if mode else m.asleep | switched)
        return Value(models)
    if (kind := INSIDE.get(attr)) is not None:
        return Value(frozenset(Obj(kind, node, attr, _whole(o)) for o in models))
    if attr in ("items", "values"):
        return _layers_by_name(m, node, Value(models)) if attr == "items" else Value(models)
    if attr in ("append", "extend", "add_module", "insert", "register_buffer"):
        for owner in base.of("model"):
            _put_in(m, owner, attr, args)
        return ANYTHING
    if attr.startswith("register_forward_"):
        for obj in models if args else ():
            m.put(_whole(obj), HOOKS, args[0])
        return ANYTHING
    if attr == "load_state_dict" and m.sharing() and any(m.held(v) not in WHOLE for v in args[:1]):
        m.facts.moved_apart.add(node)
    return ANYTHING if attr in ("state_dict", "load_state_dict", "zero_grad") else None


def _layers_by_name(m: Machine, node: ast.Call, models: Value) -> Value:
    """Of a ModuleDict."""
    made = thing("iterator", node, "items")
    for obj in made.objs:
        m.put(obj, "of", models)
    return made


def _around(m: Machine, models: frozenset[Obj]) -> set[Obj]:
    """Of dropout that draws while its model is in evaluation mode: `model.dropout.train()`."""
    return {around for part in models for around in (_whole(part), *m.facts.roots(part))}


def _whole(obj: Obj) -> Obj:
    return obj.owner or obj if obj.kind == "submodule" else obj


def optimizer_method(
    m: Machine, node: ast.Call, base: Value, attr: str, args: Args, keywords: Keywords
) -> Value | None:
    fact = m.facts.calls[node]
    if attr == "step":
        m.mark_loops(step=True)
        fact.optimizers.update(base.of("optimizer"))
        for closure in (o for v in args[:1] for o in v.of("function", "method") if not _is_of_a_model(o)):
            result = m.steps.function(m, closure, [], {}, node)
            if not m.loops:  # the optimizer calls it again, with what the first time has left
                result = m.steps.function(m, closure, [], {}, node)
            searches = any(o.name.endswith("LBFGS") for o in base.objs)  # its closure gives the loss of all ranks
            return Value(extent=Extent.UNIFORM) if searches else result
    if attr == "add_param_group":
        for owner in base.of("optimizer"):
            for value in args:
                m.put(owner, "params", Value(params_in(m, value)))
    return ANYTHING


def _is_of_a_model(obj: Obj) -> bool:
    return obj.owner is not None and obj.owner.kind == "model"


def scaler_method(m: Machine, node: ast.Call, base: Value, attr: str, args: Args, keywords: Keywords) -> Value | None:
    if attr == "scale" and args:
        return args[0]
    if attr == "step" and args:
        m.mark_loops(step=True)
        m.facts.calls[node].optimizers.update(args[0].of("optimizer"))
    return ANYTHING


def contain(m: Machine, obj: Obj) -> None:
    """Modules among the fields of a module are parts of it."""
    for (owner, _), value in list(m.facts.fields.items()):
        if owner == obj:
            for child in parts(m, value):
                if child != obj:
                    m.facts.contained[child].add(obj)


def reads_more_than_numbers(m: Machine, method: Obj) -> bool:
    """`self.weight`, and not `self.width` alone, by which a first hidden state is sized."""
    assert isinstance(method.node, Function)
    fields = {n.value: n for n in walk(method.node) if isinstance(n, ast.Attribute) and root_name(n) == "self"}
    local = local_names(method.node) - {"self"}
    asked = {n for test in walk(method.node) if isinstance(test, ast.If | ast.IfExp) for n in walk(test.test)}
    names = (n for n in walk(method.node) if isinstance(n, ast.Name) and n.id not in local and n not in asked)
    read = (n for n in (fields.get(n, n) for n in names) if n in m.facts.values)  # not of a branch that is not taken
    values = (m.facts.value(n) for n in read if not _is_looked_at(m, n, method.node))
    return any(not (v.number or isinstance(v.const, int | float) or v.of("library", "device")) for v in values)


def _is_looked_at(m: Machine, node: ast.expr, method: ast.AST) -> bool:
    """`next(self.parameters()).data`, `weight = next(self.parameters())` and then `weight.new_zeros(…)` alone."""
    if not isinstance(node, ast.Attribute) or node.attr != "parameters":
        return False
    first = m.program.parents[m.program.parents[node]]
    around = m.program.parents[first]
    if isinstance(around, ast.Assign) and isinstance(around.targets[0], ast.Name):
        name = around.targets[0].id
        uses = [n for n in walk(method) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
        return all(_gives_no_gradient(m.program.parents[n]) for n in uses)
    return _gives_no_gradient(around)


def _gives_no_gradient(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr.startswith(NO_GRADIENT)
