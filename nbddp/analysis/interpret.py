"""Run the kept statements in the abstract; again while evaluation loops turn out not to be shareable."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from nbddp.analysis.expressions import library
from nbddp.analysis.facts import Facts, Loop
from nbddp.analysis.machine import Machine
from nbddp.analysis.program import Program, Statement
from nbddp.analysis.statements import run_function, run_statement


def interpret(
    program: Program,
    imports: Mapping[str, str],
    kept: Iterable[Statement],
    shares: frozenset[ast.AST] = frozenset(),
    agreed: frozenset[ast.expr] = frozenset(),
) -> Facts:
    """`shares` are literal batch sizes that stand for a rank's share of the batch, `agreed` are conditions that the
    ranks decide together."""
    statements = list(kept)
    whole: dict[Loop, str] = {}
    while True:
        facts = _once(Machine(program, imports, whole, run_function, shares=shares, agreed=agreed), statements)
        if not facts.keep_whole.keys() - whole.keys():
            facts.keep_whole = whole
            return facts
        whole = whole | facts.keep_whole


def _once(machine: Machine, statements: list[Statement]) -> Facts:
    for name in machine.program.needs:
        machine.globals[name] = library(name)
    machine.kept = {s.node for s in statements}
    for statement in statements:
        run_statement(machine, statement.node)
    machine.facts.final = machine.globals
    return machine.facts
