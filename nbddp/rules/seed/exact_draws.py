"""Under `--exact` a step draws for the whole batch, and all ranks stay where one process is: where that ends."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.splitting import may_turn, step_of
from nbddp.analysis.syntax import walk
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, after, before
from nbddp.sentence import sentence

INSIDE = ("torch.nn.RNN", "torch.nn.LSTM", "torch.nn.GRU", "torch.nn.functional.scaled_dot_product_attention")


def for_the_whole_batch(plan: Plan, name: str) -> Iterator[Edit | Diagnostic]:
    """What is drawn behind a step is drawn as it stands there; `my_part` begins the next one."""
    line, uses = f"{plan.naming('drawn_for_all')}.end()", ("drawn_for_all",)
    for split in plan.assumed.splits:
        steps = step_of(plan, split)
        yield after(plan.program, name, steps[-1], line, uses)
        if may_turn(plan):
            yield before(plan.program, name, split.at, f"{plan.naming('drawn_for_all')}.turns = True", uses)
        for node in (n for s in steps for n in walk(s)):
            if isinstance(node, ast.Return) or (
                isinstance(node, ast.Continue | ast.Break) and _leaves(plan, node, steps)
            ):
                yield before(plan.program, name, node, line, uses)
    for call in plan.calls(*INSIDE):
        word = "dropout_p" if call.node.func and "attention" in next(iter(call.names)) else "dropout"
        given = next((k.value for k in call.node.keywords if k.arg == word), None)
        if given is not None and plan.facts.value(given).const != 0:
            yield plan.program.diagnose(
                name, "note", call.node,
                sentence("on a GPU this draws its dropout inside, where it cannot be drawn for the whole batch"),
                why=sentence("--exact draws for the whole batch what single functions of torch draw: on a GPU the "
                             "script stops at the first step"),
                help=sentence("use nn.Dropout beside it, or leave out --exact"),
            )  # fmt: skip


def _leaves(plan: Plan, node: ast.AST, steps: list[ast.stmt]) -> bool:
    """Does it go on or end a loop around the step, and not one within it?"""
    for around in plan.program.ancestors(node):
        if isinstance(around, ast.For | ast.While):
            return False
        if around in steps:
            return True
    return True
