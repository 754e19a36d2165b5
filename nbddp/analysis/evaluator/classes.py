"""Classes of the notebook: their bases, what they and their instances have, operators that they define."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from nbddp.analysis.library import makes, under
from nbddp.analysis.values import ANYTHING, Machine, Obj, Value, join_all

CONTAINER = "[itself]"  # the field of an instance that is a list or a dictionary
CONTAINERS = {
    **dict.fromkeys(("list", "set", "collections.deque", "collections.UserList"), "list"),
    **dict.fromkeys(("dict", "collections.UserDict", "collections.OrderedDict", "collections.defaultdict"), "dict"),
    "collections.Counter": "dict",
}
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


def lineage(m: Machine, node: ast.AST, depth: int = 0) -> Iterator[Obj]:
    """The class, and each that it is made from with those that this is made from."""
    assert isinstance(node, ast.ClassDef)
    yield Obj("class", node, node.name)
    for base in bases_of(m, node).objs if depth < 8 else ():
        yield from lineage(m, base.node, depth + 1) if base.kind == "class" else (base,)


def class_member(m: Machine, node: ast.AST, attr: str, owner: Obj | None) -> Value | None:
    """A method or a value of the class body, by the order of the bases."""
    known = (m.facts.fields.get((cls, attr)) for cls in lineage(m, node) if cls.kind == "class")
    stored = next((found for found in known if found is not None), None)
    if stored is None or owner is None:
        return stored
    plain = {o for o in stored.objs if o.kind == "function" and not _is_decorated(o.node, "staticmethod")}
    bound = {Obj("method", o.node, attr, owner, o.site) for o in plain}
    return replace(stored, objs=stored.objs - plain | bound)


def itself(m: Machine, obj: Obj) -> Value:
    """What methods get first: of `class Log(dict)` also the dictionary that it is."""
    return Value(frozenset({obj}) | (m.facts.fields.get((obj, CONTAINER)) or ANYTHING).objs)


def container_of(m: Machine, node: ast.AST) -> str:
    """The kind of container that an instance is: of `class Log(dict)`, `class Window(deque)`."""
    return next((CONTAINERS[b.name] for b in _of_libraries(m, node) if b.name in CONTAINERS), "")


def _of_libraries(m: Machine, node: ast.AST) -> Iterator[Obj]:
    return (base for base in lineage(m, node) if base.kind == "library")


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


def is_class_method(node: ast.AST) -> bool:
    return _is_decorated(node, "classmethod")


def _is_decorated(node: ast.AST, by: str) -> bool:
    return any(isinstance(d, ast.Name) and d.id == by for d in getattr(node, "decorator_list", []))


def kind_of(m: Machine, node: ast.AST) -> str:
    """What an instance of the class is: a model, a data set, or just an instance."""
    for base in _of_libraries(m, node):
        kind = makes(base.name)
        if kind in ("model", "loss"):
            return "model"
        if kind in ("iterable dataset", "sampler", "optimizer", "scheduler", "loader", "dataset"):
            return kind
        if under(base.name, ("torch_geometric.data",)):
            return "dataset"
    return "instance"
