"""What the notebook gets back from `train`, which itself says nothing of it."""

from __future__ import annotations

import ast

from nbddp.analysis import Plan
from nbddp.analysis.reading import items_of
from nbddp.analysis.slicing import changed_names
from nbddp.analysis.splitting import learned
from nbddp.analysis.state import turn_of
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import ITEMS, OF_A_SHARE, PICKED, WHOLE, Extent, Obj, Value, contents, held, is_uneven
from nbddp.script.framework_states import framework_states
from nbddp.script.layout import Definition, Layout
from nbddp.watch_points import Watch

BACK = ("list", "dict", "parameter", "instance", "counter", "library", "loss", "device", "dataset", "split",
        "transform")  # fmt: skip
PARTS = ("dataset", "split")  # of another one, which comes with it
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
    means = [n for n in values if held(plan.facts, plan.facts.final[n]) is Extent.MEAN]
    return ((0, Watch("result", state=tuple(states.items()), names=tuple(values), means=tuple(means))),)


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
    return sorted(n for n in touched & bound if _comes_back(plan, n))


def _own_parameters(plan: Plan) -> set[str]:
    """Tensors that belong to no model, and the lists that were written with them."""
    names = learned(plan)
    lists = (n for n in plan.nodes() if isinstance(n, ast.Assign) and isinstance(n.value, ast.List | ast.Tuple))
    holding = (n for n in lists if {e.id for e in walk(n.value) if isinstance(e, ast.Name)} & names)
    return {*names, *(t.id for n in holding for t in n.targets if isinstance(t, ast.Name))}


def _comes_back(plan: Plan, name: str) -> bool:
    """Of what no rank has another, in whatever it holds; not what looks at the ranks' own data, or counts them."""
    value = plan.facts.final.get(name)
    if value is None or not all(o.kind in (*BACK, *KINDS) and _is_its_own(o) for o in value.objs):
        return False
    extent = held(plan.facts, value)
    return extent in WHOLE or (extent is Extent.MEAN and _is_of_steps(plan, name, value))


def _is_its_own(obj: Obj) -> bool:
    """No field of another thing; a list may know whose method has made it."""
    return obj.owner is None or obj.kind in PARTS or (obj.kind in ITEMS and not obj.name)


def _is_of_steps(plan: Plan, name: str, value: Value) -> bool:
    """Numbers of batches of which each rank has its part: not of those that are dealt out, and of no rank's choice."""
    dealt = [f.node for f in plan.facts.loops.values() if f.loaders and not f.backward and isinstance(f.node, ast.stmt)]
    parts = [*contents(plan.facts, value)]
    plain = all(o.kind in ITEMS and o.name == "" for v in parts for o in v.objs)
    own = any(v.of(*OF_A_SHARE, PICKED) or is_uneven(plan.facts, v) for v in parts)
    return plain and not own and name not in changed_names(dealt)
