"""The plan of an export: all that the rules need to know, and what was found wrong on the way."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from nbddp.analysis.facts import CallFact, Facts, Loop
from nbddp.analysis.find import training_statements
from nbddp.analysis.frameworks import Use, find_uses
from nbddp.analysis.interpret import interpret
from nbddp.analysis.naming import Naming, naming_for
from nbddp.analysis.program import Program, Statement, build_program
from nbddp.analysis.roles import Roles, find_roles
from nbddp.analysis.slice import Flow, Slice, backward_slice, build_flow
from nbddp.analysis.taking_over import Taken, take_over, training_of
from nbddp.analysis.training_cell import choose_training_cell, with_line
from nbddp.diagnostics import CannotExport, Diagnostic
from nbddp.notebook import Notebook
from nbddp.options import Options

if TYPE_CHECKING:
    from nbddp.analysis.decisions import Decision
    from nbddp.analysis.epochs import Epochs
    from nbddp.analysis.preparation import Preparation
    from nbddp.analysis.sharding import Sharding
    from nbddp.analysis.wrapping import Wrapping
    from nbddp.analysis.writing import Writing


@dataclass(frozen=True, eq=False)
class Plan:
    notebook: Notebook
    options: Options
    program: Program
    flow: Flow
    slice: Slice
    facts: Facts
    roles: Roles
    naming: Naming
    training_cell: int
    handed_over: tuple[str, ...] = ()  # names whose values the notebook hands over
    found: tuple[Diagnostic, ...] = ()  # on the way here
    shares: frozenset[ast.AST] = frozenset()  # batch sizes that become the rank's share, or places that say it
    whole_sizes: frozenset[ast.AST] = frozenset()  # where they are the batch size of one process all the same
    agreed: frozenset[ast.expr] = frozenset()  # conditions that the ranks decide together
    scaled: frozenset[ast.AST] = frozenset()  # sums in losses that are multiplied by the number of ranks

    @cached_property
    def kept(self) -> tuple[Statement, ...]:
        return tuple(self.program.statements[i] for i in self.slice.kept)

    @cached_property
    def training(self) -> tuple[Statement, ...]:
        """The kept statements that train."""
        own = {s.index for s in training_statements(self.flow)}
        return tuple(s for s in self.kept if s.index in own)

    @cached_property
    def framework(self) -> Use | None:
        """What the training is left to, where the notebook does not train by hand."""
        return next(iter(find_uses(tuple(self.nodes()), self.flow.imports)), None)

    @cached_property
    def _top_level(self) -> dict[ast.AST, Statement]:
        return {s.node: s for s in self.kept}

    @cached_property
    def preparation(self) -> Preparation:
        from nbddp.analysis.preparation import find_preparation

        return find_preparation(self)

    @cached_property
    def sharding(self) -> Sharding:
        from nbddp.analysis.sharding import find_sharding

        return find_sharding(self)

    @cached_property
    def dealt(self) -> frozenset[Loop]:
        """Evaluation loops whose batches are dealt out: ranks go through them at their own pace."""
        return frozenset(f.node for f in self.roles.evaluation_loops if f.node not in self.facts.keep_whole)

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        from nbddp.analysis.decisions import find_decisions

        return find_decisions(self)

    @cached_property
    def epochs(self) -> Epochs:
        from nbddp.analysis.epochs import find_epochs

        return find_epochs(self)

    @cached_property
    def wrapping(self) -> Wrapping:
        from nbddp.analysis.wrapping import find_wrapping

        return find_wrapping(self)

    @cached_property
    def writing(self) -> Writing:
        from nbddp.analysis.writing import find_writing

        return find_writing(self)

    @cached_property
    def uses_gpu(self) -> bool:
        from nbddp.analysis.devices import uses_gpu

        return self.framework is not None or uses_gpu(self)

    def nodes(self) -> Iterator[ast.AST]:
        """Every node of the kept code."""
        for statement in self.kept:
            yield from ast.walk(statement.node)

    def calls(self, *names: str) -> Iterator[CallFact]:
        """Calls of library functions by their qualified names, in the order of the text."""
        found = [c for c in self.facts.calls.values() if c.names & set(names)]
        yield from sorted(found, key=lambda c: (c.node.lineno, c.node.col_offset))

    def top_level(self, node: ast.AST) -> Statement | None:
        """The kept top-level statement that holds a node."""
        while node not in self._top_level:
            parent = self.program.parents.get(node)
            if parent is None:
                return None
            node = parent
        return self._top_level[node]

    def is_print(self, node: ast.stmt) -> bool:
        call = node.value if isinstance(node, ast.Expr) else None
        return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print"

    def rank(self, node: ast.AST) -> str:
        """How code at the node asks for its rank: a variable of `train`, or the process group."""
        inside = self.program.function_of(node) is not None
        return f"{self.naming('dist')}.get_rank()" if inside else self.naming("rank")


def make_plan(notebook: Notebook, options: Options, own_imports: Mapping[str, str] | None = None) -> Plan:
    """Read what the notebook means; raises CannotExport where nothing can be trained from it.

    `own_imports` are the names that the script imports for itself, and what they stand for.
    """
    program = build_program(notebook)
    flow = build_flow(program)
    cell = choose_training_cell(flow, options)
    options = with_line(notebook, cell, options)
    found = backward_slice(flow, training_of(flow, cell))
    taken = Taken(flow, found)
    if options.snapshot:
        taken = take_over(flow, found, options.snapshot, cell)
        program, flow, found = taken.flow.program, taken.flow, taken.slice
    kept = [program.statements[i] for i in found.kept]
    facts = interpret(program, flow.imports, kept)
    from nbddp.analysis.batch_sizes import shared_numbers, whole_numbers

    nodes: list[ast.stmt] = [s.node for s in kept]
    roles = find_roles(program, facts)
    naming = naming_for(program, nodes, flow.imports, own_imports or {})
    plan = Plan(program.notebook, options, program, flow, found, facts, roles, naming, cell, taken.names, taken.notes)
    if plan.framework is not None:
        return plan
    shares = shared_numbers(plan)
    if shares:
        plan = _again(replace(plan, whole_sizes=whole_numbers(plan)), shares=shares)
    plan = _with_sums_scaled(plan)
    while not (tests := frozenset(d.test for d in plan.decisions)) <= plan.agreed:
        plan = _again(plan, agreed=plan.agreed | tests)
    return plan if options.snapshot else replace(plan, found=(*plan.found, *_found_before(plan)))


def _found_before(plan: Plan) -> Iterator[Diagnostic]:
    from nbddp.analysis.warming import passes_left_out

    yield from passes_left_out(plan)


def _with_sums_scaled(plan: Plan) -> Plan:
    """Where a loss adds a sum to something else: as it is where that does not make a mean of it."""
    from nbddp.analysis.scaling import add_up, unlike_terms

    found = plan
    while not (terms := unlike_terms(found)) <= found.scaled:
        found = _again(found, scaled=found.scaled | terms)
    return found if add_up(found) else plan


def _again(
    plan: Plan,
    *,
    shares: frozenset[ast.AST] | None = None,
    agreed: frozenset[ast.expr] | None = None,
    scaled: frozenset[ast.AST] | None = None,
) -> Plan:
    """Follow the notebook once more, with what has been found about it."""
    shares = plan.shares if shares is None else shares
    agreed = plan.agreed if agreed is None else agreed
    scaled = plan.scaled if scaled is None else scaled
    facts = interpret(plan.program, plan.flow.imports, plan.kept, shares, agreed, scaled, plan.whole_sizes)
    roles = find_roles(plan.program, facts)
    return replace(plan, facts=facts, roles=roles, shares=shares, agreed=agreed, scaled=scaled)


__all__ = ["CannotExport", "Plan", "make_plan"]
