"""Where the abstract run is: the functions, loops and conditions around; what calls leave."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

from nbddp.analysis.values.domain import Extent, Obj, Value
from nbddp.analysis.values.facts import LoopFact, Pass

Env = dict[str, Value]
State = tuple[Env, list[Env]]  # of the cells, and of each function that runs


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
    receiver: Obj | None = None  # the object of whose class it is, or what called it
    around: Context | None = None  # under what it was called
    turns: Extent = Extent.UNIFORM  # of what it has as many as it has yielded
    missed: set[str] = field(default_factory=set)  # names that were read while they were not bound here


@dataclass
class Trace:
    """What a call leaves beside facts and names."""

    drawn: set[Obj] = field(default_factory=set)  # loaders that it draws from
    passes: set[Pass] = field(default_factory=set)  # of batches through models
    backward: set[int] = field(default_factory=set)  # how many `if` were around where it ran backward
    modules_run: int = 0  # calls of modules with gradients on


@dataclass(frozen=True)
class Remembered:
    """A call that changed nothing: this holds while the last change is the same, and the last name that was bound."""

    change: object
    rebound: object
    value: Value
    trace: Trace
    met: frozenset[Hashable]  # the loops of no batches around which it has been run so


@dataclass(frozen=True)
class Context:
    """Under what a statement runs: one label on a stack, never changed in its place."""

    turn: Obj | None = None  # of a comprehension over literals
    grad: bool = True
    perhaps_grad: bool = False  # gradients are on under a condition that is not known
    forward: bool = False  # in a call of a module
    opened: bool = False  # of one that has whole batches
    hooked: bool = False  # in a hook of one, whose means nobody weighs by the samples of a share
    conditions: int = 0  # how many `if` statements are around
    varying: bool = False  # conditions and loops that may go another way on another rank
    of_share: bool = False  # a condition that each rank decides by its share as a whole
    own_turns: bool = False  # conditions and loops by which one rank may come more often than another
    repeated: bool = False  # a condition on what each rank has whole: it may go another way by rounding or chance
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
