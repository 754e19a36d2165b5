"""Run the kept statements in the abstract under assumptions; again with what a run has found, until nothing is new."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from nbddp.analysis.combining import leave_loop
from nbddp.analysis.evaluator import call, comprehension_loops, library, run_block, run_function, run_statement
from nbddp.analysis.reading.roles import Roles, find_roles
from nbddp.analysis.reading.training_loops import find_dealt, find_mixed, gradients_without_a_step
from nbddp.analysis.slicing import Flow, Slice
from nbddp.analysis.syntax import Program, Statement, walk
from nbddp.analysis.values import Assumptions, Facts, Machine, Steps, trained_on_foreign
from nbddp.diagnostics import CannotExport, Diagnostic
from nbddp.sentence import sentence

STEPS = Steps(run_block, run_function, call, comprehension_loops, leave_loop)
RUNS = 100  # of one notebook: each adds to what is assumed, real ones need ten at most

R = TypeVar("R", bound="Run")


@dataclass(frozen=True, eq=False)
class Run:
    """The statements that the training needs, run once: under what, and what that has shown."""

    program: Program
    flow: Flow
    slice: Slice
    facts: Facts = field(default_factory=Facts)
    assumed: Assumptions = field(default_factory=Assumptions)

    @cached_property
    def kept(self) -> tuple[Statement, ...]:
        return tuple(self.program.statements[i] for i in self.slice.kept)

    @cached_property
    def roles(self) -> Roles:
        return find_roles(self.program, self.facts, self.assumed.whole)

    def under(self: R, assumed: Assumptions) -> R:
        """Run once more, with that taken for granted."""
        machine = Machine(self.program, self.flow.imports, STEPS, assumed)
        return replace(self, assumed=assumed, facts=interpret(machine, self.kept))


def settled(run: R, derived: Iterable[Callable[[R], Assumptions]]) -> R:
    """Where none of these has anything to add; asked in their order, since what a later one adds may hang on it."""
    for _ in range(RUNS):
        more = (new for derive in derived if (new := derive(run)) is not run.assumed)
        if (assumed := next(more, None)) is None:
            return run
        run = run.under(assumed)
    raise CannotExport([_too_complex(run.program, run.kept[-1].node)])


def used_as(run: Run) -> Assumptions:
    """What things of modules that are not read turn out to be."""
    used = run.facts.used_as | {o.node: "loader" for o in trained_on_foreign(run.facts)}
    known = run.assumed.used_as
    return replace(run.assumed, used_as={**used, **known}) if used.keys() - known.keys() else run.assumed


def dealt(run: Run) -> Assumptions:
    """Comprehensions that train."""
    found = {n: trained for n, trained in find_dealt(run.facts).items() if n not in run.assumed.dealt}
    unsure = {node for node in found if run.facts.loops[node].perhaps and len(found[node]) > 1}
    more = replace(run.assumed, dealt={**run.assumed.dealt, **found}, unsure=run.assumed.unsure | unsure)
    return more if found else run.assumed


def whole(run: Run) -> Assumptions:
    """Evaluations that each rank runs on all data, loops that are one only at times, loaders on which none trains."""
    known, found = run.assumed, run.facts.keep_whole | gradients_without_a_step(run.facts)
    mixed = {n: trained for n, trained in find_mixed(run.facts, found).items() if n not in known.mixed}
    drawn = {o for loaders in (*run.facts.drawn.values(), run.facts.gone_through) for o in loaders}
    apart = drawn - find_roles(run.program, run.facts, found).training_loaders - known.unshared
    if not (mixed or found.keys() - known.whole.keys() or apart):
        return known
    all_whole, all_mixed = {**known.whole, **found}, {**known.mixed, **mixed}
    return replace(known, whole=all_whole, mixed=all_mixed, unshared=known.unshared | apart)


FOUND: Sequence[Callable[[Run], Assumptions]] = (used_as, dealt, whole)  # by the run alone


def interpret(machine: Machine, kept: Iterable[Statement]) -> Facts:
    """One run, from the first statement to the last."""
    statements = list(kept)
    for name in machine.program.needs:
        machine.globals[name] = library(name)
    machine.kept = {s.node for s in statements}
    for statement in statements:
        machine.at = statement.node
        run_statement(machine, statement.node)
        if statement.cell.mark == "parameters":
            _forget_literals(machine, statement.node)
    if machine.facts.exhausted is not None:  # what it has not come to is not understood: no rule may go by it
        raise CannotExport([_too_complex(machine.program, machine.facts.exhausted)])
    machine.facts.final = machine.globals
    return machine.facts


def _too_complex(program: Program, node: ast.AST) -> Diagnostic:
    return program.diagnose(
        "refuse", "error", node, sentence("the notebook is too complex for nbddp to analyse to its end"),
        help=sentence("mark the cells that matter, or put the training into a function"),
    )  # fmt: skip


def _forget_literals(machine: Machine, node: ast.stmt) -> None:
    """The command line may give them other values."""
    for part in walk(node):
        if isinstance(part, ast.Name) and (value := machine.globals.get(part.id)) is not None:
            machine.globals[part.id] = replace(value, const=None)
