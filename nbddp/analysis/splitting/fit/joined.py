"""Models that split the batches that they are given, where no step can: does each give something for every sample?"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from nbddp.analysis.library import Samples, effect_of, entry_of
from nbddp.analysis.reading import Reading, scope_of
from nbddp.analysis.slicing import Function
from nbddp.analysis.splitting.dimension import is_layer, swaps_the_first, time_first, without_part
from nbddp.analysis.splitting.fit.sizes import own_size, shortened, whole_sizes
from nbddp.analysis.splitting.fit.unfit import unfit_in_models
from nbddp.analysis.splitting.origins import classes_of, holds_tensors, is_sample, strung
from nbddp.analysis.splitting.regions import run_by
from nbddp.analysis.splitting.roots import base_of
from nbddp.analysis.syntax import keywords_of, qualified, walk
from nbddp.analysis.values import (
    FLAT,
    ITEMS,
    MARKS,
    PLACED,
    RATED,
    STATES,
    TURNED,
    WEIGHTED,
    Extent,
    Obj,
    Value,
    backward_of,
    contents,
    spread,
)

OF_PARAMETERS = ("params", "parameter", "model", "submodule")


def unjoined(plan: Reading) -> bool:
    """What all ranks would have is not what one process has; or each would compute all of it."""
    if time_first(plan) is not None or any(own_size(plan, call) is None for call in whole_sizes(plan)):
        return True
    if shortened(plan):
        return True  # inside of a model, by its part
    assumed = plan.assumed
    if assumed.averaged | assumed.scaled or assumed.summed or any(_gradients_taken(plan)):
        return True  # inside of a model; gradients of a part
    state = without_part(plan)
    if state is not None and any(_is_sized(v) for v in contents(plan.facts, plan.facts.value(state), ITEMS)):
        return True  # made inside of a model, with the size of the whole batch
    calls, behind = joined_calls(plan), strung(plan)
    if any(isinstance(n, ast.Name) and n.id in behind for call in calls for n in walk(call)):
        return True
    if any(_is_packed(plan, given) or is_sample(plan, given) for call in calls for given in call.args):
        return True
    if any(is_an_object(plan, given) for call in calls for given in call.args):
        return True
    if any(_counts_samples(o) for call in calls for v in plan.facts.calls[call].args.values() for o in v.of("list")):
        return True
    if next(_left_in_models(plan, calls), None) is not None or _halves(plan, calls):
        return True
    return unfit_in_models(plan) or not calls or not all(_gives_samples(plan, call) for call in calls)


def _halves(plan: Reading, calls: Collection[ast.Call]) -> bool:
    """`x[: len(x) // 2]` in a layer: of two batches that were joined before, of which a part has others in its half."""
    run = {n for call in calls for body in plan.facts.calls[call].bodies for n in run_by(plan, body)}
    for node in run:
        match node:
            case ast.Subscript(value=of, slice=ast.Slice(lower=lower, upper=upper)):
                value, ends = plan.facts.value(of), [plan.facts.value(end) for end in (lower, upper) if end is not None]
                of_samples = spread(value) in (Extent.SAMPLES, Extent.VARYING) and not value.of(TURNED)
                if of_samples and any(end.varies for end in ends) and not _is_joined_in(plan, of, run):
                    return True
    return False


def _is_joined_in(plan: Reading, node: ast.expr, run: set[ast.AST]) -> bool:
    made = (n for n in plan.bindings.made_of(node) if isinstance(n, ast.Call))
    joins = [n for n in made if entry_of(n, plan.flow.imports).samples is Samples.JOINS]
    return bool(joins) and run.issuperset(joins)


def _left_in_models(plan: Reading, calls: Collection[ast.Call]) -> Iterator[ast.expr]:
    """`model.hidden`, or what a hook has kept: of a part, besides what the model gives; where a step reads it."""
    seen = {body for call in calls for body in plan.facts.calls[call].bodies}  # where parts are
    inside = {n for loop in plan.dealt for n in walk(loop)}
    evaluated = {n for one in (*plan.dealt, *seen) for n in run_by(plan, one)}
    waiting = list[ast.AST](fact.node for fact in plan.roles.batch_loops)
    while waiting:
        for node in walk(waiting.pop()):
            fact = plan.facts.calls.get(node) if isinstance(node, ast.Call) and node not in calls else None
            new = (fact.bodies if fact is not None else set()) - seen
            seen |= new
            waiting += new
            if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and plan.facts.value(node).varies:
                if node not in evaluated or (node not in inside and _is_kept(plan, node)):
                    yield node
    losses = (backward_of(call) for call in plan.facts.backward)
    yield from (loss for loss in losses if loss is not None and plan.facts.value(loss).varies)


def _is_kept(plan: Reading, read: ast.expr) -> bool:
    """A field of a model, or a name from around the function, which others may call with something else."""
    if isinstance(read, ast.Attribute):
        return bool(plan.facts.value(read.value).of("model"))
    base = base_of(read)
    scope = scope_of(plan.program, base, base.id) if isinstance(base, ast.Name) else None
    return scope is None or (isinstance(scope, Function) and scope is not plan.program.function_of(read))


def _is_packed(plan: Reading, given: ast.expr) -> bool:
    """`pack_padded_sequence(x, lengths)`: whatever it is called by, and by way of names."""
    made = (plan.facts.calls.get(m) for m in plan.bindings.made_by(given) if isinstance(m, ast.Call))
    return any(effect_of(name).packs for fact in made if fact is not None for name in fact.names)


def is_an_object(plan: Reading, given: ast.expr) -> bool:
    """A batch of a class of the notebook's, `collate_fn=Batch`: it shows nobody which of what it holds are samples."""
    return any(not c.bases and not holds_tensors(c) for c in classes_of(plan, given))


