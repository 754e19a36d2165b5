"""The state that a run starts with: that of the models, optimizers and schedulers which live in the kernel."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from nbddp.analysis import Plan
from nbddp.analysis.disk import put_in_order
from nbddp.analysis.reading import items_of, single_start, state_in_scope, steps_of
from nbddp.analysis.state import (
    Passage,
    carried,
    is_conditional,
    is_repeated,
    made_here,
    meaning,
    names_holding,
    passages,
    passages_before,
    rebound,
)
from nbddp.analysis.values import Obj, Value
from nbddp.cli.parse import Refusal
from nbddp.magics.handover.going_on import live_values
from nbddp.magics.handover.left_behind import left_behind
from nbddp.magics.handover.restoring import bare, part_of
from nbddp.run.folder.errors import LaunchFailed
from nbddp.run.folder.folder import RunFolder

KINDS = ("model", "optimizer", "scheduler", "scaler")
Path = tuple[str, ...]  # a name of the notebook, and an attribute of what it stands for where there is one
NO_EPOCHS = (
    "The training starts from the beginning: its loop does not count epochs, so the notebook's current state cannot be "
    "loaded into it."
)


@dataclass(frozen=True)
class Handover:
    """For each of the script's training loops, by its number, live objects by the name that the loop has for them."""

    loops: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)  # which the first of them goes on with
    left: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # what earlier trainings have left, by name
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Those of objects, for people."""
        return list(dict.fromkeys(name for objects in self.loops.values() for name in objects))

    def write(self, folder: RunFolder) -> None:
        """The file that the run starts from; none where there is nothing to hand over."""
        if not self.loops:
            return
        from nbddp.run.watching.plain_values import save_whole

        first, *others = self.loops
        later = {number: _states(self.loops[number]) for number in others}
        content = {"format": 1, "states": _states(self.loops[first]), "loop": first, "later": later}
        content |= {"values": {name: _plain(value) for name, value in self.values.items()}, "names": self.left}
        content["on_gpu"] = [name for name, value in self.values.items() if _on_gpu(value)]
        try:
            save_whole(content, folder.start)
        except RuntimeError as error:  # torch's word for a full disk
            raise LaunchFailed(f"The notebook's current state could not be saved for the run: {error}.") from error


def _on_gpu(value: Any) -> bool:
    from nbddp.run.watching.plain_values import tensors_in

    return any(tensor.is_cuda for tensor in tensors_in(value))


def _states(objects: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(bare(thing).state_dict()) for name, thing in objects.items()}


def handover(plan: Plan, namespace: Mapping[str, Any]) -> Handover:
    """What of the live state the script takes over; what the training cell itself builds starts anew, as ever."""
    starts = list(_starts(plan))
    if not starts:
        return Handover(notes=(NO_EPOCHS,))
    loops: dict[int, dict[str, Any]] = {}
    absent: list[str] = []
    behind: list[str] = []
    handed: set[int] = set()
    for number, held_by in starts:
        for keyword, (text, held) in held_by.items():
            if not held or any(made_here(plan, obj) for obj in held):
                continue
            thing = _find(plan, namespace, held, text)
            if thing is None:
                absent.append(keyword)
            elif why := _of_another_class(thing, text, held):
                raise Refusal(why)
            elif id(bare(thing)) not in handed:  # a later loop goes on from what an earlier one has made of it
                handed.add(id(bare(thing)))
                if number is None:
                    behind.append(keyword)
                else:
                    loops.setdefault(number, {})[keyword] = thing
    first = starts[0][0]
    if loops and first is not None and first not in loops:  # earlier loops are skipped up to this one
        loops = {first: {}, **loops}
    notes = [f"The notebook holds no {name}: the run starts with what the cells create." for name in absent]
    notes += _not_handed(plan, {o for _, held_by in starts for _, held in held_by.values() for o in held})
    if behind:
        notes.append(
            f"{', '.join(behind)}: trained after a loop that is repeated, so these start as the cells create them."
        )
    notes += _ordered_apart(plan) if loops else []
    values, left = _values(plan, namespace)
    names = left_behind(plan, namespace)
    if (values or names) and first is not None:
        loops = loops or {first: {}}
    return Handover(loops, values, names if loops else {}, tuple(dict.fromkeys((*notes, *left))))


def _of_another_class(thing: Any, text: str, held: Set[Obj]) -> str:
    """A cell that was changed since: torch would load the state of one optimizer into another, or fail at a step."""
    from torch import optim

    made = sorted({o.name.rpartition(".")[2] for o in held if o.kind == "optimizer"})
    here = type(thing).__name__
    if not made or here in made or not all(hasattr(optim, name) for name in (*made, here)):
        return ""
    return (
        f"The notebook's {text} is of class {here}, and the cells create one of class {made[0]}: run the cell that "
        "creates it, or add --fresh to start from the beginning."
    )


def _ordered_apart(plan: Plan) -> list[str]:
    """What is numbered along a set of words here is numbered in another way there."""
    if os.environ.get("PYTHONHASHSEED", "random") != "random":
        return []
    return [
        f"Cell {plan.program.cell_of(source).number} depends on the order of {plan.program.source(source)}. Each "
        "process orders a set of strings differently, so what the model has learnt here may belong to other words "
        "there: use sorted(…), or pass what is built from it with --snapshot."
        for source in put_in_order(plan)
    ]


def _not_handed(plan: Plan, known: set[Obj]) -> list[str]:
    """Models and optimizers for which the loops have no expression of their own, such as items of a list."""
    roles = plan.roles
    others = {m.obj for m in roles.models} | roles.followers | roles.optimizers | roles.schedulers
    others = {obj for obj in others - known if not made_here(plan, obj)}
    names = sorted(names_holding(plan, others))
    return [f"{', '.join(names)}: these start as the cells create them, not as the notebook has them."] if names else []


def _values(plan: Plan, namespace: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Those that the first loop goes on with: all, or none, since the best so far is nothing without its model."""
    first = None if single_start(plan) is not None else next(iter(passages(plan)), None)
    if first is None:
        return {}, []
    values, lost = live_values(plan, first, namespace), list(carried(plan, first.fact).lost)
    flags = [name for name in lost if name.endswith(".requires_grad")]
    sentences = [f"{name} starts as the cells set it, because it is not part of a state_dict()." for name in flags]
    reasons = {name: why for name, value in values.items() if (why := _not_plain(value))}
    lost += _models_kept(plan, first.fact.node)
    reasons |= {name: "it is a model, or differs between ranks" for name in lost if name not in flags}
    if values and reasons:
        why = "; ".join(f"'{name}' cannot be passed to the processes ({reason})" for name, reason in reasons.items())
        return {}, [*sentences, f"{', '.join(values)}: these start as the cells set them, because {why}."]
    return values, sentences


