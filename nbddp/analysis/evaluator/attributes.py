"""Read an attribute in the abstract; what classes of the notebook hold."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.evaluator.classes import (
    by_class,
    class_member,
    class_of,
    is_class_method,
    is_property,
    is_setter,
    line_of,
    own_methods,
    run_methods,
)
from nbddp.analysis.evaluator.operands import APPLY, applied, library
from nbddp.analysis.evaluator.tensors import shape_of
from nbddp.analysis.library import Effect, effect_of
from nbddp.analysis.slicing import is_made_in_step, moves_data_alone
from nbddp.analysis.syntax import canonical
from nbddp.analysis.values import (
    FIELDS_OF,
    GRADIENT,
    MARKS,
    OF_A_PART,
    STATISTIC,
    WEIGHTED,
    WHOLE,
    Extent,
    Machine,
    Obj,
    Value,
    backward_of,
    join,
    join_extent,
    marked,
    spread,
    thing,
    turned,
)

MODULE_API = frozenset(
    """
    parameters named_parameters buffers named_buffers modules named_modules children named_children state_dict
    load_state_dict train eval to cuda cpu half float double bfloat16 type apply zero_grad requires_grad_ training
    register_buffer register_parameter register_module register_forward_hook register_full_backward_hook share_memory
    add_module get_submodule get_parameter forward compile extra_repr to_empty save_pretrained named_module ipu xpu
    register_forward_pre_hook append extend insert keys items values update_parameters
    reset_parameters
    """.split()
)
OF_FUNCTIONS = ("__defaults__", "__kwdefaults__", "__closure__")


def read(m: Machine, base: Value, attr: str, node: ast.expr) -> Value:
    result: Value | None = None
    for obj in base.objs:
        found = _of(m, obj, attr, node)
        if found is not None:
            result = found if result is None else join(result, found)
    if result is None and attr == "data" and base.items:  # of packed sequences
        return base.items[0]
    if attr == "T" and spread(base) is Extent.SAMPLES and base.objs == base.of(*MARKS):
        return turned(base, line=True)
    extent = _extent(base, attr)
    if attr == "grad" and result is None and (gradient := _gradient(m, base, extent, node)) is not None:
        return gradient
    if result is None and base.of("list", "dict"):  # `log.queue`
        extent = extent if m.held(base) in WHOLE else Extent.VARYING
    if result is not None and not result.objs and not result.varies:
        result = replace(result, extent=join_extent(result.extent, extent))  # of a thing that comes from a share
    if result is None and attr == "shape":
        return shape_of(m, base)
    parent = m.program.parents.get(node)
    called = isinstance(parent, ast.Call) and parent.func is node
    marks = frozenset() if called or extent is not spread(base) else base.of(*OF_A_PART)
    return result or Value(marks, extent, arrays=base.arrays if attr in ("T", "data") else frozenset())


def _gradient(m: Machine, base: Value, extent: Extent, node: ast.expr) -> Value | None:
    """Of samples, or of what a step has made for all of them, which nothing averages; None of parameters."""
    body = m.program.function_of(node)
    ran = [call for call in m.facts.backward if m.program.function_of(call) is body]
    losses = {spread(m.facts.value(loss)) for call in ran if (loss := backward_of(call)) is not None}
    if extent is Extent.SAMPLES:
        own = losses == {Extent.SUM} and all(moves_data_alone(m.program, call) for call in ran)
        return Value(extent=Extent.SAMPLES) if own else marked(Value(extent=Extent.SAMPLES), WEIGHTED, GRADIENT)
    apart = m.sharing() and not m.assumed.joined  # models that split a whole batch give gradients of all of it
    if apart and isinstance(node, ast.Attribute) and is_made_in_step(m.program, node.value):
        return marked(Value(extent=Extent.VARYING), STATISTIC)
    return None


def fields_of(m: Machine, obj: Obj, node: ast.AST) -> Value:
    """`vars(state)`, `state.__dict__`."""
    extent = Extent.UNIFORM if m.held(Value(frozenset({obj}))) in WHOLE else Extent.VARYING
    return Value(frozenset({Obj("dict", node, FIELDS_OF, obj)}), extent)


def _extent(base: Value, attr: str) -> Extent:
    extent = spread(base)
    if effect_of(f".{attr}").about == "kind":
        return Extent.UNIFORM
    if extent is Extent.SAMPLES and attr == "loss":  # a model's output that carries its loss
        return Extent.MEAN
    return extent


def _of(m: Machine, obj: Obj, attr: str, node: ast.expr) -> Value | None:
    if obj.kind == "library":
        return m.get(obj, attr) or library(canonical(f"{obj.name}.{attr}"))
    if obj.kind == "class":
        found = class_member(m, obj.node, attr, None)
        own = applied(m, obj, node) if attr == APPLY else None
        return own or (found and replace(found, objs=frozenset(_of_class(o, attr, obj) for o in found.objs)))
    if obj.kind == "drawing":  # `fig.axes`, `axes.flat`
        return Value(frozenset({obj}))
    if obj.kind == "loader" and attr == "sampler":
        return thing("loader sampler", node, "", obj)
    field = m.get(obj, attr)
    if field is not None:
        return _owned(field, obj) if obj.kind == "model" else field
    if attr == "__dict__":
        return Value(frozenset({obj})) if obj.kind == "dict" else fields_of(m, obj, node)
    if obj.kind == "function" and attr in OF_FUNCTIONS:
        return _kept_by(m, obj, attr, node)
    if obj.kind in ("list", "dict"):
        item = m.get(obj, f"[{attr!r}]")
        stores = effect_of(f".{attr}").effect is Effect.STORES
        return thing("bound", node, attr, obj) if item is None and stores else item  # `log.append`
    if (found := _by_its_class(m, obj, attr)) is not None:
        return found
    if obj.kind in ("model", "submodule") and attr in ("weight", "bias"):
        return thing("parameter", node, attr, obj.owner or obj)
    if obj.kind in ("model", "submodule") and attr not in MODULE_API:
        return thing("submodule", node, attr, obj.owner or obj)
    return None


def _by_its_class(m: Machine, obj: Obj, attr: str) -> Value | None:
    """What the class of the notebook has by that name, or computes."""
    node = m.facts.classes.get(obj)
    if node is None:
        return None
    if attr == "__class__":
        return class_of(m, Value(frozenset({obj})))
    member = class_member(m, node, attr, obj)
    if member is not None:
        computed = run_methods(m, [o for o in sorted(member.of("method"), key=line_of) if is_property(o.node)], [])
        found = by_class(m, member, "get", [Value(frozenset({obj}))]) if computed is None else computed
        return member if found is None else found
    asked = own_methods(m, Value(frozenset({obj})), "__getattr__")
    return run_methods(m, asked, [Value(const=attr)])


def _of_class(member: Obj, attr: str, cls: Obj) -> Obj:
    """A class method knows by which class it is asked for."""
    return Obj("method", member.node, attr, cls, member.site) if is_class_method(member.node) else member


def _owned(field: Value, model: Obj) -> Value:
    """A parameter that is read from a model belongs to it."""
    parts = {replace(o, owner=model) if o.kind == "parameter" and o.owner is None else o for o in field.objs}
    return replace(field, objs=frozenset(parts))


def _kept_by(m: Machine, function: Obj, attr: str, node: ast.AST) -> Value:
    """What a function has from where it was defined: defaults, and names of the function around."""
    spec: ast.arguments = getattr(function.node, "args", ast.arguments([], [], None, [], [], None, []))
    if attr == "__defaults__":
        return Value(items=tuple(map(m.facts.value, spec.defaults)))
    made, around = m.make("dict", node), m.around(function)
    named = [(a.arg, m.facts.value(d)) for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d]
    held = named if attr == "__kwdefaults__" else [*around.local.items()] if around is not None else []
    for obj in made.objs:
        for name, value in held:
            m.put(obj, f"[{name!r}]", value)
            m.put(obj, "[]", value)
    return made


def store(m: Machine, owner: Value, attr: str, value: Value) -> None:
    """Set a field: a property, a descriptor or `__setattr__` of the class may put it elsewhere."""
    for obj in owner.objs:
        node = m.facts.classes.get(obj)
        member = class_member(m, node, attr, obj) if node is not None else None
        setters = [o for o in sorted(member.of("method"), key=line_of) if is_setter(o.node)] if member else []
        if run_methods(m, setters, [value]) is not None:
            continue
        if member is not None:
            by_class(m, member, "set", [Value(frozenset({obj})), value])
        by_class(m, Value(frozenset({obj})), "setattr", [Value(const=attr), value])
        m.put(obj, attr, value)
