"""What the notebook gets back from `train`, which itself says nothing of it."""

from __future__ import annotations

import ast

from nbddp.analysis import Plan
from nbddp.analysis.reading import items_of
from nbddp.analysis.splitting import learned
from nbddp.analysis.state import turn_of, varies_within
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Obj, Value
from nbddp.script.framework_states import framework_states
from nbddp.script.layout import Definition, Layout
from nbddp.watch_points import Watch

PLAIN = ("list", "dict", "parameter")
PARTLY = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
KINDS = ("model", "optimizer", "scheduler", "scaler")


def hand_back(plan: Plan, layout: Layout) -> tuple[tuple[int, Watch], ...]:
    """The mark at `train`: models and what trains them by their states; of values, those that are bound by then."""
    named = state_names(plan, layout)
    states = {n: n for n in (*named, *_attributes(plan, layout, named))}
    values = [n for n in value_names(plan, layout) if n not in states]
    if plan.framework is not None:  # which of its numbers are those of all ranks is not known
        states, values = framework_states(plan, plan.framework, layout), []
    if not states and not values:
        return ()
    return ((0, Watch("result", state=tuple(states.items()), names=tuple(values))),)


def state_names(plan: Plan, layout: Layout) -> list[str]:
    """Variables of `train`, surely bound, that hold a model that is trained, an optimizer, a scheduler or a scaler."""
    trained = {m.obj for m in plan.roles.models} | plan.roles.followers
    found = []
    for i in range(len(layout.body)):
        for name in sorted(_bound(plan, layout, i)):
            value = plan.facts.final.get(name)
            held = value.of(*KINDS) if value else frozenset()
            if name not in found and held and all(o.kind != "model" or o in trained for o in held):
                found.append(name)
    return found


def _bound(plan: Plan, layout: Layout, at: int) -> set[str]:
    """What the statement surely binds; and what it may bind where one that follows could not do without."""
    found = plan.flow.effects[layout.body[at].index]
    perhaps = found.may_bind - found.binds
    sure = [s for s in layout.body[at + 1 :] if _runs_all(s.node)] if perhaps else []
    return found.binds | {n for s in sure for n in perhaps & plan.flow.effects[s.index].reads}


def _runs_all(node: ast.stmt) -> bool:
    """Is every name in it looked up?"""
    return isinstance(node, ast.Expr | ast.Assign) and not any(isinstance(n, PARTLY) for n in walk(node))


def _attributes(plan: Plan, layout: Layout, names: list[str]) -> list[str]:
    """`trainer.optimizer`, where no variable holds it: attributes of instances that their construction surely sets."""
    roles = plan.roles
    trained = {m.obj for m in roles.models} | roles.followers | set(roles.optimizers) | set(roles.schedulers)
    sure = (plan.facts.final[n].of(*KINDS) for n in names)
    missing = trained - {o for held in sure if len(held) == 1 for o in held}
    found = []
    for name in sorted({n for s in layout.body for n in plan.flow.effects[s.index].binds}):
        value = plan.facts.final.get(name)
        for owner in value.of("instance", "model") if value and len(value.objs) == 1 else ():
            for field in sorted(_surely_set(plan, owner)):
                held = plan.facts.fields.get((owner, field), Value()).of(*KINDS)
                if len(held) == 1 and held <= missing:
                    missing -= held
                    found.append(f"{name}.{field}")
        for owner in value.of("list", "dict") if value and len(value.objs) == 1 else ():
            for step, item in items_of(plan, owner).items():
                if len(held := item.of(*KINDS)) == 1 and held <= missing:
                    missing -= held
                    found.append(f"{name}{step}")
    return found


def _surely_set(plan: Plan, owner: Obj) -> set[str]:
    if owner.node is None or owner not in plan.facts.classes:
        return set()
    made = turn_of(plan, [owner.node], None)
    return {made.attributes[key][1] for key in made.effects.binds if made.attributes.get(key, (None,))[0] == owner}


def value_names(plan: Plan, layout: Layout) -> list[str]:
    """What the training cell binds or fills, and what is the same on all ranks."""
    data = [*(s for s in layout.module if not isinstance(s.node, Definition)), *layout.body]
    cell = [s for s in data if s.cell.number == plan.training_cell]
    touched = {n for s in cell for n in plan.flow.effects[s.index].may_bind | plan.flow.effects[s.index].mutates}
    touched |= {n for s in cell for n in plan.flow.when_called(s.index)[1]}
    touched |= _own_parameters(plan) if not plan.roles.models else set()
    bound = {n for s in data for n in plan.flow.effects[s.index].may_bind}
    return sorted(n for n in touched & bound if _is_plain(plan, n))


def _own_parameters(plan: Plan) -> set[str]:
    """Tensors that belong to no model, and the lists that were written with them."""
    names = learned(plan)
    lists = (n for n in plan.nodes() if isinstance(n, ast.Assign) and isinstance(n.value, ast.List | ast.Tuple))
    holding = (n for n in lists if {e.id for e in walk(n.value) if isinstance(e, ast.Name)} & names)
    return {*names, *(t.id for n in holding for t in n.targets if isinstance(t, ast.Name))}


def _is_plain(plan: Plan, name: str) -> bool:
    value = plan.facts.final.get(name)
    plain = value is not None and all(o.kind in PLAIN and o.owner is None for o in value.objs)
    return plain and value is not None and not varies_within(plan, value)
