"""Which models DDP can take over, and which have their gradients averaged by hand."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from nbddp.analysis.library import entry_of, learns
from nbddp.analysis.models.buffers import kept_of_shares, may_hold_batch_norm
from nbddp.analysis.models.cut_off_parts import cut_off
from nbddp.analysis.models.ddp_names import Names, find_names, may_train_unread
from nbddp.analysis.models.repeated_backward import several_backwards
from nbddp.analysis.models.unfreezing import moved_later, thaws_later
from nbddp.analysis.models.wrap_points import Home, find_home
from nbddp.analysis.reading import Model, Reading
from nbddp.analysis.syntax import is_name, walk
from nbddp.analysis.values import Obj, Value
from nbddp.sentence import NOTHING, Sentence, sentence

AS_IT_IS = Names("", {}, frozenset(), evaluates=False)
PARTS = ("modules", "children", "named_modules", "named_children", "_modules")


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
    return NOTHING


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


def unused_parameters(plan: Reading, model: Obj) -> bool:
    """Parts of the notebook's own models that no loss comes from: DDP must be told to look for them."""
    parts = (o for o in plan.facts.classes if o.kind == "model" and model in plan.facts.roots(o))
    return _leaves_out(plan, model, _unread(plan, model)) or any(_leaves_out(plan, o) for o in parts)


def _unread(plan: Reading, model: Obj) -> frozenset[int]:
    """Of `logits, extra = model(x)`: 1, where the loss may be made without it, wherever the model is trained."""
    calls = [c for role in plan.roles.models if role.obj == model for c in role.forward_calls]
    training = {loop for loop, fact in plan.facts.loops.items() if fact.backward}
    places = list[frozenset[int]]()
    for call in (c for c in calls if plan.facts.calls[c].taped & training):
        match plan.program.parents[call]:
            case ast.Assign(targets=[ast.Tuple(elts=names)]):
                read = _surely_read(plan, call)
                dropped = (at for at, n in enumerate(names) if isinstance(n, ast.Name) and n.id not in read)
                places.append(frozenset(dropped))
            case _:
                return frozenset()
    return frozenset.intersection(*places) if places else frozenset()


def _surely_read(plan: Reading, call: ast.Call) -> set[str]:
    """Names in the turn of the call, whichever way it goes; not `p` of `[p.numel() for p in parts]`."""
    around = [*plan.program.ancestors(call)]
    turn = next(a for a in around if isinstance(a, ast.For | ast.While | ast.FunctionDef | ast.Module))
    found = set[str]()
    for name in (n for n in walk(turn) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)):
        above = [a for a in plan.program.ancestors(name) if a not in around]
        own = any(is_name(t, name.id) for a in above for g in getattr(a, "generators", ()) for t in walk(g.target))
        if not own and not any(isinstance(a, ast.If | ast.IfExp) for a in above):
            found.add(name.id)
    return found


def _leaves_out(plan: Reading, model: Obj, unread: frozenset[int] = frozenset()) -> bool:
    owner = plan.facts.classes.get(model)
    if owner is None:
        return False
    methods = {p.name: p for p in owner.body if isinstance(p, ast.FunctionDef)}
    init, forward = methods.get("__init__"), methods.get("forward")
    if init is None or forward is None:
        return False
    running = [methods[name] for name in _read_from(forward, methods, set()) & methods.keys()]
    if owner.bases and (_asks_by_name(owner) or any(map(_goes_through_parts, [forward, *running]))):
        return False
    stored = (n for n in walk(init) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
    made = {n.attr for n in stored if _trainable(plan, model, n.attr)}
    never = made - _read_from(forward, methods, set()) - _read_in_init(plan, init, made)
    return bool(never or made & (_read_under_conditions(forward) | cut_off(owner, forward, unread)))


def _read_under_conditions(forward: ast.FunctionDef) -> set[str]:
    """Parts that only some calls of forward go through: `self.head(x) if self.training else None`."""
    found: set[str] = set()
    for node in walk(forward):
        if isinstance(node, ast.If | ast.IfExp):
            branches = [node.body, node.orelse]
            sides = [_attributes(b if isinstance(b, list) else [b]) for b in branches]
            found |= sides[0] ^ sides[1]
    return found


def _attributes(nodes: list[ast.stmt] | list[ast.expr]) -> set[str]:
    return {n.attr for part in nodes for n in walk(part) if isinstance(n, ast.Attribute)}


def _asks_by_name(node: ast.ClassDef) -> bool:
    names = {n.func.id for n in walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    return bool(names & {"getattr", "setattr", "eval", "exec"})


def _goes_through_parts(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr in PARTS for n in walk(node))


def _trainable(plan: Reading, model: Obj, name: str) -> bool:
    return any(learns(o.name) for o in plan.facts.fields.get((model, name), Value()).of("model"))


def _read_from(method: ast.FunctionDef, methods: Mapping[str, ast.FunctionDef], seen: set[str]) -> set[str]:
    found = {n.attr for n in walk(method) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)}
    for name in found & methods.keys() - seen:
        seen.add(name)
        found = found | _read_from(methods[name], methods, seen)
    return found


def _read_in_init(plan: Reading, init: ast.FunctionDef, made: set[str]) -> set[str]:
    """Parts that others are made of: `self.net = nn.Sequential(self.a, self.b)`; not what is taken apart or copied."""
    loads = [n for n in walk(init) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)]
    copying = (n for n in walk(init) if isinstance(n, ast.Call) and entry_of(n, plan.flow.imports).copies)
    apart = {n.value for n in loads if n.attr in PARTS}.union(a for call in copying for a in call.args)
    return {n.attr for n in loads if n not in apart} & made
