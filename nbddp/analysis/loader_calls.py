"""A call of `DataLoader`, its arguments by name however they were given."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from nbddp.analysis.domain import Obj, Value
from nbddp.analysis.plan import Plan

POSITIONS = ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn",
             "pin_memory", "drop_last")  # fmt: skip


@dataclass(frozen=True, eq=False)
class LoaderCall:
    obj: Obj
    node: ast.Call
    arguments: dict[str, ast.expr]
    keywords: dict[str, ast.keyword]
    plain: bool  # no *args and no **kwargs
    name: str | None  # the variable that gets it
    statement: ast.stmt

    def constant(self, name: str) -> object:
        node = self.arguments.get(name)
        return node.value if isinstance(node, ast.Constant) else None

    def gives(self, name: str) -> bool:
        """Is the argument given, and not as None?"""
        node = self.arguments.get(name)
        return node is not None and not (isinstance(node, ast.Constant) and node.value is None)


def loader_call(plan: Plan, obj: Obj) -> LoaderCall | None:
    node = obj.node
    if not isinstance(node, ast.Call):
        return None
    arguments = dict(zip(POSITIONS, node.args, strict=False))
    keywords = {k.arg: k for k in node.keywords if k.arg}
    arguments |= {name: k.value for name, k in keywords.items()}
    starred = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
    statement = plan.program.statement_of(node)
    name = None
    if isinstance(statement, ast.Assign) and statement.value is node and len(statement.targets) == 1:
        target = statement.targets[0]
        name = target.id if isinstance(target, ast.Name) else None
    return LoaderCall(obj, node, arguments, keywords, not starred, name, statement)


def dataset_value(plan: Plan, call: LoaderCall) -> Value:
    return plan.facts.fields.get((call.obj, "dataset"), Value())
