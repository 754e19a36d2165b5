"""The texts that run: a script, or the notebook's own cells on one process, each with the probe's line in it."""

from __future__ import annotations

import ast
import copy
import json
import re
from collections.abc import Mapping, Set
from dataclasses import asdict, dataclass, field
from pathlib import Path

from nbddp.analysis import Plan
from nbddp.analysis.disk import folder_changes

ROOT = Path(__file__).resolve().parents[2]
GUARD = re.compile(r"^if __name__ == ['\"]__main__['\"]:", re.MULTILINE)
AS_IN_A_KERNEL = "import sys\nsys.path.insert(0, '')"  # modules are found where it is by then


@dataclass(frozen=True)
class Spec:
    """What is asked of the probe."""

    steps: int
    seed: int
    asker: Mapping[str, object]
    alone: bool = False  # the notebook's own cells, which know nothing of seeds and of the order of several processes
    without: tuple[str, ...] = ()
    order: Mapping[str, list[list[int]]] = field(default_factory=dict)
    batches: list[list[list[int]]] = field(default_factory=list)
    cut: bool = True
    threads: int = 1
    processes: int = 1
    whole: bool = False  # each of them fetches whole batches


def probed(text: str, spec: Spec) -> str:
    """The script with the probe, in it before anything trains: every line but the last few keeps its number."""
    line = (
        f"__import__('sys').path.append({str(ROOT)!r}); "
        "__import__('nbddp.verify.inside.install', fromlist=['install'])"
        f".install({json.dumps(asdict(spec))!r}, globals())\n"
    )
    guard = GUARD.search(text)
    if guard is not None and not spec.alone:
        return text[: guard.start()] + line + text[guard.start() :]
    place = _after_future(text)
    return text[:place] + line + text[place:]


def _after_future(text: str) -> int:
    """Where the first line may stand that is no import from the future."""
    last = 0
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            last = node.end_lineno or 0
    return sum(len(line) for line in text.splitlines(keepends=True)[:last])


def cells_alone(plan: Plan) -> str:
    """The statements that the training needs, as the notebook has them."""
    changes = list(folder_changes(plan))
    lenient = _Lenient({change.statement.lineno for change in changes if change.magic})
    nodes: list[ast.stmt] = [lenient.visit(copy.deepcopy(statement.node)) for statement in plan.kept]
    needed: list[ast.stmt] = [ast.Import([ast.alias(name)]) for name in plan.program.needs]  # by what magics stand for
    if changes:
        needed += ast.parse(AS_IN_A_KERNEL).body
    body = [*filter(_is_future, nodes), *needed, *(node for node in nodes if not _is_future(node))]
    return ast.unparse(ast.Module(body=body, type_ignores=[])) + "\n"


class _Lenient(ast.NodeTransformer):
    """`%cd` says where there is no such folder, and goes on."""

    def __init__(self, lines: Set[int]) -> None:
        self.lines = lines

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        if node.lineno not in self.lines:
            return node
        passed = ast.ExceptHandler(ast.Name("OSError", ast.Load()), None, [ast.Pass()])
        return ast.copy_location(ast.Try([node], [passed], [], []), node)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