def _is_sized(state: Value) -> bool:
    """By a number that is written out, behind the layers."""
    return isinstance(state.shape, tuple) and len(state.shape) > 1 and isinstance(state.shape[1], int)


def joined_calls(plan: Reading) -> list[ast.Call]:
    """Of models that are trained, or are inside of one, where they train."""
    trained = {model.obj for model in plan.roles.models}
    found = (f for f in plan.facts.calls.values() if f.joined)
    calls = (f.node for f in found if any(trained & {o, *plan.facts.roots(o)} for o in f.called))
    return sorted(calls, key=plan.program.span)


def to_open(plan: Reading) -> frozenset[Obj]:
    """Models that give something else than one thing for each sample: those inside of them may do that.

    A layer inside of one that is open may do so as well: it is computed whole.
    """
    calls, trained = joined_calls(plan), {m.obj for m in plan.roles.models}
    failing = [c for c in calls if not _gives_samples(plan, c)] or calls
    models = {o for c in failing for o in plan.facts.calls[c].called} or trained
    layers = models - trained if plan.assumed.opened and len(failing) < len(calls) else frozenset[Obj]()
    return frozenset(models & plan.facts.classes.keys() | layers) - plan.assumed.opened


def _counts_samples(things: Obj) -> bool:
    """`model([image.to(device) for image in images])`, and not `model([users, items])`: what of it is a part?"""
    return not isinstance(things.node, ast.List)


def _gives_samples(plan: Reading, call: ast.Call) -> bool:
    """Also a mean over them."""
    given = [*_made(plan, call)]
    placed = any(o.name != STATES for v in given for o in v.of(TURNED, FLAT))  # states are counted where they are
    placed = placed or any(v.of(RATED, WEIGHTED, PLACED) for v in given)  # `h / len(h)`: by the size of a part
    if placed or _gives_a_distribution(plan, call) or any(_goes_along(plan, o) for o in plan.facts.calls[call].called):
        return False
    return bool(given) and all(spread(v) in (Extent.SAMPLES, Extent.MEAN) for v in given)


def _goes_along(plan: Reading, layer: Obj) -> bool:
    """`nn.LSTM(2, 6)` in a model, or a class with one: what it is given has time first, of which there are no parts."""
    owner = plan.facts.classes.get(layer)
    made = [layer.node] if owner is None else [n for n in walk(owner) if isinstance(n, ast.Call)]
    if owner is not None and any(isinstance(n, ast.Call) and swaps_the_first(plan, n) for n in walk(owner)):
        return False  # it is given samples, and puts time before them itself
    return any(isinstance(call, ast.Call) and _is_time_first(plan, call) for call in made)


def _is_time_first(plan: Reading, made: ast.Call) -> bool:
    first = keywords_of(made).get("batch_first")
    name = qualified(made.func, plan.flow.imports) or ""
    return is_layer(name) and (first is None or plan.facts.value(first).const is not True)


def _gives_a_distribution(plan: Reading, node: ast.expr) -> bool:
    """`return Normal(mean, deviation)`: it shows nobody which samples it holds."""
    for made in plan.bindings.made_by(node):
        parts = made.elts if isinstance(made, ast.Tuple | ast.List) else []
        name = qualified(made.func, plan.flow.imports) if isinstance(made, ast.Call) else None
        if (name or "").startswith("torch.distributions.") or any(_gives_a_distribution(plan, p) for p in parts):
            return True
    return False


def joins_means(plan: Reading) -> bool:
    return any(spread(v) is Extent.MEAN for call in joined_calls(plan) for v in _made(plan, call))


def _made(plan: Reading, call: ast.Call) -> Iterator[Value]:
    """Tensors that a model gives, also in what it gives them in."""
    waiting, opened = [plan.facts.calls[call].joined[""]], set[Obj]()
    while waiting:
        value = waiting.pop()
        things = value.objs - value.of(*MARKS)
        for thing in things - opened:
            held = plan.facts.fields.of(thing)
            waiting += [v for key, v in held if key != "[]"] or [v for _, v in held]  # which is all of them together
        opened |= things
        waiting += value.items or ()
        if value.items is None and value.const is None and not things:
            yield value


def _gradients_taken(plan: Reading) -> Iterator[ast.Call]:
    """`torch.autograd.grad(loss, model.parameters())`: those of all samples are there behind DDP only."""
    for fact in plan.calls("torch.autograd.grad"):
        of = fact.args.get(1) or fact.args.get("inputs")
        if of is None or any(v.of(*OF_PARAMETERS) for v in contents(plan.facts, of, ITEMS)):
            yield fact.node
