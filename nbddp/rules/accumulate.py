"""What it does
    Where gradients are accumulated over several batches, lets DDP average them only in the last of these batches.

Why DDP needs it
    DDP averages in every `backward()`, but only the average before the optimizer's step is needed: the others would
    cost network time for nothing.

Before
    for i, (x, y) in enumerate(train_loader):
        loss = F.mse_loss(model(x), y) / 4
        loss.backward()
        if (i + 1) % 4 == 0:

After
    for i, (x, y) in enumerate(train_loader):
        ddp_model.require_backward_grad_sync = (i + 1) % 4 == 0
        loss = F.mse_loss(ddp_model(x), y) / 4
        loss.backward()
        if (i + 1) % 4 == 0:

Declines
    Loops where it is not certain that gradients are used only under this condition, and that the condition is known
    before the batch is computed; models that may hold a BatchNorm, whose buffers DDP also sends. Gradients are then
    averaged for every batch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.reading import expressions_for, held_by, may_hold_batch_norm
from nbddp.analysis.slicing import effects
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import CallFact, LoopFact
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, first_in

NAME = "accumulate"
KNOWN_BEFORE = (ast.Name, ast.Constant, ast.BinOp, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Call,
                ast.operator, ast.cmpop, ast.boolop, ast.unaryop, ast.expr_context)  # fmt: skip
READS_GRADIENTS = ("step", "unscale_", "zero_grad")
ABOUT_TAPES = ("no_grad", "enable_grad", "set_grad_enabled", "requires_grad_")  # and not about what is in `.grad`


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    for fact in plan.roles.batch_loops:
        loop = fact.node
        if not isinstance(loop, ast.For):
            continue
        gate, names = _gate(plan, fact, loop), _models(plan, fact)
        if gate is not None and names and _all_inside(plan, fact, gate) and _known_before(plan, loop, gate):
            condition = plan.program.source(gate.test)
            for name in names:
                line = f"{_ddp(plan, fact, name)}.require_backward_grad_sync = {condition}"
                if plan.options.shard:
                    line = f"{name}.set_requires_gradient_sync({condition})"
                yield first_in(plan.program, NAME, loop, line)


def _gate(plan: Plan, fact: LoopFact, loop: ast.For) -> ast.If | None:
    """The one `if` of the loop's body under which the optimizers step."""
    steps = [c.node for c in plan.facts.calls.values() if c.optimizers]
    gates = [s for s in loop.body if isinstance(s, ast.If) and not s.orelse and any(n in steps for n in walk(s))]
    if len(gates) != 1 or "\n" in plan.program.source(gates[0].test):
        return None
    inside = set(walk(gates[0]))
    return gates[0] if all(step in inside for step in steps) else None


def _models(plan: Plan, fact: LoopFact) -> list[str]:
    """How the loop calls the models that it trains; nothing where one of them is trained elsewhere, too."""
    models = plan.roles.models
    calls = [plan.facts.calls[call] for m in models for call in (*m.forward_calls, *m.bypasses)]
    backward = [plan.facts.calls[call] for call in plan.facts.backward]
    if plan.wrapping.averaged or not all(fact.node in call.loops for call in (*calls, *backward)):
        return []
    if any(may_hold_batch_norm(plan, model.obj) for model in models):
        return []
    wanted = {model.obj for model in models}
    names = expressions_for(plan, fact.node.target if isinstance(fact.node, ast.For) else fact.node, fact.names, wanted)
    return names if len(names) == len(wanted) else []


def _ddp(plan: Plan, fact: LoopFact, name: str) -> str:
    """What DDP is called where the loop calls the model by this name: `ddp_model`, or `model`, handed on."""
    models = held_by(plan, fact.node, fact.names, name)
    places = {p: t for o in models & plan.wrapping.names.keys() for p, t in plan.wrapping.names[o].places.items()}
    here = (t for p, t in places.items() if any(a is fact.node for a in plan.program.ancestors(p)))
    return next(here, name)


def _all_inside(plan: Plan, fact: LoopFact, gate: ast.If) -> bool:
    """Are gradients read and cleared under the condition alone, and computed without one?"""
    inside = set(walk(gate))
    (backward, *more) = [plan.facts.calls[call] for call in plan.facts.backward]
    if more or plan.program.statement_of(backward.node) not in _straight(fact.node):
        return False
    around = [n for n in plan.nodes() if n not in inside]
    reads = [n for n in around if isinstance(n, ast.Attribute) and n.attr == "grad"]
    return not reads and not any(_reads(plan, fact, c) for c in plan.facts.calls.values() if c.node not in inside)


def _straight(loop: ast.AST) -> list[ast.stmt]:
    """The statements that each turn of the loop comes to, those in a `with` included."""
    found: list[ast.stmt] = []
    for statement in getattr(loop, "body", []):
        found += [statement, *(_straight(statement) if isinstance(statement, ast.With) else [])]
    return found


def _reads(plan: Plan, fact: LoopFact, call: CallFact) -> bool:
    """Does this call, in the loop or behind it, use or clear gradients? Before the first batch there are none."""
    func = call.node.func
    written = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    clears = written == "zero_grad" and fact.node not in call.loops
    if clears or call.receivers & plan.roles.schedulers:
        return False
    names = {written, *(name.rpartition(".")[2] for name in call.names)}
    return any(n in READS_GRADIENTS or ("grad" in n and n not in ABOUT_TAPES) for n in names)


def _known_before(plan: Plan, loop: ast.For, gate: ast.If) -> bool:
    """Is the condition made of the loop's own variables and of names that the loop leaves alone?"""
    own = {n.id for n in walk(loop.target) if isinstance(n, ast.Name)}
    counted = (
        isinstance(loop.iter, ast.Call) and isinstance(loop.iter.func, ast.Name) and loop.iter.func.id == "enumerate"
    )
    number = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) and counted else None
    parts = list(walk(gate.test))
    calls = [p for p in parts if isinstance(p, ast.Call)]
    if not all(isinstance(p, KNOWN_BEFORE) for p in parts) or any(ast.unparse(c.func) != "len" for c in calls):
        return False
    allowed = {number.id} if isinstance(number, ast.Name) else set()
    changed = effects(loop.body, plan.flow.imports).may_bind
    names = {p.id for p in parts if isinstance(p, ast.Name)}
    return not names & (changed | (own - allowed)) and bool(names & allowed)
