"""The state of the abstract run: names, frames, loops around, and what was found."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import reduce

from nbddp.analysis.syntax import Program
from nbddp.analysis.values.assumptions import Assumptions
from nbddp.analysis.values.contents import ITEMS, contents, held, is_uneven
from nbddp.analysis.values.contexts import Active, Left, Remembered, State, Trace
from nbddp.analysis.values.domain import (
    ANYTHING,
    FIRST,
    LAST,
    ONE,
    PICKED,
    PLACED,
    Extent,
    Obj,
    Value,
    alike,
    join,
    kept,
    ones,
    sizes_known,
    some_by_place,
    spread,
    thing,
)
from nbddp.analysis.values.facts import CallFact, Loop, LoopFact, Pass, TestFact
from nbddp.analysis.values.names import Names
from nbddp.analysis.values.tracking import note_state

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


@dataclass(eq=False)
class Machine(Names):
    # What is run, and what is taken for granted.
    program: Program
    imports: Mapping[str, str]
    steps: Steps
    assumed: Assumptions = field(default_factory=Assumptions)
    kept: set[ast.stmt] = field(default_factory=set)  # top-level statements that run

    # What has been found so far.
    asleep: set[Obj] = field(default_factory=set)  # models in evaluation mode
    modules_run: int = 0  # calls of modules with gradients on
    ticks: int = 0  # statements and calls
    jumps: list[tuple[type[ast.stmt], State]] = field(default_factory=list)  # from where, with what
    dimensions: int = 0  # of tensors that may have any number of them, while one is tried
    star_imports: list[str] = field(default_factory=list)
    remembered: dict[Hashable, Remembered] = field(default_factory=dict)  # calls that changed nothing
    made_in: dict[Obj, tuple[Loop, ...]] = field(default_factory=dict)  # the loops around where a thing was made
    resumed: dict[Obj, Callable[[], Value]] = field(default_factory=dict)  # generators: run their bodies once more

    # Where the run is, beside loops, branches and calls around.
    at: ast.stmt | None = None  # the top-level statement
    traces: list[Trace] = field(default_factory=list)  # of functions being run
    raised: Value = ANYTHING  # by the `try` that is run
    left: frozenset[Left] = frozenset()  # how some ranks may have left what the others go on with
    varying_before: set[tuple[Obj | None, str]] = field(default_factory=set)  # places that varied before the loop

    def passed(self, model: Obj, call: ast.AST | None = None, *, of_part: bool = False) -> None:
        """The model has seen a batch; in training mode it counts that."""
        if not self.context.forward:
            seen = {Pass(o, model not in self.asleep, of_part) for o in (model, *self.facts.roots(model))}
            self.note_passes(seen, call)

    def note_passes(self, seen: set[Pass], call: ast.AST | None = None) -> None:
        """In the top-level statement, and in each call that is being run."""
        for trace in self.traces:
            trace.passes |= seen
        for node in (self.at, call, *(f.call for f in self.frames)):
            if node is not None:
                self.facts.passes[node].update(seen)

    def let_sleep(self, models: set[Obj]) -> None:
        """Only these are in evaluation mode from here on."""
        if models != self.asleep:
            note_state()
        self.asleep = models

    def tick(self) -> bool:
        """False when the run has gone on for too long: what is left is not understood."""
        self.ticks += 1
        if self.ticks > TICKS:
            self.give_up(self.at or self.program.tree)
        return self.facts.exhausted is None

    def give_up(self, node: ast.AST) -> None:
        self.facts.exhausted = self.facts.exhausted or node

    def make(self, kind: str, node: ast.AST) -> Value:
        """A thing of its own for each call of the function that makes it, and for each object whose method does.

        A dict that is made again, and was alike on all ranks, starts anew; so does a list of what all ranks evaluated.
        """
        made = thing(kind, node, "", self.frame.receiver, self.frame.call)
        self.made_in.update((obj, tuple(a.fact.node for a in self.loops)) for obj in made.objs)
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
        value = self.under_condition(value)
        if obj.node is GLOBALS:
            self._put_by_text(name[2:-2], value)
            return
        added = value.extent in (Extent.MEAN, Extent.SUM)  # also of a tensor: a field is no step's own
        if (self.context.of_share and added) or (self.context.hooked and value.extent is Extent.MEAN):
            value = value.with_extent(Extent.VARYING)
        if name == "[]" and spread(value) is Extent.SAMPLES and self._goes_on(obj):
            value = kept(value)
        old = self.get(obj, name)
        several = name == "[]" and obj.kind == "dict"  # which may be those of other keys
        new = value if old is None else join(old, value, later=not (beside or several))
        self.facts.fields[obj, name] = new

    def _goes_on(self, obj: Obj) -> bool:
        """Does it hold what other turns have put into it, of their batches, which the ranks split unevenly?"""
        around = [a.fact.node for a in self.loops if self.shares(a) and not a.deals] if self.assumed.splits else []
        made = self.made_in.get(obj, around)
        return any(loop not in made for loop in around)

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
                found = found.with_extent(Extent.REPEATED) if self.gives_all(obj) else found
                result = found if result is None else join(result, found)
        for item in value.items or ():
            result = item if result is None else join(result, item)
        return result or ANYTHING

    def gives_all(self, generator: Obj) -> bool:
        """`list(predict(loader))`: no loop there deals out what is only evaluated, so each rank has all of it."""
        drawn = self.get(generator, "draws") if generator.kind == "generator" else None
        loaders = drawn.of("loader") if drawn is not None else frozenset[Obj]()
        self.facts.gone_through |= loaders
        return bool(loaders) and loaders <= self.assumed.unshared

    def held(self, value: Value, *, objects: bool = True) -> Extent:
        whole = value.objs and all(map(self.gives_all, value.objs))
        return Extent.REPEATED if whole else held(self.facts, value, objects=objects)

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

    def count_anew(self, loop: Loop) -> None:
        """What an object has counted before is not there any more."""
        for one in self.assumed.counting.get(loop, ()):
            for field_name, value in self.facts.fields.of(one.obj):
                if field_name in one.zeros:
                    self.facts.fields[one.obj, field_name] = value.with_extent(Extent.UNIFORM)

    def size(self, value: Value) -> Value:
        """How many samples of it this rank has."""
        why = {o.name for o in value.of(PLACED)}
        if self.alone(value) and not sizes_known(value):
            return Value(value.of(ONE), value.extent, number=True)
        if self.alone(value) or FIRST in why or (LAST in why and sizes_known(value)):
            return Value(number=True)  # a sample's features
        if LAST in why or some_by_place(value):
            return Value(extent=Extent.VARYING, number=True)
        known = not value.of(PICKED)
        unlike = bool(self.assumed.splits) and not self.deals()
        return Value(extent=Extent.SUM, equal=known and not self.deals(), size=known, batches=int(unlike), number=True)

    def alone(self, *values: Value) -> bool:
        """Is all that is of samples here one sample, in a loop over them that goes on?"""
        return any(a.fact.node is one.node for one in ones(values) for a in self.loops)

    def deals(self) -> bool:
        """Inside a loop whose batches are dealt out: their sizes differ between ranks."""
        return any(a.deals for a in self.loops)

    # loops around ---------------------------------------------------------------
    def shares(self, active: Active) -> bool:
        """Do its turns see this rank's share: of a loader, drawn by `next()`, or of a batch that is split?"""
        return active.shares or self.facts.draws_itself(active.fact)

    def sharing(self) -> bool:
        """Inside a loop over this rank's share?"""
        return any(map(self.shares, self.loops))

    def is_behind(self, values: Iterable[Value]) -> bool:
        """Samples of the last turn's batch, behind the loop, where nobody knows what a rank's mean counts in theirs.

        Where models split whole batches, what those have kept of a part, outside of them.
        """
        left = bool(self.assumed.splits) and not self.in_step()
        behind = left or (bool(self.assumed.joined) and not self.context.forward)
        return behind and not self.deals() and any(spread(v) is Extent.SAMPLES for v in values)

    def in_step(self) -> bool:
        """In a loop over batches, be they shared or not; or where a function splits those that it is given."""
        above = [[*self.program.ancestors(split.at)] for split in self.assumed.splits]
        loops = [next((a for a in one if isinstance(a, ast.For | ast.While)), None) for one in above]
        within = any(a.fact.node in loops or a.fact.loaders for a in self.loops)
        return within or None in loops or self.sharing()

    def in_forward(self) -> bool:
        """In what a model makes of a batch, following gradients: no loop over batches is in the same method."""
        own = any(a.fact.function is self.frame.node and (a.shares or a.fact.next_of) for a in self.loops)
        return self.context.forward and self.context.grad and not own

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

    def leave(self, by: type[ast.stmt]) -> None:
        """Some ranks do, where others may go on; an error that nobody catches ends them all."""
        around = self.context
        first = around.own_turns and by is not ast.Continue and self.sharing() and not self.deals()  # of its own
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
        fact.innermost.update([a.fact.node for a in self.loops if self.shares(a)][-1:])
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
