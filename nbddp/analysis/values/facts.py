"""What running the notebook in the abstract brings to light: loops, calls, loaders, and values at their places."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from nbddp.analysis.library import Gives, Samples, effect_of
from nbddp.analysis.values.domain import ANYTHING, Extent, Obj, Place, Value, is_sum_or_not, join
from nbddp.analysis.values.tracking import Tracked, TrackedDict, TrackedSet, TrackedSets, TrackedState
from nbddp.sentence import Sentence

K = TypeVar("K")
Loop = ast.For | ast.AsyncFor | ast.While | ast.comprehension | ast.stmt  # a step outside of loops is its own


class Pass(NamedTuple):
    """A batch that a model is given."""

    model: Obj
    awake: bool  # in training mode
    of_part: bool  # of a rank's own samples


class SeenValues(TrackedDict[K, Value]):
    """What something stood for, over all the times that it was seen."""

    def see(self, key: K, value: Value) -> None:
        old = self.get(key)
        new = value if old is None else join(old, value)
        if new is not old:
            self[key] = new

    def see_all(self, names: Mapping[K, Value]) -> None:
        if not self:
            self.update(names)
        for name, value in names.items():
            if self.get(name) is not value:
                self.see(name, value)


class Fields(TrackedState[tuple[Obj, str], Value]):
    """What things hold, by their names; of one thing without looking at all."""

    def __init__(self) -> None:
        super().__init__()
        self._of: dict[Obj, dict[str, Value]] = {}

    def of(self, *things: Obj) -> list[tuple[str, Value]]:
        return [held for thing in things for held in self._of.get(thing, {}).items()]

    def __setitem__(self, key: tuple[Obj, str], value: Value) -> None:
        super().__setitem__(key, value)
        self._of.setdefault(key[0], {})[key[1]] = value

    def __delitem__(self, key: tuple[Obj, str]) -> None:
        super().__delitem__(key)
        del self._of[key[0]][key[1]]


@dataclass(eq=False)
class LoopFact(Tracked):
    """One loop of the text, over all the times that it is reached."""

    node: Loop

    # Where it stands.
    function: ast.AST | None = None
    parents: set[Loop] = field(default_factory=TrackedSet)
    names: SeenValues[str] = field(default_factory=SeenValues)  # what names stood for where the loop was reached
    sometimes: set[str] = field(default_factory=TrackedSet)  # names that were not there each time

    # What it draws from.
    loaders: set[Obj] = field(default_factory=TrackedSet)
    loader_nodes: set[ast.expr] = field(default_factory=TrackedSet)  # the expressions that are the loaders
    next_of: set[Obj] = field(default_factory=TrackedSet)  # loaders drawn from by next() inside
    divides: bool = False  # each turn has a batch of which this rank takes a part
    indirect: set[Obj] = field(default_factory=TrackedSet)  # loaders drawn from by a generator, islice() or cycle()
    foreign: set[Obj] = field(default_factory=TrackedSet)  # things of modules that are not read, over which it runs
    opaque: bool = False  # iterates something that is not understood
    cut: bool = False  # what it sees may be more, less or other than the loader's batches
    named: bool = False  # over names or things: phases, folds, models
    lazy: bool = False  # in a generator: it runs in step with another loop

    # What happens inside, or in what is called there.
    backward: bool = False
    step: bool = False
    toggles: bool = False  # train() or eval() is called
    chosen: set[str] = field(default_factory=TrackedSet)  # bound under a condition that each rank has for its own share

    # Its loaders, by what it did with them each time.
    trained: set[Obj] = field(default_factory=TrackedSet)  # backward surely ran
    perhaps: set[Obj] = field(default_factory=TrackedSet)  # it ran under a condition
    watched: set[Obj] = field(default_factory=TrackedSet)  # it did not run


@dataclass(frozen=True)
class Reduction:
    """A name that a loop leaves with this rank's share, put right behind the loop."""

    loop: Loop
    name: str
    how: str  # "mean" | "sum" | "gather" | "gather_samples" | "gather_batches" | "gather_part"
    in_place: bool = False  # a list that others may hold: changed in place
    number: bool = False  # surely a Python number
    parts: bool = False  # a count: each rank has added up even shares, which are no whole numbers
    assumed: bool = False  # of what is taken for a mean over the batch, since it was weighted by its size


