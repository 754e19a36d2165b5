"""What it does
    Averages the gradients over the ranks right after `backward()`, for models that DDP cannot wrap. Where a step hands
    the model to code that is not read, the ranks compare their parameters at the end of each epoch.

Why DDP needs it
    DDP averages gradients only if the loss comes from a call of the wrapped model. A loss from `model.loss(x)` bypasses
    DDP without any error message, and each rank would train a different model.

Before
    loss = model.loss(x, y)
    loss.backward()

After
    loss = model.loss(x, y)
    loss.backward()
    average_gradients(optimizer)

Declines
    Models that DDP wraps. If no variable holds the optimizer at that place, the export is refused; so it is where an
    optimizer moves what each sample of a batch has for itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set

from nbddp.analysis import Plan
from nbddp.analysis.models import synchronises
from nbddp.analysis.reading import expressions_for, held_by, may_hold_batch_norm, readable
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Extent, Loop, Obj, Value, backward_of, spread
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, after, before, wrap
from nbddp.sentence import sentence

NAME = "gradients"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    if plan.options.shard:  # what cannot be sharded is refused
        return
    yield from _compared(plan)
    yield from _of_each_sample(plan)
    for part in sorted(plan.facts.moved_apart, key=plan.program.span):
        yield plan.program.diagnose(
            NAME, "warning", part,
            sentence("each rank changes the model here by a number of its own part of the data"),
            why=sentence("the ranks then have different models"),
            help=sentence("compute the change from what is the same on all ranks, or let the optimizer make it"),
        )  # fmt: skip
    if not plan.roles.models and not plan.wrapping.loose:
        yield from _of_own_parameters(plan)
    for call in sorted(plan.facts.backward, key=plan.program.span):
        if not plan.facts.calls[call].loops and _is_of_a_share(plan, call):
            yield from _after_backward(plan, call, set(), {o for m in plan.roles.models for o in m.optimizers})
    if not plan.wrapping.averaged and not plan.wrapping.loose:
        return
    for model, reason in plan.wrapping.averaged.items():
        yield plan.program.diagnose(
            NAME, "note", model.node, sentence("DDP cannot wrap this model: %1", reason),
            why=sentence("its gradients are averaged over the ranks after backward() instead: the same result, a "
                         "little slower"),
        )  # fmt: skip
    training = {f.node for f in plan.roles.batch_loops}
    synchronised: set[ast.AST] = set()
    for call in sorted(plan.facts.backward, key=lambda c: (c.lineno, c.col_offset)):
        steps = plan.facts.calls[call].loops & training
        if steps:
            yield from _after_backward(plan, call, steps)
            yield from _batch_norm(plan, call, steps, synchronised)


def _of_each_sample(plan: Plan) -> Iterator[Diagnostic]:
    """`z = torch.zeros(len(x), 5, requires_grad=True)`, which an optimizer of its own moves in each step."""
    for optimizer in plan.roles.optimizers:
        if any(_is_of_samples(plan, node) for node in _moved_by(plan, optimizer)):
            yield plan.program.diagnose(
                NAME, "error", optimizer.node,
                sentence("this optimizer moves something that each sample of the batch has for itself"),
                why=sentence("the ranks have different samples, so that such gradients cannot be averaged, and as "
                             "they are they follow from a mean over fewer samples"),
                help=sentence("keep one tensor with a row for each sample of the data, made before the training, and "
                              "pick the rows of the batch from it"),
            )  # fmt: skip


def _moved_by(plan: Plan, optimizer: Obj) -> Iterator[ast.AST]:
    """Where its tensors are made, and what it is given."""
    yield from (o.node for o in plan.facts.fields.get((optimizer, "params"), Value()).of("parameter"))
    call = optimizer.node
    named = [k.value for k in call.keywords if k.arg == "params"] if isinstance(call, ast.Call) else []
    given = [*call.args[:1], *named] if isinstance(call, ast.Call) else []
    yield from (node for one in given for node in walk(one))


def _is_of_samples(plan: Plan, node: ast.AST) -> bool:
    """Also before each rank takes its part of it."""
    divided = {name for split in plan.assumed.splits for name in split.names}
    cut = isinstance(node, ast.Name) and node.id in divided and not plan.facts.value(node).of("list", "dict")
    return isinstance(node, ast.expr) and (cut or spread(plan.facts.value(node)) is Extent.SAMPLES)


def _is_of_a_share(plan: Plan, call: ast.Call) -> bool:
    """A step by itself, of a batch that each rank has its part of, or its model: nothing goes through DDP there."""
    loss = backward_of(call)
    by_parts = plan.assumed.joined and plan.wrapping.averaged
    return loss is not None and (plan.facts.value(loss).varies or bool(by_parts))


def _of_own_parameters(plan: Plan) -> Iterator[Edit | Diagnostic]:
    """Tensors that belong to no model: by way of the loss that they were moved by."""
    training = {f.node for f in plan.roles.batch_loops}
    for fact in plan.roles.batch_loops[:1]:
        yield plan.program.diagnose(
            NAME, "note", fact.node, sentence("what this loop trains belongs to no model"),
            why=sentence("a run starts from the values that the cells give it, not from the notebook's current ones, "
                         "and of the tensors those come back that have names of their own"),
        )  # fmt: skip
    for call in sorted(plan.facts.backward, key=plan.program.span):
        loss = backward_of(call)
        if loss is not None and plan.facts.calls[call].loops & training:
            name = loss.id if isinstance(loss, ast.Name) else plan.naming("followed_back")
            if not isinstance(loss, ast.Name):
                yield from wrap(plan.program, NAME, loss, f"({name} := ", ")")
            line = f"{plan.naming('average_gradients_of')}({name})"
            yield after(plan.program, NAME, plan.program.statement_of(call), line, ("average_gradients_of",))


def _compared(plan: Plan) -> Iterator[Edit]:
    """`checkpoint(model, x)`: whoever calls the model there may call a part of it, and so pass by DDP."""
    for fact in plan.roles.batch_loops if plan.wrapping.unproved else ():
        last = max(plan.facts.backward & {*walk(fact.node)}, key=lambda c: c.lineno, default=None)
        names = [] if last is None else list(_names_of(plan, last, plan.wrapping.unproved))
        if names:
            line = f"{plan.naming('same_on_all_ranks')}({', '.join(names)})"
            yield after(plan.program, NAME, plan.program.statement_of(fact.node), line, ("same_on_all_ranks",))


def _names_of(plan: Plan, call: ast.Call, models: Set[Obj]) -> Iterator[str]:
    """Their own variables where they can be read here, else others that stand for them."""
    visible = plan.facts.calls[call].visible
    own = {n: visible[n] for n in sorted({plan.wrapping.homes[o].name for o in models} & visible.keys())}
    here = [n for n, value in own.items() if value.of("model") & models and readable(plan, call, n)]
    reached = frozenset[Obj]().union(*(own[n].of("model") for n in here))
    yield from here
    yield from expressions_for(plan, call, visible, models - reached)


def _trains_what_ddp_wraps(plan: Plan, steps: Set[Loop]) -> bool:
    """An earlier loop may train another model, and that DDP has averaged already."""
    averaged, wrapped = plan.wrapping.averaged, plan.wrapping.homes
    called = {m.obj for m in plan.roles.models
              if any(plan.facts.calls[c].loops & steps for c in (*m.forward_calls, *m.bypasses))}  # fmt: skip
    stepping = {o for f in plan.facts.calls.values() if f.loops & steps for o in f.optimizers}
    return bool(called & wrapped.keys()) and not called & averaged.keys() and not stepping & plan.wrapping.loose


def _after_backward(
    plan: Plan, call: ast.Call, steps: Set[Loop], wanted: Set[Obj] = frozenset()
) -> Iterator[Edit | Diagnostic]:
    statement = plan.program.statement_of(call)
    names = _optimizers(plan, call, wanted)
    if not names and steps and _trains_what_ddp_wraps(plan, steps):
        return
    if not names and (_is_alike(plan, call) or _thrown_away(plan, call, frozenset())):
        return
    if not names:
        yield plan.program.diagnose(
            NAME, "error", call,
            sentence("the gradients of this step cannot be averaged over the ranks, because no variable here holds "
                     "the optimizer"),
            why=sentence("each rank would train a different model"),
            help=sentence("train the model through its forward(), or store the optimizer in a variable that this "
                          "code can read"),
        )  # fmt: skip
        return
    yield after(plan.program, NAME, statement, f"{plan.naming('average_gradients')}({', '.join(names)})",
                ("average_gradients",))  # fmt: skip
    if models := _with_statistics(plan, call):
        yield after(plan.program, NAME, statement, f"{plan.naming('broadcast_buffers')}({', '.join(models)})",
                    ("broadcast_buffers",))  # fmt: skip


def _is_alike(plan: Plan, call: ast.Call) -> bool:
    """Each rank has computed the whole loss from what all have: so it has the gradients, and no mean changes them."""
    loss, assumed = backward_of(call), plan.assumed
    together = assumed.joined or assumed.averaged or assumed.summed or assumed.scaled  # not of the gradients
    return loss is not None and not together and not plan.facts.value(loss).varies


def _thrown_away(plan: Plan, call: ast.Call, seen: frozenset[ast.AST]) -> bool:
    """`x = attack(model, x, y)`, and then `optimizer.zero_grad()`: of it only the gradient of `x` is of use."""
    function, span = plan.program.function_of(call), plan.program.span
    around = function or plan.program.cell_of(call)
    inside = (n for n in plan.facts.calls if span(n) > span(call) and isinstance(n.func, ast.Attribute))
    later = [n for n in inside if (plan.program.function_of(n) or plan.program.cell_of(n)) is around]
    ordered = (n for n in sorted(later, key=span) if getattr(n.func, "attr", "") in ("zero_grad", "backward", "step"))
    follows = next(ordered, None)
    if follows is not None or function is None or function in seen:
        return follows is not None and _clears_all(plan, follows, call)
    callers = plan.callers.get(function, ())
    return bool(callers) and all(_thrown_away(plan, c, seen | {function}) for c in callers)


def _clears_all(plan: Plan, call: ast.Call, behind: ast.Call) -> bool:
    """`optimizer.zero_grad()` of all that is averaged, whichever way it goes: not now and then."""
    models = plan.wrapping.averaged.keys()
    wanted = {o for m in plan.roles.models if m.obj in models for o in m.optimizers}
    always = {*plan.program.ancestors(behind)}.issuperset(
        a for a in plan.program.ancestors(call) if isinstance(a, ast.If | ast.For | ast.While | ast.Try)
    )
    held = plan.facts.value(call.func.value).objs if isinstance(call.func, ast.Attribute) else frozenset[Obj]()
    clears = getattr(call.func, "attr", "") == "zero_grad" and bool(held)
    return clears and always and (wanted <= held or models <= held)


def _with_statistics(plan: Plan, call: ast.Call) -> list[str]:
    """What stands for models that DDP does not wrap, and that may hold a BatchNorm."""
    wanted = _of_statistics(plan)
    return list(expressions_for(plan, call, plan.facts.calls[call].visible, wanted, _with_parts(plan)))


def _with_parts(plan: Plan) -> set[Obj]:
    """A name for the model may have stood for a part of it before: `fit(teacher)`, then `fit(student)` with it."""
    return plan.facts.with_parts({m.obj for m in plan.roles.models})


def _of_statistics(plan: Plan) -> set[Obj]:
    models = (m.obj for m in plan.roles.models if m.obj in plan.wrapping.averaged)
    return {model for model in models if may_hold_batch_norm(plan, model)}


def _batch_norm(plan: Plan, call: ast.Call, steps: Set[Loop], done: set[ast.AST]) -> Iterator[Edit | Diagnostic]:
    """Over the samples of all ranks, as where DDP wraps it; the layers stay where they are in the model."""
    if not synchronises(plan) or not _of_statistics(plan):
        return
    around = [a for a in plan.program.ancestors(call) if a in steps and isinstance(a, ast.stmt)]
    others = (s for s in steps if isinstance(s, ast.stmt) and steps.isdisjoint(plan.program.ancestors(s)))
    loops = around[:1] or sorted(others, key=plan.program.span)
    models = {loop: _named_at(plan, loop) for loop in loops if loop not in done}
    if not loops or [] in models.values():
        yield plan.program.diagnose(
            NAME, "warning", call,
            sentence("a BatchNorm of this model takes the mean and the variance of each rank's own samples"),
            why=sentence("DDP does not wrap the model, and no variable before the loop over the batches holds it"),
            help=sentence("build the model before the loop, and store it in a variable"),
        )  # fmt: skip
    for loop, names in models.items():
        for model in names:
            yield before(plan.program, NAME, loop, f"{plan.naming('sync_batchnorm')}({model})", ("sync_batchnorm",))
    done.update(loops)


def _named_at(plan: Plan, loop: ast.stmt) -> list[str]:
    """The models by their names where the loop begins."""
    names = (f.names for f in plan.roles.batch_loops if f.node is loop)
    models = _with_parts(plan)
    return [text for n in names for text in expressions_for(plan, loop, n, _of_statistics(plan), models)]


def _optimizers(plan: Plan, call: ast.Call, more: Set[Obj]) -> list[str]:
    averaged = plan.wrapping.averaged.keys()
    wanted = {o for m in plan.roles.models if m.obj in averaged for o in m.optimizers} | plan.wrapping.loose | more
    visible = plan.facts.calls[call].visible
    allowed = plan.roles.optimizers  # a function may train now a model that DDP has wrapped: their mean stays the mean
    names = expressions_for(plan, call, visible, wanted, allowed, surely=True)
    reached = {o for name in names for o in held_by(plan, call, visible, name)}
    return [*names, *_collections(plan, call, visible, wanted, wanted - reached)]


def _collections(
    plan: Plan, call: ast.Call, visible: Mapping[str, Value], wanted: set[Obj], missing: set[Obj]
) -> Iterator[str]:
    """Lists and dictionaries of optimizers that no name reaches: `*optimizers`, `*optimizers.values()`."""
    for name, value in sorted(visible.items()):
        holders = value.of("list", "dict") if readable(plan, call, name) else frozenset[Obj]()
        inner = [plan.facts.fields.get((h, "[]"), Value()).of("optimizer") for h in holders]
        held = frozenset[Obj]().union(*inner)
        if held & missing and all(i and i <= wanted for i in inner):
            yield f"*{name}.values()" if value.of("dict") else f"*{name}"
            missing = missing - held
