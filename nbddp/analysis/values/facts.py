"""What running the notebook in the abstract brings to light: loops, calls, loaders, and values at their places."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from nbddp.analysis.values.domain import ANYTHING, Extent, Obj, Value, join
from nbddp.sentence import Sentence

Loop = ast.For | ast.AsyncFor | ast.While | ast.comprehension


@dataclass(eq=False)
class LoopFact:
    """One loop of the text, over all the times that it is reached."""

    node: Loop

    # Where it stands.
    function: ast.AST | None = None
    parents: set[Loop] = field(default_factory=set)
    names: dict[str, Value] = field(default_factory=dict)  # what names stood for where the loop was reached

    # What it draws from.
    loaders: set[Obj] = field(default_factory=set)
    loader_nodes: set[ast.expr] = field(default_factory=set)  # the expressions that are the loaders
    next_of: set[Obj] = field(default_factory=set)  # loaders drawn from by next() inside
    indirect: set[Obj] = field(default_factory=set)  # loaders drawn from through a generator, islice() or cycle()
    foreign: set[Obj] = field(default_factory=set)  # things of modules that are not read, over which it runs
    opaque: bool = False  # iterates something that is not understood
    varying_iterable: bool = False
    cut: bool = False  # what it sees may be more, less or other than the loader's batches
    named: bool = False  # over names or things: phases, folds, models
    lazy: bool = False  # in a generator: it runs in step with another loop

    # What happens inside, or in what is called there.
    backward: bool = False
    conditional: bool = False  # backward runs under an `if` inside: not at every turn, or not for every loader
    step: bool = False
    toggles: bool = False  # train() or eval() is called
    chosen: set[str] = field(default_factory=set)  # bound under a condition that each rank has for its own share

    # Its loaders, by what it did with them each time.
    trained: set[Obj] = field(default_factory=set)  # backward surely ran
    perhaps: set[Obj] = field(default_factory=set)  # it ran under a condition
    watched: set[Obj] = field(default_factory=set)  # it did not run


@dataclass(frozen=True)
class Reduction:
    """A name that a loop leaves with this rank's share, put right behind the loop."""

    loop: Loop
    name: str
    how: str  # "mean" | "sum" | "gather" | "gather_samples" | "gather_batches"
    in_place: bool = False  # a list that others may hold: changed in place
    number: bool = False  # surely a Python number
    assumed: bool = False  # of what is taken for a mean over the batch, since it was weighted by its size


@dataclass(eq=False)
class CallFact:
    """One call of the text, over all the times that it is reached."""

    node: ast.Call
    args: dict[int | str, Value] = field(default_factory=dict)

    # What is called.
    names: set[str] = field(default_factory=set)  # library functions, by their qualified names
    called: set[Obj] = field(default_factory=set)  # functions, models and losses
    receivers: set[Obj] = field(default_factory=set)  # things whose method it is
    methods: set[tuple[str, Obj]] = field(default_factory=set)  # of the notebook's classes, with the instance
    bodies: set[ast.AST] = field(default_factory=set)  # functions and methods of the notebook that it runs
    optimizers: set[Obj] = field(default_factory=set)

    # What it does.
    made: set[Obj] = field(default_factory=set)  # instances
    runs_modules: bool = False  # a method of the notebook that computes with the model's parameters

    # Where it is reached.
    loops: set[Loop] = field(default_factory=set)  # the loops around it, also those of callers
    grad: bool = False  # with gradients on
    no_grad: bool = False  # with gradients off, or under a condition that may turn them off
    awake: bool = False  # when a model that it calls is not in evaluation mode
    in_forward: bool = True  # only ever from inside a model's forward
    ever_in_forward: bool = False
    varying_control: bool = False  # whether it runs may differ between ranks
    visible: dict[str, Value] = field(default_factory=dict)  # for backward(): what names stood for


@dataclass(eq=False)
class TestFact:
    """One condition, over all the times that it is asked."""

    node: ast.expr
    loops: set[Loop] = field(default_factory=set)
    alone: bool = False  # asked where not all ranks may come: under a condition of one rank, or inside of a model


@dataclass(eq=False)
class Facts:
    # By their place in the text.
    values: dict[ast.AST, Value] = field(default_factory=dict)
    loops: dict[Loop, LoopFact] = field(default_factory=dict)
    calls: dict[ast.Call, CallFact] = field(default_factory=dict)
    tests: dict[ast.expr, TestFact] = field(default_factory=dict)
    backward: set[ast.Call] = field(default_factory=set)
    reached: set[ast.AST] = field(default_factory=set)  # functions whose body was run
    undefined: dict[str, ast.Name] = field(default_factory=dict)
    exhausted: bool = False  # the run was given up: what is left is not understood

    # Things, and what they hold.
    fields: dict[tuple[Obj, str], Value] = field(default_factory=dict)
    classes: dict[Obj, ast.ClassDef] = field(default_factory=dict)  # the class of an instance
    contained: dict[Obj, set[Obj]] = field(default_factory=dict)  # a module inside other modules
    used_as: dict[ast.AST, str] = field(default_factory=dict)  # what foreign things turn out to be: loader, model
    final: dict[str, Value] = field(default_factory=dict)  # what the names of the cells stand for at the end

    # Loaders and models.
    drawn: set[Obj] = field(default_factory=set)  # loaders that next() gets a batch of
    passes: dict[ast.stmt, set[Obj]] = field(default_factory=dict)  # models in training mode that a statement calls
    changed: dict[Obj, set[Loop]] = field(default_factory=dict)  # models moved by hand, with the loops around

    # What loops over shares leave behind.
    reductions: dict[tuple[Loop, str], Reduction] = field(default_factory=dict)
    at_source: dict[tuple[Loop, str], tuple[tuple[ast.expr, str], ...]] = field(
        default_factory=dict
    )  # combined in each step: what goes in, and by which part
    unreduced: dict[tuple[Loop, str], Extent] = field(default_factory=dict)
    keep_whole: dict[Loop, Sentence] = field(default_factory=dict)  # evaluations that each rank runs whole, and why
    mixed: dict[Loop, frozenset[Obj]] = field(
        default_factory=dict
    )  # loops that also evaluate: the loaders they train on
    not_sums: set[ast.AST] = field(default_factory=set)  # of those to be scaled, what is no sum at some time

    def see(self, node: ast.AST, value: Value) -> None:
        old = self.values.get(node)
        self.values[node] = value if old is None else join(old, value)

    def value(self, node: ast.AST) -> Value:
        return self.values.get(node, ANYTHING)

    def draws_itself(self, fact: LoopFact) -> bool:
        """By `next()`, and in no loop inside."""
        return bool(fact.next_of) and not any(f.next_of and fact.node in f.parents for f in self.loops.values())

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
