"""What a value is made of, through names, functions of the notebook and what they are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.regions import Definition, Scope, bound, stored
from nbddp.analysis.syntax import handed, walk

BINDS = (ast.Assign, ast.AugAssign, ast.NamedExpr, ast.For, ast.comprehension, ast.withitem)
Given = dict[tuple[Scope, str], list[tuple[ast.expr, int | None]]]  # by function and name: what, at which place
FIXED = ast.Name | ast.Subscript | ast.Slice | ast.Tuple | ast.Constant | ast.BinOp | ast.UnaryOp
FAR = 400  # nodes: what is made of more than that is not followed to its end


def made_by(
    plan: Reading, node: ast.expr, place: int | None = None, seen: frozenset[ast.AST] = frozenset()
) -> Iterator[ast.expr]:
    """The expressions that a value, or the one at a place of a tuple, comes from unchanged."""
    if node in seen or len(seen) > FAR:
        return
    seen |= {node}
    if isinstance(node, ast.Name):
        for value, at in given_to(plan, node):
            yield from made_by(plan, value, place if at is None else at, seen)
    elif isinstance(node, ast.Tuple) and place is not None and place < len(node.elts):
        yield from made_by(plan, node.elts[place], None, seen)
    elif isinstance(node, ast.Call) and (given := [*returned(plan, node)]):
        for value in given:
            yield from made_by(plan, value, place, seen)
    else:
        yield node


def all_of(plan: Reading, node: ast.expr, seen: set[ast.AST] | None = None) -> Iterator[ast.AST]:
    """Everything that an expression is made of, in whatever number of steps."""
    seen = set() if seen is None else seen
    waiting: list[ast.AST] = [node]
    while waiting and len(seen) < FAR:
        part = waiting.pop()
        if part in seen:
            continue
        seen.add(part)
        yield part
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            waiting += (value for value, _ in given_to(plan, part))
        elif isinstance(part, ast.Call):
            waiting += returned(plan, part)
        waiting += ast.iter_child_nodes(part)


def given_to(plan: Reading, name: ast.Name) -> Iterator[tuple[ast.expr, int | None]]:
    """What a name may have been given, and at which place of a tuple."""
    function = plan.program.function_of(name)
    if isinstance(function, Definition):
        for call in plan.callers.get(function, ()):
            yield from ((value, None) for parameter, value in handed(call, function) if parameter == name.id)
            yield from ((value, at) for parameter, value, at in _unpacked(call, function) if parameter == name.id)
    for around in dict.fromkeys((function, None)):
        yield from (found := _given(plan).get((around, name.id), []))
        if found:
            return


def _unpacked(call: ast.Call, function: Definition) -> Iterator[tuple[str, ast.expr, int]]:
    """`train(*get_batch())`: its parameters from there on, what they are parts of, and which."""
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args) if a.arg not in ("self", "cls")]
    for first, value in enumerate(call.args):
        if isinstance(value, ast.Starred):
            yield from ((name, value.value, at) for at, name in enumerate(names[first:]))
            return


def is_unchanging(plan: Reading, node: ast.expr) -> bool:
    """`times[:length]`, which nothing has drawn: the same in each turn, whatever the batch is."""
    made = [part for one in made_by(plan, node) for part in walk(one)]
    names = {n.id for n in made if isinstance(n, ast.Name)}
    set_at = [n for n in plan.nodes() if isinstance(n, ast.Name) and n.id in names and not isinstance(n.ctx, ast.Load)]
    once = len(set_at) == len(names) and all(isinstance(plan.program.statement_of(n), ast.Assign) for n in set_at)
    at_top = all(plan.program.parents[plan.program.statement_of(n)] is plan.program.tree for n in set_at)
    return bool(names) and once and at_top and all(isinstance(n, FIXED) for n in made if isinstance(n, ast.expr))


def _given(plan: Reading) -> Given:
    """Found once: it is asked for every name of what a batch is made of."""
    if _given not in plan.once:
        plan.once[_given] = _find_given(plan)
    found: Given = plan.once[_given]
    return found


def _find_given(plan: Reading) -> Given:
    found: Given = {}
    for node in (n for n in plan.nodes() if isinstance(n, BINDS)):
        for target, value in bound(plan.program, node):
            for name, place in _names(target):
                found.setdefault((plan.program.function_of(node), name), []).append((value, place))
    return found


def _names(target: ast.expr) -> Iterator[tuple[str, int | None]]:
    if isinstance(target, ast.Name):
        yield target.id, None
    elif isinstance(target, ast.Tuple | ast.List):
        yield from ((name, at) for at, part in enumerate(target.elts) for name in stored(part))


def returned(plan: Reading, call: ast.expr) -> Iterator[ast.expr]:
    """By the functions of the notebook that it calls; what a generator yields, or a loader puts together."""
    if isinstance(call, ast.Call) and (fact := plan.facts.calls.get(call)):
        collating = [plan.facts.value(k.value) for k in call.keywords if k.arg == "collate_fn"]
        for body in (*fact.bodies, *(f.node for value in collating for f in value.of("function", "method"))):
            yield from returned_by(body)


def returned_by(body: ast.AST) -> Iterator[ast.expr]:
    for node in walk(body):
        if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
            yield node.value
