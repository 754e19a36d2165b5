"""Make an instance of a class of the notebook."""

from __future__ import annotations

import ast

from nbddp.analysis.evaluator.classes import class_member, kind_of
from nbddp.analysis.evaluator.iteration import params_in, parts
from nbddp.analysis.values import Machine, Obj, Value

Args = list[Value]
Keywords = dict[str, Value]


def instance(m: Machine, node: ast.expr, cls: Obj, args: Args, keywords: Keywords) -> Value:
    assert isinstance(cls.node, ast.ClassDef)
    obj = Obj(kind_of(m, cls.node), node, cls.name, None, m.frame.call)
    m.facts.classes[obj] = cls.node
    if isinstance(node, ast.Call):
        m.facts.calls[node].made.add(obj)
    init = class_member(m, cls.node, "__init__", obj)
    if init is not None:
        with m.within(forward=False):
            for method in init.of("method"):
                m.steps.function(m, method, args, keywords, node)
    else:
        _record_fields(m, obj, cls.node, args, keywords)
    if obj.kind == "model":
        contain(m, obj)
    if obj.kind == "loader" and args:
        m.put(obj, "dataset", args[0])
    if obj.kind == "optimizer":
        m.put(obj, "params", Value(frozenset(o for v in (*args, *keywords.values()) for o in params_in(m, v))))
    return Value(frozenset({obj}))


def _record_fields(m: Machine, obj: Obj, node: ast.ClassDef, args: Args, keywords: Keywords) -> None:
    """A dataclass: its fields are its arguments; a subclass of a library's class: what it is given."""
    fields = [s.target.id for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
    for name, value in [*zip(fields, args, strict=False), *keywords.items()]:
        m.put(obj, name, value)
    for i, value in enumerate(args):
        m.put(obj, f"argument {i}", value)


def contain(m: Machine, obj: Obj) -> None:
    """Modules among the fields of a module are parts of it."""
    for (owner, _), value in list(m.facts.fields.items()):
        if owner == obj:
            for child in parts(m, value):
                if child != obj:
                    m.facts.contained[child].add(obj)
