"""Under which names the training reaches DDP: `ddp_model` where it trains, and the bare model everywhere else.

From each call that trains it is followed back where its model comes from: a variable, a parameter of a function, an
attribute of an object. On the way the functions that train are handed `ddp_model`; what else they do with it is meant
for the model itself, which they call `model.module`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeGuard

from nbddp.analysis.library import effect_of, under
from nbddp.analysis.models.buffers import synchronises
from nbddp.analysis.models.wrap_points import Home
from nbddp.analysis.reading import Binding, Model, Reading, Scope, scope_of
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import CallFact, Literal, Obj, contents

LEFT_ALONE = frozenset({"train", "eval", "parameters", "zero_grad"})  # what DDP does as the model would
RETURNS_ITSELF = frozenset({"to", "cuda", "train", "eval"})
NEVER_TRAIN = ("copy", "torch.save", "torch.nn.utils", "torch.is_tensor", "logging")  # what they are handed


@dataclass(frozen=True, eq=False)
class Names:
    """How one model is written where it trains."""

    text: str  # ddp_model, self.ddp_model
    places: Mapping[ast.expr, str]  # where the model is named, and DDP is meant
    bare: frozenset[ast.expr]  # where DDP is named, and the model is meant
    evaluates: bool  # one call trains in one turn and evaluates in another
    variables: Set[tuple[Scope, str]] = frozenset()  # of functions: they stand for DDP


def find_names(plan: Reading, homes: Mapping[Obj, Home], unproved: Set[Obj]) -> dict[Obj, Names]:
    """None for a model where it cannot be told; DDP then takes over the model's own variable."""
    models = [m for m in plan.roles.models if m.obj in homes.keys() - unproved]
    found = {m.obj: names for m in models if (names := _names(plan, m, homes)) is not None}
    while True:  # a function that is handed several models calls all of them in one way
        left = {o for o, n in found.items() if not _together(plan, n, set(found))}
        if not left:
            return found
        found = {o: n for o, n in found.items() if o not in left}


def _together(plan: Reading, names: Names, known: set[Obj]) -> bool:
    return all(plan.facts.value(p).of("model") <= known for p in (*names.places, *names.bare))


def ddp_name(plan: Reading, home: Home) -> str:
    owner, _, name = home.name.rpartition(".")
    return f"{owner}.ddp_{name}" if owner else plan.naming(f"ddp_{name}")


def trains(plan: Reading, call: CallFact) -> bool:
    """Does its output reach a backward()? Not in an evaluation that only forgets torch.no_grad()."""
    if not call.grad or call.in_forward:
        return False
    steps = {f.node for f in plan.roles.batch_loops}
    return bool(call.loops & steps) or call.awake


def _names(plan: Reading, model: Model, homes: Mapping[Obj, Home]) -> Names | None:
    home = homes[model.obj]
    if synchronises(plan) and "." in home.name:
        return None
    trail = _Trail(plan, model.obj, home, homes)
    calls = [c for n in model.forward_calls if trains(plan, c := plan.facts.calls[n])]
    if not calls or any(c.ever_in_forward for c in calls) or not all(trail.follow(_called(c.node)) for c in calls):
        return None
    bare = set[ast.expr]()
    for use in trail.uses():
        if not trail.stays(use):
            bare.add(use)
    evaluates = any(c.no_grad for c in calls)
    return Names(ddp_name(plan, home), trail.places, frozenset(bare), evaluates, trail.variables)


def behind_ddp(plan: Reading, known: Iterable[Names], node: ast.AST, text: str) -> str:
    """`model.module.optimizer` for `model.optimizer`, at a place where `model` stands for DDP."""
    name, dot, field_name = text.partition(".")
    handed_on = any((scope_of(plan.program, node, name), name) in names.variables for names in known)
    return f"{name}{module_of_ddp(plan)}.{field_name}" if dot and handed_on else text


