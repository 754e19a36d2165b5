"""What it does
    Gives all ranks the running statistics of rank 0 when a pass over the training data is done. Lays a buffer that a
    model registers as a transposed or an expanded view of another tensor out anew.

Why DDP needs it
    BatchNorm counts what a rank sees of its part of the data, and the unwrapped model, which is evaluated, has the
    counts of its own rank since the last step: the ranks would evaluate, and decide by, different models.
    DDP copies rank 0's buffers into those of the others before each forward, and cannot write into such a view.

Before
    for x, y in train_loader:
        ...
    model.eval()

After
    for x, y in train_loader:
        ...
    for buffer in model.buffers():
        dist.broadcast(buffer, 0)  # BatchNorm's statistics, as rank 0 has counted them
    model.eval()

Declines
    Models without such buffers, and those that only the training calls: rank 0 saves what it has.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from textwrap import indent

from nbddp.analysis import Plan
from nbddp.analysis.library import Shape, effect_of
from nbddp.analysis.models import holds_statistics
from nbddp.analysis.reading import expressions_for, untrained_with_statistics
from nbddp.analysis.slicing import defaults, inside
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import LoopFact, Obj, Value
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, after, before, wrap

NAME = "buffers"
ABOUT = "  # BatchNorm's statistics, as rank 0 has counted them"
LOOPS = (ast.For, ast.AsyncFor, ast.While)


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    yield from _views(plan)
    steps = {f.node for f in plan.roles.batch_loops}
    evaluated = _evaluated(plan)
    for fact in plan.roles.batch_loops:
        if isinstance(fact.node, LOOPS) and not fact.parents & steps:
            for line in _lines(plan, fact.node, fact.names, evaluated & _trained(plan, fact)):
                yield after(plan.program, NAME, fact.node, line, ("dist",))
                for leaving in (n for n in inside(fact.node.body) if isinstance(n, ast.Return)):
                    yield before(plan.program, NAME, leaving, line, ("dist",))
    for fact in plan.roles.evaluation_loops:  # every hundred steps
        if isinstance(fact.node, LOOPS) and fact.parents & steps:
            called = {o for c in plan.facts.calls.values() if fact.node in c.loops for o in c.called}
            for line in _lines(plan, fact.node, fact.names, evaluated & called):
                yield before(plan.program, NAME, fact.node, line, ("dist",))


def _views(plan: Plan) -> Iterator[Edit]:
    """`self.register_buffer("pe", pe.unsqueeze(0).transpose(0, 1))`, as many write that count positions."""
    if not plan.wrapping.homes:
        return
    for call in (n for n in plan.nodes() if isinstance(n, ast.Call)):
        match call:
            case ast.Call(func=ast.Attribute(attr="register_buffer"), args=[_, value, *_]) if _is_view(plan, value):
                copied = f".clone(memory_format={plan.naming('torch')}.contiguous_format)"
                yield from wrap(plan.program, NAME, value, "", copied, ("torch",))


def _is_view(plan: Plan, value: ast.expr) -> bool:
    """By a method that turns or repeats its dimensions, here or where the name was bound in the same function."""
    made: list[ast.AST] = [value]
    function = plan.program.function_of(value)
    if isinstance(value, ast.Name) and function is not None:
        made = [s.value for s in inside(function.body) if isinstance(s, ast.Assign) and value.id in _targets(s)]
    parts = (n for m in made for n in walk(m) if isinstance(n, ast.Attribute))
    return any(n.attr in ("expand", "expand_as") or effect_of(f".{n.attr}").shape is Shape.TURNED for n in parts)


def _targets(statement: ast.Assign) -> set[str]:
    return {t.id for t in statement.targets if isinstance(t, ast.Name)}


def _evaluated(plan: Plan) -> set[Obj]:
    """Models that DDP trains, and that are called by more than the training; those that follow another."""
    held = {m for m in plan.roles.models if m.obj in plan.wrapping.homes and holds_statistics(plan, m.obj)}
    calls = [c for c in plan.facts.calls.values() if not c.in_forward]
    return {m.obj for m in held if any(m.obj in c.called and (c.no_grad or c.node not in m.forward_calls)
                                       for c in calls) or _in_evaluation(plan, m.forward_calls)} | {
        o for o in untrained_with_statistics(plan) if len([c for c in calls if o in c.called]) > 1}  # fmt: skip


def _in_evaluation(plan: Plan, calls: tuple[ast.Call, ...]) -> bool:
    """Without torch.no_grad(), as some are."""
    evaluation = {f.node for f in plan.roles.evaluation_loops}
    return any(plan.facts.calls[c].loops & evaluation for c in calls)


def _trained(plan: Plan, fact: LoopFact) -> set[Obj]:
    trained = {m.obj for m in plan.roles.models if any(fact.node in plan.facts.calls[c].loops for c in m.forward_calls)}
    called = {o for c in plan.facts.calls.values() if fact.node in c.loops for o in c.called}
    return trained | (called & untrained_with_statistics(plan))


def _lines(plan: Plan, node: ast.AST, names: Mapping[str, Value], models: set[Obj]) -> Iterator[str]:
    known = {m.obj for m in plan.roles.models} | untrained_with_statistics(plan)
    buffer = plan.naming("buffer")
    for text in expressions_for(plan, node, names, models, known):
        line = f"for {buffer} in {text}.buffers():\n    {plan.naming('dist')}.broadcast({buffer}, 0){ABOUT}"
        yield f"if {text} is not None:\n{indent(line, '    ')}" if _may_be_missing(plan, node, text) else line


def _may_be_missing(plan: Plan, node: ast.AST, name: str) -> bool:
    """`def train(model, teacher=None)`."""
    function = plan.program.function_of(node)
    if not isinstance(function, ast.FunctionDef):
        return False
    given = defaults(function.args)
    return any(a.arg == name and isinstance(d, ast.Constant) and d.value is None for a, d in given)
