"""Run the kept statements in the abstract; again while evaluation loops turn out not to be shareable."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import replace

from nbddp.analysis.domain import Obj
from nbddp.analysis.expressions import library
from nbddp.analysis.facts import Facts, Loop
from nbddp.analysis.foreign import trained_on_foreign
from nbddp.analysis.machine import Machine
from nbddp.analysis.program import Program, Statement
from nbddp.analysis.roles import find_roles
from nbddp.analysis.statements import run_function, run_statement
from nbddp.analysis.training_loops import find_dealt, find_mixed, gradients_without_a_step
from nbddp.sentence import Sentence


def interpret(
    program: Program,
    imports: Mapping[str, str],
    kept: Iterable[Statement],
    shares: frozenset[ast.AST] = frozenset(),
    agreed: frozenset[ast.expr] = frozenset(),
    scaled: frozenset[ast.AST] = frozenset(),
    whole_sizes: frozenset[ast.AST] = frozenset(),
) -> Facts:
    """`shares` are batch sizes that stand for a rank's share of the batch, but for `whole_sizes`, places that read it;
    `agreed` are conditions that the ranks decide together, `scaled` sums that are multiplied by their number."""
    statements = list(kept)
    whole: dict[Loop, Sentence] = {}
    used_as: dict[ast.AST, str] = {}
    mixed: dict[Loop, frozenset[Obj]] = {}
    dealt: dict[Loop, frozenset[Obj]] = {}
    unsure: frozenset[Loop] = frozenset()
    unshared: frozenset[Obj] = frozenset()
    while True:
        machine = Machine(
            program,
            imports,
            mixed,
            whole,
            run_function,
            shares=shares,
            agreed=agreed,
            scaled=scaled,
            whole_sizes=whole_sizes,
            used_as=used_as,
            dealt=dealt,
            unsure=unsure,
            unshared=unshared,
        )
        facts = _once(machine, statements)
        used = facts.used_as | {o.node: "loader" for o in trained_on_foreign(facts)}
        if used.keys() - used_as.keys():
            used_as = used | used_as
            continue
        facts.keep_whole |= gradients_without_a_step(facts)
        new = {n: trained for n, trained in find_mixed(facts).items() if n not in mixed}
        if found := {n: trained for n, trained in find_dealt(facts).items() if n not in dealt}:
            dealt |= found
            unsure |= {node for node in found if facts.loops[node].perhaps and len(found[node]) > 1}
            continue
        apart = facts.drawn - find_roles(program, facts).training_loaders - unshared
        if not new and not facts.keep_whole.keys() - whole.keys() and not apart:
            facts.keep_whole, facts.mixed = whole, mixed
            return facts
        whole, mixed, unshared = whole | facts.keep_whole, mixed | new, unshared | apart


def _once(machine: Machine, statements: list[Statement]) -> Facts:
    for name in machine.program.needs:
        machine.globals[name] = library(name)
    machine.kept = {s.node for s in statements}
    for statement in statements:
        machine.at = statement.node
        run_statement(machine, statement.node)
        if statement.cell.mark == "parameters":
            _forget_literals(machine, statement.node)
    machine.facts.final = machine.globals
    return machine.facts


def _forget_literals(machine: Machine, node: ast.stmt) -> None:
    """The command line may give them other values."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and (value := machine.globals.get(part.id)) is not None:
            machine.globals[part.id] = replace(value, const=None)
