"""Which models DDP can take over, and which have their gradients averaged by hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nbddp.analysis.models.buffers import kept_of_shares
from nbddp.analysis.models.changed_later import changed_later
from nbddp.analysis.models.ddp_names import Names, find_names, may_train_unread
from nbddp.analysis.models.repeated_backward import several_backwards
from nbddp.analysis.models.unfreezing import moved_later, thaws_later
from nbddp.analysis.models.unused import gives_weights, unused_parameters
from nbddp.analysis.models.wrap_points import Home, find_home
from nbddp.analysis.reading import Model, Reading, may_hold_batch_norm
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Obj, Value, backward_of
from nbddp.sentence import NOTHING, Sentence, sentence

PARAMETERS = ("parameters", "named_parameters", "state_dict")
AS_IT_IS = Names("", {}, frozenset(), evaluates=False)


@dataclass(frozen=True, eq=False)
class Wrapping:
    homes: Mapping[Obj, Home]
    averaged: Mapping[Obj, Sentence]  # models that DDP cannot take over, and why
    loose: frozenset[Obj] = frozenset()  # optimizers that also move parameters of no module
    names: Mapping[Obj, Names] = field(default_factory=dict)  # of models that keep their variable beside DDP's
    unproved: frozenset[Obj] = frozenset()  # models whose gradients may go past DDP, in code that nobody reads

    @property
    def stands_for(self) -> frozenset[Obj]:
        """Models whose variable holds DDP, which has to pass for them."""
        return frozenset(self.homes.keys() - self.names.keys())

    @property
    def evaluates(self) -> bool:
        """Is DDP called without gradients too?"""
        return any(n.evaluates for n in self.names.values())


def find_wrapping(plan: Reading) -> Wrapping:
    homes: dict[Obj, Home] = {}
    averaged: dict[Obj, Sentence] = {}
    loose = frozenset(o for o in plan.roles.optimizers if plan.facts.fields.get((o, "params"), Value()).of("parameter"))
    for model in plan.roles.models:
        reason = _unfit(plan, model)
        if not reason and model.optimizers & loose:
            reason = sentence("its optimizer also updates parameters that belong to no module")
        home = None if reason else find_home(plan, model.obj)
        if home is not None and not plan.options.shard and (reason := changed_later(plan, model.obj, home)):
            home = None
        if home is None:
            averaged[model.obj] = reason or sentence("no single variable holds it before the training")
        else:
            homes[model.obj] = home
    if averaged and any(
        m.optimizers & n.optimizers for m in plan.roles.models for n in plan.roles.models if m is not n
    ):
        # one optimizer for both kinds: average all, or DDP's gradients would be averaged twice for nothing
        beside = sentence("it shares an optimizer with a model that DDP cannot wrap")
        return Wrapping({}, averaged | dict.fromkeys(homes, beside), loose)
    if plan.options.shard:  # which leaves the variable what it is, and whoever calls it
        return Wrapping(homes, averaged, loose, dict.fromkeys(homes, AS_IT_IS))
    unproved = frozenset(o for o in homes if may_train_unread(plan, o))
    return Wrapping(homes, averaged, loose, find_names(plan, homes, unproved), unproved)


def _unfit(plan: Reading, model: Model) -> Sentence:
    if model.bypasses:
        steps = {f.node for f in plan.roles.batch_loops}  # an evaluation that follows gradients trains nothing
        inside = [c for c in model.bypasses if plan.facts.calls[c].loops & steps]
        call = plan.program.source((inside or model.bypasses)[0].func)
        return sentence("it is trained through '%1(…)' instead of its forward()", call)
    if not model.forward_calls:
        return sentence("no call of it was found in the training loop")
    if (owner := plan.facts.classes.get(model.obj)) is not None and _overrides_train(owner):
        return sentence("its class overrides train()")
    if thaws_later(plan, model.obj):
        return sentence("parameters are frozen or unfrozen during the training")
    if moved_later(plan, model.obj):
        return sentence("it is moved to the CPU and back during the training, which takes DDP's hooks away")
    if next(plan.calls("torch.autograd.grad"), None) is not None:
        return sentence("the training computes gradients of gradients")
    if several_backwards(plan, model):
        return sentence("backward() runs several times for one call of its forward()")
    if gives_weights(plan, model.obj):
        return sentence("its forward() gives a parameter itself, of which the loss may be made, or not")
    if (_goes_into_losses(plan, model.obj) and unused_parameters(plan, model.obj)) or _in_some_losses(plan, model.obj):
        return sentence("the loss has parameters that its forward() may leave out")
    return NOTHING


def _goes_into_losses(plan: Reading, model: Obj) -> bool:
    """`loss + sum(p.pow(2).sum() for p in model.parameters())`: DDP would count one of them twice."""
    losses = (backward_of(call) for call in plan.facts.backward)
    made = (n for loss in losses if loss is not None for n in plan.bindings.made_of(loss))
    asked = (n.value for n in made if isinstance(n, ast.Attribute) and n.attr in PARAMETERS)
    return any(model in {o, *plan.facts.roots(o)} for node in asked for o in plan.facts.value(node).of("model"))


def _in_some_losses(plan: Reading, model: Obj) -> bool:
    """`torch.cdist(z, model.centers)` of a second training, where the first one and `forward` leave these out."""
    if (owner := plan.facts.classes.get(model)) is None:
        return False
    read = [{*_parameters_read(plan, call, model)} for call in plan.facts.backward]
    inside = (n for n in walk(owner) if isinstance(n, ast.Attribute))
    used = {n.attr for n in inside if isinstance(n.ctx, ast.Load)}
    return any(one - used != read[0] - used for one in read)


def _parameters_read(plan: Reading, backward: ast.Call, model: Obj) -> Iterator[str]:
    """By a loss, or where it is computed; another training may have a loss of the same name, with other ones."""
    loss, function = backward_of(backward), plan.program.function_of(backward)
    loops = [a for a in plan.program.ancestors(backward) if isinstance(a, ast.For | ast.While)]
    here = {*walk(loops[0])} if loops else None
    made = {*plan.bindings.made_of(loss)} if loss is not None else set[ast.AST]()
    apart = {n for n in made if here is None or plan.program.function_of(n) is not function}
    for node in apart | (here or set()):
        of_it = isinstance(node, ast.Attribute) and model in plan.facts.value(node.value).objs
        if isinstance(node, ast.Attribute) and of_it and plan.facts.value(node).of("parameter"):
            yield node.attr


def holds_statistics(plan: Reading, model: Obj) -> bool:
    """Buffers that each rank fills from its share: those of BatchNorm, or of the notebook's own."""
    return may_hold_batch_norm(plan, model) or next(iter(kept_of_shares(plan)), None) is not None


def _overrides_train(node: ast.ClassDef) -> bool:
    """A `train` of its own that is not `train(self, mode=True)`."""
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and part.name in ("train", "eval"):
            needed = len(part.args.args) - 1 - len(part.args.defaults)
            return needed > 0 or part.name == "eval"
    return False
