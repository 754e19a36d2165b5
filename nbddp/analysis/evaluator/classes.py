"""What classes of the notebook hold, and which of their methods an operator, an attribute or a block calls."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.library import makes, under
from nbddp.analysis.values import ANYTHING, Machine, Obj, Value, join_all

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
