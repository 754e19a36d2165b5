"""Read an attribute in the abstract; what classes of the notebook hold."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.library import Effect, effect_of, makes, under
from nbddp.analysis.syntax import canonical
from nbddp.analysis.values import (
    ANYTHING,
    FIELDS_OF,
    MARKS,
    PICKED,
    TURNED,
    WHOLE,
    Extent,
    Machine,
    Obj,
    Value,
    join,
    join_all,
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
    """.split()
)
ALIKE = frozenset("device dtype ndim requires_grad is_cuda is_leaf layout".split())  # of the tensors of all ranks
PLACE = ast.Pass()
HOOK = "<forward hook>"  # the field of a model that holds what its forward calls behind itself


def read(m: Machine, base: Value, attr: str, node: ast.expr) -> Value:
    result: Value | None = None
    for obj in base.objs:
        found = _of(m, obj, attr, node)
        if found is not None:
            result = found if result is None else join(result, found)
    if attr == "T" and spread(base) is Extent.SAMPLES and base.objs == base.of(*MARKS):
        return turned(base)
    extent = _extent(base, attr)
    if result is not None and not result.objs and not result.varies:
        result = replace(result, extent=extent)  # of a thing that comes from a share
    if result is None:
        shape = attr == "shape" and spread(base) in (Extent.SAMPLES, Extent.VARYING)
        return (
            thing("shape", PLACE)
            if attr == "shape" and not shape
            else (
                Value(thing("shape", PLACE).objs | base.of(PICKED, TURNED), Extent.SAMPLES)
                if shape
                else Value(extent=extent, arrays=base.arrays if attr in ("T", "data") else frozenset())
            )
        )
    return result


def fields_of(m: Machine, obj: Obj, node: ast.AST) -> Value:
    """`vars(state)`, `state.__dict__`."""
    extent = Extent.UNIFORM if m.held(Value(frozenset({obj}))) in WHOLE else Extent.VARYING
    return Value(frozenset({Obj("dict", node, FIELDS_OF, obj)}), extent)


def _extent(base: Value, attr: str) -> Extent:
    extent = spread(base)
    if attr in ALIKE:
        return Extent.UNIFORM
    if extent is Extent.SAMPLES and attr == "loss":  # a model's output that carries its loss
        return Extent.MEAN
    return extent


def _of(m: Machine, obj: Obj, attr: str, node: ast.expr) -> Value | None:
    if obj.kind == "library":
        return thing("library", PLACE_OF_LIBRARY, canonical(f"{obj.name}.{attr}"))
    if obj.kind == "class":
        found = class_member(m, obj.node, attr, None)
        return found and replace(found, objs=frozenset(_of_class(o, attr, obj) for o in found.objs))
    if obj.kind == "loader" and attr == "sampler":
        return thing("loader sampler", node, "", obj)
    field = m.get(obj, attr)
    if field is not None:
        return _owned(field, obj) if obj.kind == "model" else field
    if attr == "__dict__":
        return fields_of(m, obj, node)
    if obj.kind in ("list", "dict"):
        item = m.get(obj, f"[{attr!r}]")
        stores = effect_of(f".{attr}").effect is Effect.STORES
        return thing("bound", node, attr, obj) if item is None and stores else item  # `log.append`
    owner_class = m.facts.classes.get(obj)
    if owner_class is not None:
        member = class_member(m, owner_class, attr, obj)
        if member is not None:
            computed = [
                m.steps.function(m, o, [], {}, None)
                for o in sorted(member.of("method"), key=_line)
                if _is_property(o.node)
            ]
            return join_all(computed) if computed else member
        asked = class_member(m, owner_class, "__getattr__", obj) if obj.kind != "model" else None
        if asked is not None and (methods := sorted(asked.of("method"), key=_line)):
            return join_all(m.steps.function(m, o, [Value(const=attr)], {}, None) for o in methods)
    if obj.kind in ("model", "submodule") and attr in ("weight", "bias"):
        return thing("parameter", node, attr, obj.owner or obj)
    if obj.kind in ("model", "submodule") and attr not in MODULE_API:
        return thing("submodule", node, attr, obj.owner or obj)
    return None


def _of_class(member: Obj, attr: str, cls: Obj) -> Obj:
    """A class method knows by which class it is asked for."""
    return Obj("method", member.node, attr, cls, member.site) if is_class_method(member.node) else member


def _owned(field: Value, model: Obj) -> Value:
    """A parameter that is read from a model belongs to it."""
    parts = {replace(o, owner=model) if o.kind == "parameter" and o.owner is None else o for o in field.objs}
    return replace(field, objs=frozenset(parts))


PLACE_OF_LIBRARY = PLACE


def bases_of(m: Machine, node: ast.ClassDef) -> Value:
    return m.facts.fields.get((Obj("class", node, node.name), "__bases__"), ANYTHING)


def class_member(m: Machine, node: ast.AST, attr: str, owner: Obj | None, depth: int = 0) -> Value | None:
    """A method or a value of the class body, by the order of the bases."""
    assert isinstance(node, ast.ClassDef)
    stored = m.facts.fields.get((Obj("class", node, node.name), attr))
    if stored is not None:
        if owner is None:
            return stored
        bound = [
            Obj("method", o.node, attr, owner, o.site) if o.kind == "function" and not _is_static(o.node) else o
            for o in stored.objs
        ]
        return replace(stored, objs=frozenset(bound))
    if depth < 8:
        for base in bases_of(m, node).of("class"):
            found = class_member(m, base.node, attr, owner, depth + 1)
            if found is not None:
                return found
    return None


def by_class(m: Machine, base: Value, word: str, args: list[Value]) -> Value | None:
    """What `__add__` and the like of the notebook's classes come to."""
    owners = [(obj, node) for obj in base.of("instance") if (node := m.facts.classes.get(obj)) is not None]
    found = [member for obj, node in owners if (member := class_member(m, node, f"__{word}__", obj)) is not None]
    methods = sorted((o for member in found for o in member.of("method")), key=_line)
    return join_all(m.steps.function(m, method, args, {}, None) for method in methods) if methods else None


def _line(obj: Obj) -> int:
    return getattr(obj.node, "lineno", 0)


def _is_property(node: ast.AST) -> bool:
    """Reading the attribute runs the method."""
    decorators = getattr(node, "decorator_list", [])
    named = [d.attr if isinstance(d, ast.Attribute) else getattr(d, "id", "") for d in decorators]
    return bool({"property", "cached_property"} & set(named))


def _is_static(node: ast.AST) -> bool:
    return _is_decorated(node, "staticmethod")


def is_class_method(node: ast.AST) -> bool:
    return _is_decorated(node, "classmethod")


def _is_decorated(node: ast.AST, by: str) -> bool:
    return any(isinstance(d, ast.Name) and d.id == by for d in getattr(node, "decorator_list", []))


def kind_of(m: Machine, node: ast.ClassDef, depth: int = 0) -> str:
    """What an instance of the class is: a model, a data set, or just an instance."""
    for base in bases_of(m, node).objs:
        if base.kind == "class" and depth < 8:
            inherited = kind_of(m, base.node, depth + 1)  # type: ignore[arg-type]
            if inherited != "instance":
                return inherited
        if base.kind == "library":
            kind = makes(base.name)
            if kind in ("model", "loss"):
                return "model"
            if kind in ("iterable dataset", "sampler", "optimizer", "scheduler", "loader", "dataset"):
                return kind
            if under(base.name, ("torch_geometric.data",)):
                return "dataset"
    return "instance"
