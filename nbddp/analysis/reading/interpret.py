"""Run the kept statements in the abstract; again while evaluation loops turn out not to be shareable."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import replace

from nbddp.analysis.combining import leave_loop
from nbddp.analysis.evaluator import call, comprehension_loops, library, run_block, run_function, run_statement
from nbddp.analysis.reading.roles import find_roles
from nbddp.analysis.reading.training_loops import find_dealt, find_mixed, gradients_without_a_step
from nbddp.analysis.syntax import Program, Statement, walk
from nbddp.analysis.values import Assumptions, Facts, Machine, Steps, trained_on_foreign
from nbddp.diagnostics import CannotExport, Diagnostic
from nbddp.sentence import sentence

STEPS = Steps(run_block, run_function, call, comprehension_loops, leave_loop)


def interpret(
    program: Program, imports: Mapping[str, str], kept: Iterable[Statement], assumed: Assumptions | None = None
) -> Facts:
    """Again with what each run has found, until nothing new is found; of `assumed`, what the script will do counts."""
    assumed = assumed or Assumptions()
    statements = list(kept)
    while True:
        facts = _once(Machine(program, imports, STEPS, assumed), statements)
        found = _found(program, facts, assumed)
        if found is assumed:
            facts.keep_whole, facts.mixed = dict(assumed.whole), dict(assumed.mixed)
            return facts
        assumed = found


def _found(program: Program, facts: Facts, assumed: Assumptions) -> Assumptions:
    """What a run adds to what it has assumed: one kind of thing at a time, since the next may hang on it."""
    used = facts.used_as | {o.node: "loader" for o in trained_on_foreign(facts)}
    if used.keys() - assumed.used_as.keys():
        return replace(assumed, used_as=used | dict(assumed.used_as))
    facts.keep_whole |= gradients_without_a_step(facts)
    mixed = {n: trained for n, trained in find_mixed(facts).items() if n not in assumed.mixed}
    if dealt := {n: trained for n, trained in find_dealt(facts).items() if n not in assumed.dealt}:
        unsure = {node for node in dealt if facts.loops[node].perhaps and len(dealt[node]) > 1}
        return replace(assumed, dealt=dict(assumed.dealt) | dealt, unsure=assumed.unsure | unsure)
    apart = facts.drawn - find_roles(program, facts).training_loaders - assumed.unshared
    if not mixed and not facts.keep_whole.keys() - assumed.whole.keys() and not apart:
        return assumed
    return replace(
        assumed,
        whole=dict(assumed.whole) | facts.keep_whole,
        mixed=dict(assumed.mixed) | mixed,
        unshared=assumed.unshared | apart,
    )


def _once(machine: Machine, statements: list[Statement]) -> Facts:
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
