"""Files that seed where they are imported, after the notebook has: in the script they stand before all cells."""

from __future__ import annotations

from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.reading import seeds
from nbddp.analysis.syntax import Statement
from nbddp.diagnostics import Diagnostic
from nbddp.sentence import sentence


def seeded_by_files(plan: Plan, rule: str) -> Iterator[Diagnostic]:
    """`torch.manual_seed(42)` of a module, which one process runs behind the notebook's own seed."""
    for statement in (s for s in plan.kept if s.cell.file):
        streams, line = seeds(plan, statement.node, {}), _imported_at(plan, statement)
        if any(streams & seeds(plan, s.node, {}) for s in plan.kept if not s.cell.file and s.node.lineno < line):
            yield plan.program.diagnose(
                rule, "note", statement.node,
                sentence("the script runs this before all cells, and the notebook after it has seeded"),
                why=sentence("what is drawn later, such as the first weights, differs from the notebook's"),
                help=sentence("seed behind the import, too"),
            )  # fmt: skip


def _imported_at(plan: Plan, statement: Statement) -> int:
    """The first line of the cells at which something of its file is imported; 0 where another file imports it."""
    modules = ((line, one.text.split()[1]) for line, one in plan.program.brought_at())
    return min((line for line, module in modules if module == statement.cell.module), default=0)