@dataclass(eq=False)
class CallFact(Tracked):
    """One call of the text, over all the times that it is reached."""

    node: ast.Call
    args: SeenValues[int | str] = field(default_factory=SeenValues)

    # What is called.
    names: set[str] = field(default_factory=TrackedSet)  # library functions, by their qualified names
    called: set[Obj] = field(default_factory=TrackedSet)  # functions, models and losses
    receivers: set[Obj] = field(default_factory=TrackedSet)  # things whose method it is
    methods: set[tuple[str, Obj]] = field(default_factory=TrackedSet)  # of the notebook's classes, with the instance
    bodies: set[ast.AST] = field(default_factory=TrackedSet)  # functions and methods of the notebook that it runs
    optimizers: set[Obj] = field(default_factory=TrackedSet)

    # What it does.
    made: set[Obj] = field(default_factory=TrackedSet)  # instances
    joined: SeenValues[str] = field(default_factory=SeenValues)  # what a model makes of a part, before it is joined
    runs_modules: bool = False  # a method of the notebook that computes with the model's parameters

    # Where it is reached.
    loops: set[Loop] = field(default_factory=TrackedSet)  # the loops around it, also those of callers
    innermost: set[Loop] = field(default_factory=TrackedSet)  # of the loops over shares around, the last one each time
    grad: bool = False  # with gradients on
    taped: set[Loop] = field(default_factory=TrackedSet)  # the loops around where they were
    untaped: set[Loop] = field(default_factory=TrackedSet)  # and where they were not
    no_grad: bool = False  # with gradients off, or under a condition that may turn them off
    awake: bool = False  # when a model that it calls is not in evaluation mode
    in_forward: bool = True  # only ever from inside a model's forward
    ever_in_forward: bool = False
    varying_control: bool = False  # whether it runs may differ between ranks
    apart: bool = False  # or how often, by what each has of its share as a whole
    visible: SeenValues[str] = field(default_factory=SeenValues)  # for backward(): what names stood for


@dataclass(eq=False)
class TestFact(Tracked):
    """One condition, over all the times that it is asked."""

    node: ast.expr
    loops: set[Loop] = field(default_factory=TrackedSet)
    alone: bool = False  # asked where not all ranks may come: under a condition of one rank, or inside of a model
    caught: bool = False  # by an `assert` whose error leads to something else