def module_of_ddp(plan: Reading) -> str:
    """How DDP is asked for the model: nn.DataParallel stands between, where a process has several GPUs."""
    return ".module.module" if plan.options.per_machine else ".module"


def may_train_unread(plan: Reading, model: Obj) -> bool:
    """May a step train it in a way that is not seen?"""
    return any(_may_train(plan, call, model) for call in plan.facts.calls.values())


def _may_train(plan: Reading, call: CallFact, model: Obj) -> bool:
    """Is the model handed, in a step, to code that nobody reads: `checkpoint(model, x)`, `engine.loss(model, x)`?"""
    steps = {f.node for f in plan.roles.batch_loops}
    if not call.grad or call.in_forward or not call.loops & steps or call.bodies or model in call.called:
        return False
    if call.names and all(("." not in n and effect_of(n).reads) or under(n, NEVER_TRAIN) for n in call.names):
        return False
    given = [*call.node.args, *(k.value for k in call.node.keywords)]
    return any(_hands_on(plan, node, model) for part in given for node in walk(part))


def _hands_on(plan: Reading, node: ast.AST, model: Obj) -> bool:
    """The model, its forward, or a list with it; not what the model gives, or a state of it."""
    parent = plan.program.parents.get(node)
    if isinstance(node, ast.Attribute) and node.attr in ("forward", "__call__"):
        return model in plan.facts.value(node.value).objs and not (isinstance(parent, ast.Call) and parent.func is node)
    if isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Call) and parent.func is node):
        return False
    return any(model in v.objs for v in contents(plan.facts, plan.facts.value(node)))


def _called(call: ast.Call) -> ast.expr:
    """`model` of `model(x)` and of `model.forward(x)`."""
    func = call.func
    spelled_out = isinstance(func, ast.Attribute) and func.attr in ("forward", "__call__")
    return func.value if isinstance(func, ast.Attribute) and spelled_out else func


