"""Which names stand for loaders, by the statements alone: of what is left out, nothing has been run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from nbddp.analysis.library import makes
from nbddp.analysis.reading.reading import Reading
from nbddp.analysis.slicing import all_arguments
from nbddp.analysis.syntax import assigned, handed, is_name, qualified, walk
from nbddp.analysis.values import Value

DEPTH = 3  # names of names


def is_loader(plan: Reading, node: ast.expr, depth: int = DEPTH) -> bool:
    """Or what goes through one; also one that the script has no use for, and one that a function makes for itself."""
    known = _known(plan, node)
    if known is not None and not known.of("iterator"):
        return bool(known.of("loader")) or _is_beside_one(plan, known)
    made = [*values_of(plan, node), *_unpacked(plan, node)] if depth else []
    made += [given for one in made for given in _given_back(plan, one)]
    begun = [n.args[0] if begins(n) else n for n in made]
    return any(makes_loader(plan, n) or (isinstance(n, ast.Name) and is_loader(plan, n, depth - 1)) for n in begun)


def _known(plan: Reading, node: ast.expr) -> Value | None:
    """What a name stands for at the end; also `loaders["train"]`, `data.train`, of which something is known."""
    if isinstance(node, ast.Name):
        return plan.facts.final.get(node.id)
    whole = _known(plan, node.value) if isinstance(node, ast.Subscript | ast.Attribute) else None
    field = node.attr if isinstance(node, ast.Attribute) else "[]"
    held = (plan.facts.fields.get((obj, field)) for obj in (whole.objs if whole else ()))
    return next((value for value in held if value is not None), None)


def _given_back(plan: Reading, node: ast.AST) -> Iterator[ast.expr]:
    """What a function of the notebook returns that is called by its name: `loader = load(32)`."""
    name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    functions = (plan.program.statements[i].node for i in plan.flow.binders.get(name, ()))
    for function in (f for f in functions if isinstance(f, ast.FunctionDef)):
        yield from (part.value for part in walk(function) if isinstance(part, ast.Return) and part.value is not None)


def _unpacked(plan: Reading, node: ast.expr) -> Iterator[ast.expr]:
    """The second of what is returned, for `test` of `train, test = load(32)`."""
    bound = (plan.program.statements[i].node for i in plan.flow.binders.get(getattr(node, "id", ""), ()))
    for target, value in (pair for statement in bound for pair in assigned(statement)):
        names = [ast.unparse(name) for name in target.elts] if isinstance(target, ast.Tuple) else []
        for given in _given_back(plan, value) if ast.unparse(node) in names else ():
            if isinstance(given, ast.Tuple) and len(given.elts) == len(names):
                yield given.elts[names.index(ast.unparse(node))]


def _is_beside_one(plan: Reading, value: Value) -> bool:
    """`test_loader`, of `train_loader, test_loader = load_data()` in a module, where the one is taken for a loader."""
    loaders = {o.owner.name for v in plan.facts.final.values() for o in v.of("loader") if o.owner is not None}
    return any(o.owner is not None and o.owner.name in loaders for o in value.of("foreign"))


def values_of(plan: Reading, node: ast.expr) -> Iterator[ast.AST]:
    """What a name is given; of a parameter, what those who call its function by name give it."""
    if not isinstance(node, ast.Name):
        yield node
        return
    function = plan.program.function_of(node)
    bound = (plan.program.statements[i].node for i in plan.flow.binders.get(node.id, ()))
    given = (pair for s in (*bound, *(walk(function) if function is not None else ())) for pair in assigned(s))
    yield from (value for target, value in given if is_name(target, node.id) and value is not None)
    if isinstance(function, ast.FunctionDef) and any(a.arg == node.id for a in all_arguments(function.args)):
        calls = (n for n in plan.program.nodes if isinstance(n, ast.Call) and is_name(n.func, function.name))
        yield from (value for call in calls for name, value in handed(call, function) if name == node.id)


def begins(node: ast.AST) -> TypeGuard[ast.Call]:
    """`iter(loader)`, under a name."""
    return isinstance(node, ast.Call) and is_name(node.func, "iter") and bool(node.args)


def makes_loader(plan: Reading, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and makes(qualified(node.func, plan.flow.imports) or "") == "loader"