@dataclass(eq=False)
class Facts(Tracked):
    # By their place in the text.
    values: SeenValues[ast.AST] = field(default_factory=SeenValues)
    loops: dict[Loop, LoopFact] = field(default_factory=TrackedDict)
    calls: dict[ast.Call, CallFact] = field(default_factory=TrackedDict)
    tests: dict[ast.expr, TestFact] = field(default_factory=TrackedDict)
    backward: set[ast.Call] = field(default_factory=TrackedSet)
    given_unclear: set[ast.Call] = field(default_factory=TrackedSet)  # of models, with what is not seen to be samples
    chosen_apart: set[ast.Call] = field(default_factory=TrackedSet)  # of functions, by what a rank has seen
    moved: set[ast.AST] = field(default_factory=TrackedSet)  # parts of a model that a step changes by hand
    moved_apart: set[ast.expr] = field(default_factory=TrackedSet)  # parts of a model, by numbers of a rank's share
    reached: set[ast.AST] = field(default_factory=TrackedSet)  # functions whose body was run
    undefined: dict[str, ast.Name] = field(default_factory=TrackedDict)
    starred: dict[str, ast.Name] = field(default_factory=TrackedDict)  # in a module that nobody reads, if at all
    exhausted: ast.AST | None = None  # where the run was given up: what is left is not understood

    # Things, and what they hold.
    fields: Fields = field(default_factory=Fields)
    stores: dict[ast.Subscript, set[Obj]] = field(default_factory=TrackedSets)  # items that are set, added to, deleted
    classes: dict[Obj, ast.ClassDef] = field(default_factory=TrackedDict)  # the class of an instance
    contained: dict[Obj, set[Obj]] = field(default_factory=TrackedSets)  # a module inside other modules
    used_as: dict[ast.AST, str] = field(default_factory=TrackedDict)  # what foreign things are: loader, model
    final: dict[str, Value] = field(default_factory=TrackedDict)  # what the names of the cells stand for at the end

    # Loaders and models.
    gone_through: set[Obj] = field(default_factory=TrackedSet)  # loaders of generators that no loop goes through
    drawn: dict[ast.Call, set[Obj]] = field(default_factory=TrackedSets)  # loaders that a next() gets a batch of
    passes: dict[ast.AST, set[Pass]] = field(default_factory=TrackedSets)  # of models, in a cell's statement or a call
    changed: dict[Obj, set[Loop]] = field(default_factory=TrackedSets)  # models moved by hand, with the loops around

    # What loops over shares leave behind.
    reductions: dict[tuple[Loop, str], Reduction] = field(default_factory=TrackedDict)
    # combined in each step: what goes in, and by which part
    at_source: dict[tuple[Loop, str], tuple[tuple[ast.expr, str], ...]] = field(default_factory=TrackedDict)
    unreduced: dict[tuple[Loop, str], Extent] = field(default_factory=TrackedDict)
    held: dict[ast.AST, Extent] = field(default_factory=TrackedDict)  # what lists have in them where they are read
    keep_whole: dict[Loop, Sentence] = field(default_factory=TrackedDict)  # evaluations that all ranks run whole; why
    not_sums: set[ast.AST] = field(default_factory=TrackedSet)  # of those to be scaled, what is no sum at some time

    against_statistic: set[ast.AST] = field(default_factory=TrackedSet)  # where samples meet one of their batch
    out_of_proportion: set[ast.AST] = field(default_factory=TrackedSet)  # where gradients of a share are changed so
    given_statistic: set[ast.AST] = field(default_factory=TrackedSet)  # the first that is given what did so
    meets: dict[ast.AST, set[frozenset[Place]]] = field(default_factory=TrackedSets)  # others, as dimensions differ
    ranks: dict[Hashable, set[int]] = field(default_factory=TrackedSets)  # how many of them layers take
    divided: set[ast.expr] = field(default_factory=TrackedSet)  # by what, in a step that all ranks take together
    divided_apart: set[ast.expr] = field(default_factory=TrackedSet)  # by what, where they do not, or it is no sum

    def see(self, node: ast.AST, value: Value) -> None:
        old = self.values.get(node)
        if old is not None and is_sum_or_not(old, value):
            value = value.with_extent(Extent.VARYING)  # `def report(count)`, given a sum of the share, and an epoch
        self.values.see(node, value)

    def value(self, node: ast.AST) -> Value:
        return self.values.get(node, ANYTHING)

    def is_loss(self, node: ast.AST) -> bool:
        """`F.cross_entropy(out, y)`, `criterion(out, y)`."""
        if not isinstance(node, ast.Call) or node not in self.calls:
            return False
        named = any(effect_of(n).samples is Samples.LOSS for n in self.calls[node].names)
        return named or bool(self.value(node.func).of("loss"))

    def rows_given(self, call: ast.Call) -> int:
        """How many arguments of a loss have a row for each sample, where these are more than two that are alike."""
        names = self.calls[call].names | {o.name for o in self.value(call.func).of("loss")}
        return max((effect_of(name).rows or 0 for name in names), default=0)

    def counts(self, node: ast.AST) -> bool:
        """`range(10)`, `tqdm(range(10))`."""
        if not isinstance(node, ast.Call) or node not in self.calls:
            return False
        return any(effect_of(n).counts for n in self.calls[node].names) or any(map(self.counts, node.args[:1]))

    def numbers(self, node: ast.AST) -> bool:
        """`range(10)`, `tqdm(range(10))`: Python's own, as `torch.arange(10)` gives none."""
        if not isinstance(node, ast.Call) or node not in self.calls:
            return False
        names = self.calls[node].names
        if any(effect_of(n).counts for n in names):
            return not any(n.startswith("torch.") for n in names)
        turns = bool(names) and all(effect_of(n).gives is Gives.TURNS for n in names)
        return turns and any(map(self.numbers, node.args[:1]))

    def contents(self, value: Value) -> Iterator[Value]:
        """What lists and dictionaries hold, also those in a tuple."""
        yield from (item for item in value.items or () if item.of("list", "dict"))
        held = (self.fields.get((obj, "[]")) for obj in value.of("list", "dict"))
        yield from (inner for inner in held if inner is not None)

    @property
    def among_samples(self) -> set[ast.AST]:
        """Where a sample meets a statistic of its batch."""
        return self.against_statistic or self.given_statistic

    def draws_itself(self, fact: LoopFact) -> bool:
        """By `next()`, and in no loop inside, or where the batch is divided that these train on several times."""
        inner = (f for f in self.loops.values() if f.next_of and fact.node in f.parents)
        return bool(fact.next_of) and (fact.divides or not any(inner))

    def with_parts(self, models: Set[Obj]) -> set[Obj]:
        """The modules, and those inside of them."""
        found = {*models}
        while more := {part for part, holders in self.contained.items() if holders & found} - found:
            found |= more
        return found

    def roots(self, model: Obj) -> set[Obj]:
        """The outermost modules that hold this one; itself where none does."""
        found, seen, todo = set(), set(), [model]
        while todo:
            one = todo.pop()
            if one in seen:
                continue
            seen.add(one)
            parents = self.contained.get(one, set()) - {one}
            todo.extend(parents)
            if not parents:
                found.add(one)
        return found or {model}
