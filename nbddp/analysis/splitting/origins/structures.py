"""Whether a batch is one tensor, or a list or a dictionary of several: what takes it apart says so."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from nbddp.analysis.reading import Reading
from nbddp.analysis.syntax import handed, is_name, walk
from nbddp.analysis.values import ANYTHING

DEPTH = 4  # of functions that hand it on
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def structure_of(plan: Reading, statements: Iterable[ast.AST], name: str, depth: int = DEPTH) -> str:
    """How it is taken apart: as a "list", a "dict" by its keys, "nested" lists; nothing for a tensor."""
    for node in (n for s in statements for n in walk(s)):
        match node:
            case ast.Assign(targets=[ast.Tuple() | ast.List() as parts], value=ast.Name(id=read)) if read == name:
                return "nested" if any(isinstance(p, ast.Tuple | ast.List) for p in parts.elts) else "list"
            case ast.Subscript(value=ast.Name(id=read), slice=ast.Constant(value=str())) if read == name:
                return "dict"
            case ast.keyword(arg=None, value=ast.Name(id=read)) if read == name:  # `model(**batch)`
                return "dict"
            case ast.Call(func=ast.Attribute(value=ast.Name(id=read), attr="items" | "keys")) if read == name:
                return "dict"
            case ast.Call(func=func, args=[ast.Starred(value=ast.Name(id=read)), *_]) if (
                read == name and plan.facts.value(func).of("model", "function", "method")
            ):
                return "list"  # `model(*batch)`; of `torch.stack([*x])` it may be a tensor
            case ast.Call() if depth:
                for body, parameter in _given_to(plan, node, name):
                    if found := structure_of(plan, [body], parameter, depth - 1):
                        return found
    return ""


def classes_of(plan: Reading, batch: ast.expr) -> list[ast.ClassDef]:
    """Of the notebook: what it is made as, or what a loader's `collate_fn` makes."""
    owners = [plan.facts.classes.get(o) for o in plan.facts.value(batch).of("instance")]
    targets = [n.target for n in plan.nodes() if isinstance(n, ast.For)]
    if any(isinstance(batch, ast.Name) and is_name(target, batch.id) for target in targets):
        by = [plan.facts.fields.get((o, "collate_fn"), ANYTHING) for o in plan.assumed.alike]
        made = [n.func for o in plan.assumed.alike for n in plan.bindings.below(o.node) if isinstance(n, ast.Call)]
        names = {c.name for v in by for c in v.of("class")} | {n.id for n in made if isinstance(n, ast.Name)}
        owners += [n for n in plan.program.nodes if isinstance(n, ast.ClassDef) and n.name in names]
    return [owner for owner in owners if isinstance(owner, ast.ClassDef)]


def is_of_tensors(plan: Reading, batch: ast.expr) -> bool:
    """Of such classes alone."""
    owners = classes_of(plan, batch)
    return bool(owners) and all(map(holds_tensors, owners))


def holds_tensors(owner: ast.ClassDef) -> bool:
    """A dataclass that says of each field that it is one: `x: torch.Tensor`."""
    fields = [s.annotation for s in owner.body if isinstance(s, ast.AnnAssign)]
    plain = any("dataclass" in ast.unparse(d) for d in owner.decorator_list) and not owner.bases
    return plain and bool(fields) and all("Tensor" in ast.unparse(field) for field in fields)


def _given_to(plan: Reading, call: ast.Call, name: str) -> Iterator[tuple[ast.AST, str]]:
    """`model.training_step(batch)`: which parameter of which function it is there."""
    fact = plan.facts.calls.get(call)
    for body in fact.bodies if fact is not None else ():
        if isinstance(body, Function):
            given = handed(call, body)
            yield from ((body, p) for p, value in given if isinstance(value, ast.Name) and value.id == name)