def _models_kept(plan: Plan, loop: ast.AST) -> list[str]:
    """`if better: best_model = copy.deepcopy(model)`: what this one has kept stays in its processes."""
    asked = [branch for branch in ast.walk(loop) if isinstance(branch, ast.If)]
    assignments = [n for branch in asked for n in ast.walk(branch) if isinstance(n, ast.Assign)]
    kept = [n for n in assignments if plan.facts.value(n.value).of("model")]
    return sorted({ast.unparse(target) for n in kept for target in n.targets})


def _not_plain(value: Any) -> str:
    try:
        _plain(value)
    except (TypeError, ValueError, RecursionError) as reason:
        return str(reason)
    return ""


def _plain(value: Any) -> Any:
    from nbddp.run.watching.plain_values import plain

    return plain(value)


Names = Mapping[str, Value]
Held = Mapping[str, tuple[str, frozenset[Obj]]]  # keyword -> its expression, and the things that stands for


def _starts(plan: Plan) -> Iterator[tuple[int | None, Held]]:
    """The number of each loop that the training cell goes through, with what it has a state of.

    Behind a loop that is gone through more than once, nobody knows the numbers.
    """
    if (single := single_start(plan)) is not None:
        if single.statement.cell.number == plan.training_cell:
            yield 1, _held(plan, single.names, single.state)
        return
    found = passages(plan)
    before = _skipped(plan) if found else 0
    if doubtful := [passage for passage in found[:-1] if is_conditional(plan, passage)]:
        raise cannot_tell(plan, doubtful[0], "inside of a condition before it trains again")
    number: int | None = before
    for passage in found:
        number = None if number is None else number + 1
        yield number, _held(plan, passage.fact.names, state_in_scope(plan, passage.fact), passage.calls)
        if is_repeated(plan, passage):
            number = None


def _skipped(plan: Plan) -> int:
    """How many loops the cells before it go through; refuses where their number is not sure."""
    found = passages_before(plan)
    for passage in found:
        if isinstance(passage.fact.node, ast.While):
            raise cannot_tell(plan, passage, "in a `while` loop, which cannot be skipped")
        if is_repeated(plan, passage):
            raise cannot_tell(
                plan, passage, "in a loop around its epochs, so it is not clear where the current state belongs"
            )
        if is_conditional(plan, passage):
            raise cannot_tell(
                plan, passage, "inside of a condition, so it is not clear where the current state belongs"
            )
    return len(found)


def cannot_tell(plan: Plan, passage: Passage, how: str) -> Refusal:
    """Loops are known by their number: where that is not sure, a state could get into another model."""
    cell = plan.program.cell_of((*passage.calls, passage.fact.node)[0]).number
    return Refusal(
        f"Cell {cell} trains {how}: add --fresh to start from the beginning instead of from the notebook's "
        "current state."
    )


def _held(plan: Plan, names: Names, state: Mapping[str, str], calls: tuple[ast.Call, ...] = ()) -> Held:
    return {key: (text, meaning(plan, names, text, calls).of(*KINDS)) for key, text in state.items()}


def built_anew(plan: Plan) -> frozenset[str]:
    """Names for which the training cell itself builds what they stand for."""
    found = {name: value.of("instance", *KINDS) for name, value in plan.facts.final.items()}
    return frozenset(name for name, objs in found.items() if objs and all(made_here(plan, obj) for obj in objs))


def _find(plan: Plan, namespace: Mapping[str, Any], held: frozenset[Obj], text: str) -> Any:
    """The live object: by a name that holds just what is held, by the same expression before others."""
    others = rebound(plan)
    for exact in (True, False):
        found = [p for p, objs in _paths(plan) if (objs == held if exact else objs <= held and len(held) == 1)]
        found = [path for path in found if path[0] not in others]
        for name, *steps in sorted(found, key=lambda path: (list(path) != steps_of(text), len(path), path)):
            thing = namespace.get(name)
            for step in steps:
                thing = part_of(thing, step)
            if hasattr(thing, "state_dict"):
                return thing
    return None


def _paths(plan: Plan) -> Iterator[tuple[Path, frozenset[Obj]]]:
    for name, value in plan.facts.final.items():
        if objs := value.of(*KINDS):
            yield (name,), objs
        for (owner, attribute), inside in plan.facts.fields.items():
            if owner in value.objs and attribute.isidentifier() and (objs := inside.of(*KINDS)):
                yield (name, attribute), objs
        for holder in value.of("list", "dict"):
            yield from (((name, step), v.of(*KINDS)) for step, v in items_of(plan, holder).items() if v.of(*KINDS))
