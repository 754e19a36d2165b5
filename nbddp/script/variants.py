"""Which of its variants a part is copied in: a shorter one, where what the notebook does needs no more."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from nbddp.analysis.edit import Edit
from nbddp.analysis.loader_calls import loader_call
from nbddp.analysis.outlets import outlets
from nbddp.analysis.plan import Plan
from nbddp.script.names_of_torch import has_names_of_torch

# What the short DDP passes on as the model would, or what DDP and the model do alike.
PLAIN = frozenset(
    """
    parameters train eval state_dict load_state_dict to cuda cpu zero_grad training double float half requires_grad_
    """.split()
)


def requests(plan: Plan, edits: Sequence[Edit], wanted: Iterable[str]) -> list[str]:
    """The names of parts, with the variant to copy."""
    names = {name.partition("__")[0] for name in wanted}
    found = []
    for name in sorted(names):
        if name in ("sum_over_ranks", "mean_over_ranks") and _only_numbers(plan, edits):
            found.append(f"{name}:number")
        elif name == "share_of" and _only_in_order(plan):
            found.append("share_of:in_order")
        elif name == "DDP" and _needs_little(plan):
            found += ["DDP:plain.state_dict", "DDP:plain.load_state_dict"]
        elif name == "DDP":
            found += ["DDP", "DDP.__len__", "DDP.__getitem__", "DDP.__iter__"]  # of a Sequential, say
            found += ["DDP.__dir__", "DDP.__getattribute__"] if has_names_of_torch(plan) else []
        else:
            found.append(name)
    return found


def _only_numbers(plan: Plan, edits: Sequence[Edit]) -> bool:
    """Are all that is reduced Python numbers?"""
    others = {"sum_over_ranks", "mean_over_ranks", "sum_over_shares"}
    if any(e.rule != "reduce" and others & set(e.uses) for e in edits):
        return False
    reductions = [r for r in plan.facts.reductions.values() if r.how in ("sum", "mean")]
    put_in = [plan.facts.value(n) for parts in plan.facts.at_source.values() for n, part in parts if part in others]
    shown = [plan.facts.value(o.node) for o in outlets(plan)]
    return all(r.number and not r.in_place for r in reductions) and all(v.number for v in (*put_in, *shown))


def _only_in_order(plan: Plan) -> bool:
    """Do all evaluation loaders draw their batches in the order of the data, and none a share?"""
    for fact in plan.roles.evaluation_loops:
        for obj in fact.loaders:
            call = loader_call(plan, obj)
            if call is None or not call.plain or obj in plan.facts.classes or len(call.node.args) > 2:
                return False
            if any(call.gives(a) for a in ("sampler", "batch_sampler")) or call.constant("shuffle") not in (
                None,
                False,
            ):
                return False
            if ("shuffle" in call.arguments and call.constant("shuffle") is None) or _shares_its_place(plan, obj.node):
                return False
    return True


def _shares_its_place(plan: Plan, node: ast.AST) -> bool:
    return any(o.node is node for o in plan.sharding.loaders)


def _needs_little(plan: Plan) -> bool:
    """Is each model that DDP wraps only called, moved, switched, stepped and saved by its state?"""
    wrapped = plan.wrapping.homes.keys()
    if has_names_of_torch(plan):
        return False
    for node, value in plan.facts.values.items():
        if not isinstance(node, ast.Name | ast.Attribute) or not value.objs & wrapped:
            continue
        if node in plan.program.parents and not _in_class(plan, node) and not _used_plainly(plan, node):
            return False
    return True


def _in_class(plan: Plan, node: ast.AST) -> bool:
    """In its own methods a model is itself, not its wrapper."""
    return any(isinstance(a, ast.ClassDef) for a in plan.program.ancestors(node))


def _used_plainly(plan: Plan, node: ast.expr) -> bool:
    parent = plan.program.parents[node]
    if isinstance(getattr(node, "ctx", None), ast.Store):
        return True
    match parent:
        case ast.Call(func=func) if func is node:
            return True
        case ast.Attribute(attr=attr, ctx=ast.Load()):
            return attr in PLAIN
        case ast.Call() | ast.keyword():
            call = parent if isinstance(parent, ast.Call) else plan.program.parents[parent]
            fact = plan.facts.calls.get(call) if isinstance(call, ast.Call) else None
            own = {o.kind for o in (fact.called | fact.made)} if fact else set()
            return bool(own) and own <= {"function"}
        case ast.Return() | ast.Assign():
            return True
    return False