@dataclass
class _Trail:
    plan: Reading
    model: Obj
    home: Home
    homes: Mapping[Obj, Home]
    places: dict[ast.expr, str] = field(default_factory=dict)
    kept: set[ast.expr] = field(default_factory=set)  # names of what has been handed on, to be handed on or called
    variables: set[tuple[Scope, str]] = field(default_factory=set)  # that stand for DDP
    attributes: set[str] = field(default_factory=set)  # likewise, of objects of the notebook

    def follow(self, node: ast.expr) -> bool:
        """Note where DDP has to be written for it to arrive here; False where that cannot be told."""
        if not self.plan.facts.value(node).of("model") <= self.homes.keys() or self.may_be_none(node):
            return False
        if isinstance(node, ast.Name):
            return self.follow_name(node)
        return isinstance(node, ast.Attribute) and self.follow_attribute(node)

    def may_be_none(self, node: ast.expr) -> bool:
        return isinstance(self.plan.facts.value(node).const, Literal)

    def follow_name(self, node: ast.Name) -> bool:
        scope = scope_of(self.plan.program, node, node.id)
        if scope is self.plan.program.function_of(self.home.ready) and self.is_home(node):
            self.places[node] = ddp_name(self.plan, self.home)
            return True
        self.kept.add(node)
        if (scope, node.id) in self.variables:
            return True
        self.variables.add((scope, node.id))
        found = self.plan.bindings.of(node)
        handed = [one for one in found if isinstance(one.target, ast.arg)]
        kept = all(self.passes(one) for one in found if one not in handed)
        return bool(found) and kept and (not handed or self.follow_arguments(handed))

    def is_home(self, node: ast.Name) -> bool:
        """Do all models that the name stands for live under it?"""
        homes = [self.homes[o] for o in self.plan.facts.value(node).of("model")]
        functions = {self.plan.program.function_of(h.ready) for h in homes}
        return all(h.name == node.id for h in homes) and len(functions) == 1

    def follow_arguments(self, found: Sequence[Binding]) -> bool:
        """What all calls of the function hand it: the model, or another."""
        given = [one.whole if isinstance(one.by, ast.Call) else None for one in found]
        if None in given:
            return False
        models = [(g, self.plan.facts.value(g).of("model")) for g in given if g is not None]
        return all(self.follow(g) for g, held in models if self.model in held) and any(
            self.model in held for _, held in models
        )

    def passes(self, one: Binding) -> bool:
        """`other = model`, `model = model.to(device)`."""
        alone = isinstance(one.by, ast.Assign) and len(one.by.targets) == 1
        return alone and one.whole is not None and self.follow(_bare(one.whole))

    def follow_attribute(self, node: ast.Attribute) -> bool:
        owners = {o for (o, f), v in self.plan.facts.fields.items() if f == node.attr and self.model in v.objs}
        if not owners or any(o.kind != "instance" for o in owners):
            return False  # a part of another module is saved with it, under its one name
        if self.home.name == f"self.{node.attr}":
            self.places[node] = f"{self.plan.program.source(node.value)}.ddp_{node.attr}"
            return True
        self.kept.add(node)
        if node.attr in self.attributes:
            return True
        self.attributes.add(node.attr)
        fields = self.plan.bindings.of(node)
        written = {one: t.value for one in fields if self.is_attribute(t := one.target, node.attr)}
        known = {o for holder in written.values() for o in self.plan.facts.value(holder).objs}
        given = [_given(o, node.attr) for o in owners if o not in known or self.is_made_unread(o)]
        return all(map(self.passes, written)) and all(v is not None and self.follow(_bare(v)) for v in given)

    def is_made_unread(self, owner: Obj) -> bool:
        """By a constructor that nobody has written, and that is given something: a dataclass's."""
        call = self.plan.facts.calls.get(owner.node) if isinstance(owner.node, ast.Call) else None
        return call is not None and not call.bodies and bool(call.node.args or call.node.keywords)

    def is_attribute(self, node: ast.AST, name: str) -> TypeGuard[ast.Attribute]:
        return (
            isinstance(node, ast.Attribute)
            and node.attr == name
            and bool(self.plan.facts.value(node.value).of("instance"))
        )

    # what else is done with it ------------------------------------------------------
    def uses(self) -> list[ast.expr]:
        """All places that read a variable or an attribute which stands for DDP."""
        found: list[ast.expr] = []
        for node in self.plan.nodes():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found += [node] if (scope_of(self.plan.program, node, node.id), node.id) in self.variables else []
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr in self.attributes:
                found += [node] if self.is_attribute(node, node.attr) else []
        return found

    def stays(self, use: ast.expr) -> bool:
        parent = self.plan.program.parents[use]
        if use in self.kept:
            return True
        if isinstance(parent, ast.Attribute) and parent.attr in LEFT_ALONE:
            return True
        if isinstance(parent, ast.Attribute) and parent.attr in RETURNS_ITSELF:
            return isinstance(use, ast.Name) and self.is_own_result(parent, use.id)
        return False

    def is_own_result(self, method: ast.Attribute, name: str) -> bool:
        """`model = model.to(device)`, or the same without a name for it."""
        statement = self.plan.program.statement_of(method)
        call = getattr(statement, "value", None)
        if not isinstance(call, ast.Call) or call.func is not method:
            return False
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        return all(isinstance(t, ast.Name) and t.id == name for t in targets)


def _given(owner: Obj, name: str) -> ast.expr | None:
    """What a constructor that nobody has written is given for a field: `Config(model=model)`."""
    keywords = owner.node.keywords if isinstance(owner.node, ast.Call) else []
    return next((k.value for k in keywords if k.arg == name), None)


def _bare(node: ast.expr) -> ast.expr:
    """`model` of `model.to(device)`."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in RETURNS_ITSELF:
        node = node.func.value
    return node
