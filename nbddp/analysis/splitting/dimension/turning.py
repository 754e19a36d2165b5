"""What puts another dimension where the samples were."""

from __future__ import annotations

import ast

from nbddp.analysis.library import Shape, entry_of
from nbddp.analysis.reading import Binding, Reading
from nbddp.analysis.splitting.regions import is_split, region_at, run_by
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Split


def leaves_the_first(plan: Reading, method: ast.Attribute) -> bool:
    """`x.transpose(1, 2)`, `x.permute(0, 2, 1)`, `k.transpose(-2, -1)`: heads and channels beside the samples.

    `q, k, v = x.permute(2, 0, 3, 1, 4)`: what comes before them is taken apart at once.
    """
    call = plan.program.parents[method]
    if not isinstance(call, ast.Call) or call.func is not method:
        return method.attr == "mT"
    kept = (0,) if method.attr == "permute" else ()
    listed = call.args[-1] if call.args and isinstance(call.args[-1], ast.List | ast.Tuple) else None
    given = listed.elts if listed else call.args[bool(plan.facts.value(method.value).of("library")) :]
    dims = [plan.facts.value(dim).const for dim in given if not call.keywords]
    apart = bool(kept) and 0 in dims[1:2] and _is_taken_apart(plan, call)
    behind = all(isinstance(dim, int) and dim not in (0, *range(-9, -2)) for dim in dims[len(kept) :])
    return apart or (bool(dims) and (*dims[: len(kept)],) == kept and behind)


def _is_taken_apart(plan: Reading, node: ast.AST) -> bool:
    """`qkv[0]`, `qkv.unbind(0)`, `q, k, v = qkv`; of a name, wherever it is read."""
    around = plan.program.parents[node]
    match around:
        case ast.Subscript(slice=ast.Constant(value=int())):
            return around.value is node
        case ast.Attribute(attr="unbind"):
            call = plan.program.parents[around]
            return isinstance(call, ast.Call) and all(plan.facts.value(a).const == 0 for a in call.args)
        case ast.Assign(targets=[ast.Tuple()]):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            scope = plan.program.function_of(node) or plan.program.tree
            reads = [n for n in walk(scope) if isinstance(n, ast.Name) and n.id == name and n is not around.targets[0]]
            return bool(reads) and all(_is_taken_apart(plan, n) for n in reads if isinstance(n.ctx, ast.Load))
    return False


def turns_round(plan: Reading, node: ast.AST) -> bool:
    """`x.permute(1, 0, 2)`, `x.transpose(0, 1)` in the class of the layer, or in a model around, not of a mask."""
    owner = next((a for a in plan.program.ancestors(node) if isinstance(a, ast.ClassDef)), None)
    around = [f for f in plan.run_by_models if isinstance(f, ast.FunctionDef)] if owner else []
    for call in (n for one in (*around, owner) if one is not None for n in walk(one)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and swaps_the_first(plan, call):
            if is_split(plan, call.func.value) or _is_given(plan, call.func.value):
                return True
    return False


def turned_before(plan: Reading, split: Split) -> bool:
    """`model(x.permute(1, 0, 2))`: does the step itself, behind the cut, put the samples where the model has them?"""
    inside = {n for s in region_at(plan, split.at).rest for n in run_by(plan, s)}
    given = [a for m in plan.roles.models for c in m.forward_calls if c in inside for a in c.args[:1]]  # no mask
    made = [n for a in given for n in plan.bindings.made_of(a) if n in inside and isinstance(n, ast.Call)]
    return any(swaps_the_first(plan, call) for call in made)


def swaps_the_first(plan: Reading, call: ast.Call) -> bool:
    """`x.transpose(0, 1)`, `x.permute(2, 0, 1)`, `torch.transpose(x, 0, 1)`: samples in the second dimension."""
    word = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    of_library = isinstance(call.func, ast.Attribute) and bool(plan.facts.value(call.func.value).of("library"))
    first = [ast.unparse(a) for a in call.args[of_library:][: len(("0", "1"))]]
    if word == "permute":
        return first[1:] == ["0"]
    return word in ("transpose", "swapaxes") and sorted(first) == ["0", "1"]


def _is_given(plan: Reading, node: ast.expr, seen: frozenset[ast.AST] = frozenset()) -> bool:
    """`x`, or `h = self.embed(x)`, in a method that is given `x`: no mask, no `torch.ones(size, size)`."""
    match node:
        case ast.Name() if node not in seen:
            return any(_is_handed(plan, one, seen | {node}) for one in plan.bindings.of(node))
        case ast.Attribute() | ast.Subscript():
            return _is_given(plan, node.value, seen)
        case ast.Call(func=ast.Attribute(value=base)) if entry_of(node, plan.flow.imports).shape is Shape.ANEW:
            return not plan.facts.value(base).of("library") and _is_given(plan, base, seen)  # `x.view(n, 8, 2)`
        case ast.Call() if entry_of(node, plan.flow.imports).shape is not Shape.ANEW:
            return any(_is_given(plan, part, seen) for part in (node.func, *node.args))
    return False


def _is_handed(plan: Reading, one: Binding, seen: frozenset[ast.AST]) -> bool:
    if isinstance(one.target, ast.arg):
        first = plan.program.parents[one.target].args[0]  # type: ignore[attr-defined]
        return one.target is not first and "mask" not in one.target.arg
    return one.value is not None and _is_given(plan, one.value, seen)
