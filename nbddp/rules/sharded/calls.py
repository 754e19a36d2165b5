"""Calls that a sharded model cannot stand: of code that is not read, of its parts, of methods past its forward()."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.models import is_part, is_sharded_at, trained
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import CallFact
from nbddp.diagnostics import Diagnostic
from nbddp.sentence import NOTHING, sentence

NAME = "sharded"
METHODS = frozenset(
    """
    parameters named_parameters buffers named_buffers modules named_modules children named_children train eval zero_grad
    to cuda requires_grad_ state_dict load_state_dict forward items keys values register_forward_hook
    register_forward_pre_hook get_submodule
    """.split()
)
LOOKS = frozenset(
    """
    super isinstance type print hasattr getattr id len repr str callable iter list tuple dict zip enumerate reversed
    torch.utils.checkpoint.checkpoint
    """.split()
)


def refused_calls(plan: Plan) -> Iterator[Diagnostic]:
    for call in plan.facts.calls.values():
        if not call.in_forward and is_sharded_at(plan, call.node, plan.wrapping.homes):
            yield from _of_a_model(plan, call)
            yield from _given_a_model(plan, call)


def _of_a_model(plan: Plan, call: CallFact) -> Iterator[Diagnostic]:
    func, what = call.node.func, plan.program.source(call.node.func)
    if any(o.kind in ("model", "submodule") and is_part(plan, o) and o not in trained(plan) for o in call.called):
        yield plan.program.diagnose(
            NAME, "error", call.node,
            sentence("'%1(…)' calls a part of a sharded model past its forward()", what),
            help=sentence("call the whole model"),
        )  # fmt: skip
    elif any(is_part(plan, owner) and name != "forward" and _runs_layers(plan, call) for name, owner in call.methods):
        yield plan.program.diagnose(
            NAME, "error", call.node,
            sentence("'%1(…)' computes with a sharded model past its forward()", what),
            help=sentence("let forward() call it, and call the model"),
        )  # fmt: skip
    elif isinstance(func, ast.Attribute) and not call.methods and not call.called and func.attr not in METHODS:
        if any(o.kind in ("model", "submodule") and is_part(plan, o) for o in plan.facts.value(func.value).objs):
            message = sentence("'%1(…)' is not known to work on a sharded model", what)
            yield plan.program.diagnose(NAME, "error", call.node, message)


def _runs_layers(plan: Plan, call: CallFact) -> bool:
    """By itself; not by calling the model: `return self(x).argmax(1)`."""
    seen: set[ast.AST] = set()
    todo = [*call.bodies]
    while todo:
        body = todo.pop()
        seen.add(body)
        for inner in (plan.facts.calls[n] for n in walk(body) if isinstance(n, ast.Call) and n in plan.facts.calls):
            if any(is_part(plan, o) and o not in trained(plan) for o in inner.called):
                return True
            todo += inner.bodies - seen if not inner.called & trained(plan) else ()
    return False


def _given_a_model(plan: Plan, call: CallFact) -> Iterator[Diagnostic]:
    """Code that is not read, or that copies or saves the model itself."""
    if call.bodies or call.made or call.called or call.receivers or call.names & LOOKS:
        return
    copies = bool(call.names & {"copy.deepcopy", "copy.copy", "torch.save", "pickle.dump"})
    makes = ("optimizer", "list", "dict", *(() if copies else ("model",)))
    if plan.facts.value(call.node).of(*makes) and not call.names & {"torch.compile", "torch.jit.script"}:
        return
    given = [o for v in call.args.values() for o in v.of("model", "submodule")]
    if any(is_part(plan, o) for o in given):
        yield plan.program.diagnose(
            NAME, "error", call.node,
            sentence("'%1(…)' cannot be given a sharded model", plan.program.source(call.node.func)),
            help=sentence("copy or save its state_dict() instead") if copies else NOTHING,
        )  # fmt: skip
