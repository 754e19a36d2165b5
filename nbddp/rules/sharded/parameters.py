"""Parameters of a sharded model that are read or written outside of its forward(), where a rank has a part of each."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.library import entry_of
from nbddp.analysis.models import is_part, is_sharded_at
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Obj
from nbddp.diagnostics import Diagnostic
from nbddp.rules.sharded.calls import NAME
from nbddp.sentence import sentence

TAKES = frozenset(
    """
    list tuple filter iter next len dict enumerate zip reversed sorted id isinstance type any all
    itertools.chain itertools.chain.from_iterable torch.nn.utils.clip_grad_norm_ torch.nn.utils.clip_grad_value_
    torch.nn.utils.clip_grad_norm torch.nn.utils.get_total_norm torch.nn.utils.clip_grads_with_norm_
    """.split()
)
Loop = ast.For | ast.AsyncFor | ast.comprehension


def read_parameters(plan: Plan) -> Iterator[Diagnostic]:
    """Each where it is first read; what is computed from it is known by it."""
    named, known = set(_named(plan)), set[object]()
    for node in sorted((n for n in plan.nodes() if isinstance(n, ast.expr)), key=plan.program.span):
        one = _first(plan, node) | _held(plan, node, "parameter") | ({node.id} if node in named else set())
        things = one | _held(plan, node, "params")
        if not things - known or _is_harmless(plan, node, bool(one)) or _within_forward(plan, node):
            continue
        if is_sharded_at(plan, node, plan.wrapping.homes):
            known |= things
            yield plan.program.diagnose(
                NAME, "error", node,
                sentence("'%1' is read or changed where each rank has only a part of it", plan.program.source(node)),
                help=sentence("weight_decay is a penalty on the parameters; model.state_dict() has them whole"),
            )  # fmt: skip
    yield from _replaced(plan)


def _held(plan: Plan, node: ast.expr, kind: str) -> set[object]:
    return {o for o in plan.facts.value(node).of(kind) if _is_sharded(plan, o)}


def _first(plan: Plan, node: ast.expr) -> set[object]:
    """`next(model.parameters())`, `list(model.parameters())[0]`."""
    match node:
        case ast.Call(func=ast.Name(id="next"), args=[inner]) | ast.Subscript(value=inner, slice=ast.Constant()):
            return _held(plan, inner, "params")
    return set()


def _is_sharded(plan: Plan, obj: Obj) -> bool:
    call = obj.node
    buffers = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and "buffers" in call.func.attr
    return obj.owner is not None and not buffers and is_part(plan, obj.owner)


def _named(plan: Plan) -> Iterator[ast.Name]:
    """`p` of `for name, p in model.named_parameters()`."""
    for loop in (n for n in plan.nodes() if isinstance(n, Loop)):
        sources = [o for n in walk(loop.iter) for o in plan.facts.value(n).of("params")]
        if any(o.name == "named_parameters" and _is_sharded(plan, o) for o in sources):
            names = set(_lasts(loop.target))
            inside = plan.program.parents[loop] if isinstance(loop, ast.comprehension) else loop
            yield from (n for n in walk(inside) if isinstance(n, ast.Name) and n.id in names)


def _lasts(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Tuple):
        inner = [e for e in target.elts if isinstance(e, ast.Tuple)]
        for part in inner or target.elts[-1:]:
            yield from _lasts(part)
    elif isinstance(target, ast.Name):
        yield target.id


def _is_harmless(plan: Plan, node: ast.expr, one: bool) -> bool:
    """Handed on, or asked for what is the same of a part; `one`, or several of them."""
    parent = plan.program.parents[node]
    if isinstance(getattr(node, "ctx", None), ast.Store):
        return not isinstance(parent, ast.AugAssign) or not one
    match parent:
        case ast.Attribute(attr=attr):
            return bool(entry_of(parent).about) or attr == "requires_grad_" or not one  # the same of a part
        case ast.keyword():
            return _takes(plan, plan.program.parents[parent], node)
        case ast.Call():
            return _takes(plan, parent, node)
        case ast.Compare(ops=[ast.Is() | ast.IsNot() | ast.In() | ast.NotIn()]):
            return True
        case ast.BinOp() | ast.AugAssign() | ast.Subscript():
            return not one
        case ast.UnaryOp() | ast.Compare() | ast.FormattedValue():
            return False
    return True


def _takes(plan: Plan, call: ast.AST, node: ast.expr) -> bool:
    fact = plan.facts.calls.get(call) if isinstance(call, ast.Call) else None
    if fact is None or node is fact.node.func:
        return fact is not None
    made = plan.facts.value(fact.node).of("optimizer", "list")
    holder = any(o.kind in ("list", "dict", "optimizer") for o in fact.receivers)
    return bool(made or fact.bodies or fact.made or fact.optimizers or holder or fact.names & TAKES)


def _within_forward(plan: Plan, node: ast.AST) -> bool:
    """In a method that only a forward(), or the making of the model, comes to."""
    function = plan.program.function_of(node)
    calls = [plan.facts.calls[c] for c in plan.callers.get(function, [])] if function is not None else []
    return bool(calls) and all(
        c.made or any(o.kind == "model" for o in c.called) or (c.in_forward and _within_forward(plan, c.node))
        for c in calls
    )


def _replaced(plan: Plan) -> Iterator[Diagnostic]:
    """`model.head = nn.Linear(8, 2)`: parameters that no rank would share with the others."""
    for node in plan.nodes():
        if isinstance(node, ast.Assign) and plan.facts.value(node.value).of("model", "parameter"):
            for target in (t for t in node.targets if isinstance(t, ast.Attribute)):
                owners = plan.facts.value(target.value).of("model", "submodule")
                if not any(is_part(plan, o) for o in owners) or _within_forward(plan, node):
                    continue
                if is_sharded_at(plan, node, plan.wrapping.homes):
                    yield plan.program.diagnose(
                        NAME, "error", node,
                        sentence("'%1' is replaced when the model is sharded already", plan.program.source(target)),
                        help=sentence("complete the model before its optimizer is built"),
                    )  # fmt: skip
