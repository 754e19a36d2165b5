"""The state of the abstract run: names, frames, loops around, and what was found."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple

from nbddp.analysis.syntax import Program
from nbddp.analysis.values.assumptions import Assumptions
from nbddp.analysis.values.contents import ITEMS, contents, held, is_uneven
from nbddp.analysis.values.domain import (
    ANYTHING,
    PICKED,
    PLACED,
    Extent,
    Obj,
    Value,
    alike,
    join,
    spread,
    thing,
    written_into,
)
from nbddp.analysis.values.facts import CallFact, Facts, LoopFact, TestFact
from nbddp.analysis.values.tracking import note_change, note_state

Env = dict[str, Value]
Args = list[Value]
Keywords = dict[str, Value]

TICKS = 400_000  # statements and calls: far above real notebooks, far below a minute
FIELDS_OF = "vars"  # the name of a dictionary that has what an object has
GLOBALS = ast.Pass()  # what makes the dictionary of the names of the cells
HOOKS = "hooks"  # the field of a model that has what is called with each batch
DEPTH = 400  # calls inside of each other, likewise


@dataclass(frozen=True)
class Steps:
    """The steps of the abstract run that are asked for from below: `interpret` hands them over."""

    block: Callable[[Machine, list[ast.stmt]], bool]  # statements; True when they end by leaving
    function: Callable[[Machine, Obj, Args, Keywords, ast.expr | None], Value]
    call: Callable[[Machine, ast.Call, Value, Value | None, Args, Keywords], Value]
    comprehension: Callable[[Machine, list[ast.comprehension], Callable[[], None]], None]
    leave_loop: Callable[[Machine, LoopFact], None]  # what becomes of the names that a loop over a share has set


@dataclass
class Frame:
    """One function being run; None stands for the top level of the cells."""

    node: ast.AST | None
    local: Env
    global_names: frozenset[str] = frozenset()
    outer_names: frozenset[str] = frozenset()  # `nonlocal`
    returned: Value | None = None
    outer: Frame | None = None  # the frame that a nested function sees
    call: ast.AST | None = None  # what called it
    around: Context | None = None  # under what it was called
    turns: Extent = Extent.UNIFORM  # of what it has as many as it has yielded
    missed: set[str] = field(default_factory=set)  # names that were read while they were not bound here


@dataclass
class Trace:
    """What a call leaves beside facts and names."""

    drawn: set[Obj] = field(default_factory=set)  # loaders that it draws from
    backward: set[int] = field(default_factory=set)  # how many `if` were around where it ran backward
    modules_run: int = 0  # calls of modules with gradients on


@dataclass(frozen=True)
class Remembered:
    """A call that changed nothing: this holds while the last change is the same, and the last name that was bound."""

    change: object
    rebound: object
    value: Value
    trace: Trace


@dataclass(frozen=True)
class Context:
    """Under what a statement runs: one label on a stack, never changed in its place."""

    turn: Obj | None = None  # of a comprehension over literals
    grad: bool = True
    perhaps_grad: bool = False  # gradients are on under a condition that is not known
    forward: bool = False  # in a call of a module
    conditions: int = 0  # how many `if` statements are around
    varying: bool = False  # conditions and loops that may go another way on another rank
    of_share: bool = False  # a condition that each rank decides by its share as a whole
    own_turns: bool = False  # conditions and loops by which one rank may come more often than another
    behind: bool = False  # varying only for what some ranks have left, not for a condition around
    written: int = 1  # turns around that are run one by one, each through all of the next
    caught: bool = False  # in a `try` that goes on after an error


class Left(NamedTuple):
    """A statement by which some ranks leave a loop, a function, a `try`; and under what it stands."""

    by: type[ast.stmt]
    of_share: bool
    own_turns: bool


@dataclass
class Active:
    """A loop being run."""

    fact: LoopFact
    shares: bool  # its iterations see this rank's share
    deals: bool = False  # an evaluation loop: the batches themselves are dealt out
    conditions: int = 0  # how many `if` were around when it began
    untaped: bool = False  # gradients were off when it began
    backward: bool = False  # it trains, this time
    unsure: bool = False  # or may train: backward stands under a condition
    next_of: set[Obj] = field(default_factory=set)  # loaders drawn from by next() this time

    def draw_next(self, loader: Obj) -> None:
        self.next_of.add(loader)
        self.fact.next_of.add(loader)


@dataclass(eq=False)
class Machine:
    # What is run, and what is taken for granted.
    program: Program
    imports: Mapping[str, str]
    steps: Steps
    assumed: Assumptions = field(default_factory=Assumptions)
    kept: set[ast.stmt] = field(default_factory=set)  # top-level statements that run

    # What has been found so far.
    facts: Facts = field(default_factory=Facts)
    asleep: set[Obj] = field(default_factory=set)  # models in evaluation mode
    modules_run: int = 0  # calls of modules with gradients on
    ticks: int = 0  # statements and calls

    # Names.
    globals: Env = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=lambda: [Frame(None, {})])
    closures: dict[Obj, Frame] = field(default_factory=dict)  # what functions that stand in others see
    star_imports: list[str] = field(default_factory=list)
    moved: object = None  # another object since a thing has got another extent
    rebound: object = None  # another object since a name of the cells has got another value
    arrays: set[Obj] = field(default_factory=set)  # that have been made
    remembered: dict[Hashable, Remembered] = field(default_factory=dict)  # calls that changed nothing

    # Where the run is: loops, branches and calls around the node that is looked at.
    at: ast.stmt | None = None  # the top-level statement
    loops: list[Active] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)  # of functions being run
    context: Context = field(default_factory=Context)
    raised: Value = ANYTHING  # by the `try` that is run
    left: frozenset[Left] = frozenset()  # how some ranks may have left what the others go on with
    varying_before: set[tuple[Obj | None, str]] = field(default_factory=set)  # places that varied before the loop

    def passed(self, model: Obj) -> None:
        """The model has seen a batch; in training mode it counts that."""
        if self.at is not None and not self.context.forward and model not in self.asleep:
            self.facts.passes[self.at].update({model, *self.facts.roots(model)})

    def let_sleep(self, models: set[Obj]) -> None:
        """Only these are in evaluation mode from here on."""
        if models != self.asleep:
            note_state()
        self.asleep = models

    def close_over(self, function: ast.AST, name: str = "") -> Value:
        """What the function finds outside of itself is what is bound here: another one for each call around."""
        made = Obj("function", function, name, None, self.frame.call)
        if self.frame.node is not None:
            if self.closures.get(made) is not self.frame:
                note_change()
            self.closures[made] = self.frame
        return Value(frozenset({made}))

    def around(self, function: Obj) -> Frame | None:
        """The frame in which a function, or a method of a class, was defined."""
        return self.closures.get(
            replace(function, kind="function", name=getattr(function.node, "name", ""), owner=None)
        )

    def tick(self) -> bool:
        """False when the run has gone on for too long: what is left is not understood."""
        self.ticks += 1
        if self.ticks > TICKS:
            self.give_up(self.at or self.program.tree)
        return self.facts.exhausted is None

    def give_up(self, node: ast.AST) -> None:
        self.facts.exhausted = self.facts.exhausted or node

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    # names -----------------------------------------------------------------
    def lookup(self, name: str) -> Value | None:
        frame: Frame | None = self.frame
        while frame is not None:
            if name in frame.local and name not in frame.global_names | frame.outer_names:
                return frame.local[name]
            frame.missed.add(name)
            frame = frame.outer
        return self.globals.get(name)

    def bind(self, name: str, value: Value) -> None:
        value = self._under_condition(value)
        self._note_choice(name)
        frame = self.frame
        while name in frame.outer_names and frame.outer is not None:
            frame = frame.outer
        if frame.node is None or name in frame.global_names:
            if self.globals.get(name) != value:
                self.rebound = object()
            self.globals[name] = value
        else:
            frame.local[name] = value

    def _note_choice(self, name: str) -> None:
        for active in self.loops if self.context.of_share else ():
            active.fact.chosen |= {name} if active.fact.function is self.frame.node else set()

    def _under_condition(self, value: Value) -> Value:
        """What each rank comes by at batches of its own is no mean or sum over those of all."""
        whole = self.context.varying and not value.varies and value.objs == value.of("foreign")
        chosen = self.context.of_share and value.number and value.varies
        return value.with_extent(Extent.VARYING) if whole or chosen else value

    def set_plain(self, name: str, value: Value) -> None:
        """Bind without asking under which condition."""
        with self.within(varying=False):
            self.bind(name, value)

    def change(self, name: str, value: Value) -> None:
        """What is done to an array in its place shows wherever it has a name."""
        frame: Frame | None = self.frame
        while frame is not None and (name not in frame.local or name in frame.global_names | frame.outer_names):
            frame = frame.outer
        self._note_choice(name)
        self._put_into(self.globals if frame is None else frame.local, name, value)
        self.change_arrays(value.arrays, spread(value))

    def change_arrays(self, arrays: frozenset[Obj], extent: Extent) -> None:
        for env in self._environments() if arrays else ():
            for name, value in list(env.items()):
                self._put_into(env, name, written_into(value, arrays, extent))
        for key, value in list(self.facts.fields.items()) if arrays else ():
            if (new := written_into(value, arrays, extent)) is not value:
                self.facts.fields[key] = new

    def make_array(self, node: ast.AST, value: Value) -> Value:
        """Another one each time: who has the one before has that, and this is none of it."""
        made = frozenset({Obj("array", node, site=self.frame.call)})
        for env in self._environments() if made <= self.arrays else ():
            for name in [name for name, old in env.items() if old.arrays & made]:
                self._put_into(env, name, replace(env[name], arrays=env[name].arrays - made))
        for key in [k for k, v in self.facts.fields.items() if v.arrays & made] if made <= self.arrays else ():
            self.facts.fields[key] = replace(self.facts.fields[key], arrays=self.facts.fields[key].arrays - made)
        self.arrays |= made
        return replace(value, arrays=made)

    def _environments(self) -> list[Env]:
        """Of all that is being run, and of functions around what is."""
        found = [self.globals]
        for frame in [*self.frames, *self.closures.values()]:
            found += [frame.local] if not any(env is frame.local for env in found) else []
        return found

    def _put_into(self, env: Env, name: str, value: Value) -> None:
        if env.get(name) == value:
            return
        if env is self.globals:
            self.rebound = object()
        elif env is not self.frame.local:
            note_change()
        env[name] = value

    def visible(self) -> Env:
        """All names that an expression here could use."""
        chain: list[Frame] = []
        frame: Frame | None = self.frame
        while frame is not None:
            chain.append(frame)
            frame = frame.outer
        names = dict(self.globals)
        for one in reversed(chain):
            names.update(one.local)
        return names

    def make(self, kind: str, node: ast.AST) -> Value:
        """A thing of its own for each call of the function that makes it.

        A dict that is made again, and was alike on all ranks, starts anew; so does a list of what all ranks evaluated.
        """
        made = thing(kind, node, "", None, self.frame.call)
        known = [value for _, value in self.facts.fields.of(*made.objs)] if kind in ITEMS else []
        anew = kind == "dict" or (isinstance(node, ast.List) and _repeats(known))
        if anew and not any(value.varies for value in known):
            self.drop_fields(made)
        return made

    def drop_fields(self, value: Value) -> None:
        for obj in value.objs:
            for name, _ in self.facts.fields.of(obj):
                del self.facts.fields[obj, name]

    # fields of things ----------------------------------------------------------
    def get(self, obj: Obj, name: str) -> Value | None:
        if obj.name == FIELDS_OF and obj.owner is not None and name != "[]":
            return self.get(obj.owner, name[2:-2])
        if obj.node is GLOBALS:
            return self.globals.get(name[2:-2])
        return self.facts.fields.get((obj, name))

    def _put_into_fields(self, obj: Obj, name: str, value: Value) -> None:
        """`vars(state)["loss"] += loss`; by which name, may not be known."""
        owner = obj.owner or obj
        known = [field for field, _ in self.facts.fields.of(owner)] if value.varies else []
        for field_name in known if name == "[]" else [name[2:-2]]:
            self.put(owner, field_name, value)

    def put(self, obj: Obj, name: str, value: Value, *, beside: bool = False) -> None:
        """In the place of what was there; or beside it, as `append` does."""
        if obj.name == FIELDS_OF:
            self._put_into_fields(obj, name, value)
        value = self._under_condition(value)
        if obj.node is GLOBALS:
            self._put_by_text(name[2:-2], value)
            return
        if self.context.of_share and value.extent in (
            Extent.MEAN,
            Extent.SUM,
        ):  # also of a tensor: a field is no step's own
            value = value.with_extent(Extent.VARYING)
        old = self.get(obj, name)
        several = name == "[]" and obj.kind == "dict"  # which may be those of other keys
        new = value if old is None else join(old, value, later=not (beside or several))
        self.facts.fields[obj, name] = new
        if spread(new) is not (Extent.UNIFORM if old is None else spread(old)):
            self.moved = object()

    def _put_by_text(self, name: str, value: Value) -> None:
        """`globals()["total"] += loss`: no loop shows what it sets so."""
        for known in [name] if name else [n for n, v in self.globals.items() if value.varies and not v.objs]:
            self._put_into(self.globals, known, value.with_extent(Extent.VARYING) if value.varies else value)

    def elements(self, value: Value) -> Value:
        """What iterating or indexing a container gives."""
        result: Value | None = None
        for obj in value.objs:
            found = self.get(obj, "[]")
            if found is not None and spread(found) is Extent.SUM:  # of each key, where they are known
                found = reduce(join, (v for key, v in self.facts.fields.of(obj) if key != "[]"), found)
            if found is not None:
                result = found if result is None else join(result, found)
        for item in value.items or ():
            result = item if result is None else join(result, item)
        return result or ANYTHING

    def held(self, value: Value, *, objects: bool = True) -> Extent:
        return held(self.facts, value, objects=objects)

    def varying_places(self) -> set[tuple[Obj | None, str]]:
        """Fields of things, and names."""
        fields = {key for key, value in self.facts.fields.items() if value.varies}
        return {*fields, *((None, name) for name, value in self.visible().items() if value.varies)}

    def make_uniform(self, value: Value) -> None:
        """What lists and dictionaries hold has been combined."""
        holders = {o for v in contents(self.facts, value, dict.fromkeys(ITEMS)) for o in v.of(*ITEMS)}
        for obj in holders:
            for name, inside in self.facts.fields.of(obj):
                self.facts.fields[obj, name] = inside.with_extent(Extent.UNIFORM)

    def size(self, value: Value) -> Value:
        """How many samples of it this rank has."""
        known = not value.of(PICKED)
        return Value(extent=Extent.SUM, equal=known and not self.deals(), size=known, number=True)

    def deals(self) -> bool:
        """Inside a loop whose batches are dealt out: their sizes differ between ranks."""
        return any(a.deals for a in self.loops)

    # loops around ---------------------------------------------------------------
    def sharing(self) -> bool:
        """Inside a loop over this rank's share?"""
        return any(a.shares for a in self.loops)

    def in_forward(self) -> bool:
        """In what a model makes of a batch, following gradients: no loop over batches is in the same method."""
        own = any(a.fact.function is self.frame.node and (a.shares or a.fact.next_of) for a in self.loops)
        return self.context.forward and self.context.grad and not own

    def in_step(self) -> bool:
        """The same, or where a batch is drawn by `next()`, or one that is split."""
        return self.sharing() or any(self.facts.draws_itself(a.fact) for a in self.loops)

    def one_number(self, extent: Extent, of: Value = ANYTHING) -> Extent:
        """A number out of a batch: in a loop over samples it belongs to one of them, and adds up."""
        adds_up = self.context.varying and not of.of(PLACED)
        return (Extent.SUM if adds_up else Extent.VARYING) if extent is Extent.SAMPLES else extent

    def differs(self, test: ast.expr, value: Value) -> bool:
        """Note that a condition is asked; may what it decides differ between ranks?"""
        fact = self.facts.tests.setdefault(test, TestFact(test))
        fact.loops.update(a.fact.node for a in self.loops)
        fact.alone |= (self.context.varying and not self.context.behind) or self.context.forward
        return (not alike(value) or is_uneven(self.facts, value)) and test not in self.assumed.agreed

    @contextmanager
    def within(self, **changes: Any) -> Iterator[None]:
        around, self.context = self.context, replace(self.context, **changes)
        yield
        self.context = around

    def leave(self, by: type[ast.stmt]) -> None:
        """Some ranks do, where others may go on; an error that nobody catches ends them all."""
        around = self.context
        first = (
            around.own_turns and by is not ast.Continue and self.sharing() and not self.deals()
        )  # of its own samples
        if around.varying and (by is not ast.Raise or around.caught):
            self.left |= {Left(by, around.of_share or first, around.own_turns)}

    def arrived(self, left: Iterable[Left] | None = None) -> AbstractContextManager[None]:
        """What only those ranks come to that have not left, or have left so."""
        found, around = self.left if left is None else left, self.context
        of_share, own = any(one.of_share for one in found), any(one.own_turns for one in found)
        return self.within(
            varying=around.varying or of_share or own,
            behind=around.behind or ((of_share or own) and not around.varying),
            of_share=around.of_share or of_share,
            own_turns=around.own_turns or own,
        )

    def call_fact(self, node: ast.Call) -> CallFact:
        fact = self.facts.calls.setdefault(node, CallFact(node))
        around = [a.fact.node for a in self.loops]
        fact.loops.update(around)
        (fact.taped if self.context.grad else fact.untaped).update(around)
        fact.grad |= self.context.grad
        fact.no_grad |= not self.context.grad or self.context.perhaps_grad
        fact.in_forward &= self.context.forward
        fact.ever_in_forward |= self.context.forward
        fact.apart |= self.context.of_share
        fact.varying_control |= self.context.varying or bool(self.left)
        return fact

    def is_untaped(self) -> bool:
        """Are gradients surely off?"""
        return not (self.context.grad or self.context.perhaps_grad)

    def mark_loops(self, *, step: bool = False, toggles: bool = False) -> None:
        for active in self.loops:
            active.fact.step |= step
            active.fact.toggles |= toggles

    def mark_backward(self, conditions: int) -> None:
        """Of the loops around, where so many `if` are around. Without gradients, `if model.training:` is not met."""
        for trace in self.traces:
            trace.backward.add(conditions)
        for active in (a for a in self.loops if self.context.grad or not a.untaped):
            active.fact.backward = active.backward = True
            active.unsure |= conditions > active.conditions
            active.fact.conditional |= conditions > active.conditions

    @contextmanager
    def traced(self) -> Iterator[Trace]:
        self.traces.append(Trace())
        yield self.traces[-1]
        self.traces.pop()

    def draw(self, loaders: Iterable[Obj]) -> None:
        """Functions being run draw from these."""
        for trace in self.traces:
            trace.drawn.update(loaders)


def _repeats(values: list[Value]) -> bool:
    """Numbers that each rank has whole; what is put beside them may be of a share."""
    return any(v.extent is Extent.REPEATED for v in values) and not any(v.objs for v in values)
