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
    WEIGHTED,
    WHOLE,
    Extent,
    Machine,
    Obj,
    Value,
    join,
    join_all,
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
    """.split()
)
OF_FUNCTIONS = ("__defaults__", "__kwdefaults__", "__closure__")
CONTAINER = "[itself]"  # the field of an instance that is a list or a dictionary
CONTAINERS = {
    **dict.fromkeys(("list", "set", "collections.deque", "collections.UserList"), "list"),
    **dict.fromkeys(("dict", "collections.UserDict", "collections.OrderedDict", "collections.defaultdict"), "dict"),
    "collections.Counter": "dict",
}
PLACE = ast.Pass()


def read(m: Machine, base: Value, attr: str, node: ast.expr) -> Value:
    result: Value | None = None
    for obj in base.objs:
        found = _of(m, obj, attr, node)
        if found is not None:
            result = found if result is None else join(result, found)
    if attr == "T" and spread(base) is Extent.SAMPLES and base.objs == base.of(*MARKS):
        return turned(base, line=True)
    extent = _extent(base, attr)
    if attr == "grad" and extent is Extent.SAMPLES and result is None:
        return marked(Value(extent=extent), WEIGHTED)  # of a loss of the share
    if result is None and base.of("list", "dict"):  # `log.queue`
        extent = extent if m.held(base) in WHOLE else Extent.VARYING
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
    if effect_of(f".{attr}").about == "kind":
        return Extent.UNIFORM
    if extent is Extent.SAMPLES and attr == "loss":  # a model's output that carries its loss
        return Extent.MEAN
    return extent


def _of(m: Machine, obj: Obj, attr: str, node: ast.expr) -> Value | None:
    if obj.kind == "library":
        return m.get(obj, attr) or thing("library", PLACE, canonical(f"{obj.name}.{attr}"))
    if obj.kind == "class":
        found = class_member(m, obj.node, attr, None)
        return found and replace(found, objs=frozenset(_of_class(o, attr, obj) for o in found.objs))
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


OPERATIONS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.MatMult: "matmul", ast.BitOr: "or", ast.BitAnd: "and", ast.BitXor: "xor", ast.LShift: "lshift",
    ast.RShift: "rshift",
}  # fmt: skip
COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("lt", "gt"), ast.Gt: ("gt", "lt"), ast.LtE: ("le", "ge"), ast.GtE: ("ge", "le"), ast.Eq: ("eq", "eq"),
    ast.NotEq: ("ne", "ne"),
}  # fmt: skip


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


def itself(m: Machine, obj: Obj) -> Value:
    """What methods get first: of `class Log(dict)` also the dictionary that it is."""
    return Value(frozenset({obj}) | (m.facts.fields.get((obj, CONTAINER)) or ANYTHING).objs)


def container_of(m: Machine, node: ast.ClassDef, depth: int = 0) -> str:
    """The kind of container that an instance is: of `class Log(dict)`, `class Window(deque)`."""
    for base in bases_of(m, node).objs:
        kind = CONTAINERS.get(base.name, "") if base.kind == "library" else ""
        if base.kind == "class" and depth < 8:
            kind = container_of(m, base.node, depth + 1)  # type: ignore[arg-type]
        if kind:
            return kind
    return ""


def by_class(m: Machine, base: Value, word: str, args: list[Value]) -> Value | None:
    """What `__add__` and the like of the notebook's classes come to."""
    return run_methods(m, own_methods(m, base, f"__{word}__"), args)


def own_methods(m: Machine, base: Value, name: str) -> list[Obj]:
    """Of the notebook's classes, of whose instances it may be one."""
    owners = [(obj, node) for obj in base.of("instance") if (node := m.facts.classes.get(obj)) is not None]
    found = [member for obj, node in owners if (member := class_member(m, node, name, obj)) is not None]
    return sorted((o for member in found for o in member.of("method")), key=line_of)


def run_methods(m: Machine, methods: list[Obj], args: list[Value]) -> Value | None:
    return join_all(m.steps.function(m, method, args, {}, None) for method in methods) if methods else None


def by_operator(m: Machine, op: ast.operator, left: Value, right: Value, *, added: bool = False) -> Value | None:
    """What an operator comes to where the one side, or the other, is of a class that has it."""
    word = OPERATIONS[type(op)]
    found = by_class(m, left, f"i{word}", [right]) if added else None
    found = by_class(m, left, word, [right]) if found is None else found
    return by_class(m, right, f"r{word}", [left]) if found is None else found


def by_comparison(m: Machine, op: ast.cmpop, left: Value, right: Value) -> Value | None:
    if isinstance(op, ast.In | ast.NotIn):
        return by_class(m, right, "contains", [left])
    word, mirrored = COMPARISONS.get(type(op), ("", ""))
    found = by_class(m, left, word, [right]) if word else None
    return by_class(m, right, mirrored, [left]) if word and found is None else found


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


def class_of(m: Machine, value: Value) -> Value:
    """`type(self)`, `self.__class__`."""
    nodes = {node for obj in value.objs if (node := m.facts.classes.get(obj)) is not None}
    return Value(frozenset(Obj("class", node, node.name) for node in nodes))


def line_of(obj: Obj) -> int:
    return getattr(obj.node, "lineno", 0)


def is_property(node: ast.AST) -> bool:
    """Reading the attribute runs the method."""
    decorators = getattr(node, "decorator_list", [])
    named = [d.attr if isinstance(d, ast.Attribute) else getattr(d, "id", "") for d in decorators]
    return bool({"property", "cached_property"} & set(named))


def is_setter(node: ast.AST) -> bool:
    """Setting the attribute runs the method: `@total.setter`."""
    return any(isinstance(d, ast.Attribute) and d.attr == "setter" for d in getattr(node, "decorator_list", []))


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
