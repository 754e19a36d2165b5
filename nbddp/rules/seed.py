"""What it does
    Lets each rank draw its own random numbers from the training on; everything before is drawn alike, from one seed.

Why DDP needs it
    Data and weights must be the same on all ranks; dropout and noise must not be, or N ranks see one mask N times.

Before
    for epoch in range(epochs):

After
    own_random_numbers()
    for epoch in resumable(range(epochs), model=model, optimizer=optimizer):

Declines
    A training that draws no random numbers: nothing would change.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.edit import Edit, before
from nbddp.analysis.imports import qualified
from nbddp.analysis.plan import Plan
from nbddp.diagnostics import Diagnostic

NAME = "seed"
SEEDS = ("torch.manual_seed", "random.seed", "numpy.random.seed", "torch.cuda.manual_seed_all")


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    loops = sorted((f.node for f in plan.roles.epoch_loops or plan.roles.batch_loops), key=_line)
    first = next((n for n in loops if isinstance(n, ast.stmt)), None)
    if first is None or not _draws(plan):
        return
    statement = plan.top_level(first)
    if statement is not None and plan.program.function_of(first) is None:
        yield before(plan.program, NAME, statement.node, _call(plan), ("own_random_numbers",))
    else:
        yield before(plan.program, NAME, first, _call(plan), ("own_random_numbers",))
    for call in plan.calls(*SEEDS):
        if call.loops & {f.node for f in plan.roles.batch_loops + plan.roles.epoch_loops}:
            yield plan.program.diagnose(
                NAME, "warning", call.node, "seeding inside the training gives all ranks the same random numbers again",
                help="seed once, before the training",
            )  # fmt: skip


def _call(plan: Plan) -> str:
    return f"{plan.naming('own_random_numbers')}()"


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _draws(plan: Plan) -> bool:
    """May the training draw random numbers: dropout, noise, augmentation, a library's model?"""
    training = [s.node for s in plan.training]
    defined = [s.node for s in plan.kept if isinstance(s.node, ast.FunctionDef | ast.ClassDef)]
    for node in (n for part in (*training, *defined) for n in ast.walk(part)):
        if isinstance(node, ast.Name | ast.Attribute):
            name = qualified(node, plan.flow.imports) or ""
            word = node.attr if isinstance(node, ast.Attribute) else node.id
            if "dropout" in word.lower() or word.startswith("Random") or _is_random(name):
                return True
    return any(m.obj not in plan.facts.classes and not m.obj.name.startswith("torch.nn.") for m in plan.roles.models)


def _is_random(name: str) -> bool:
    return name.startswith(
        ("torch.rand", "torch.normal", "torch.bernoulli", "torch.multinomial", "torch.distributions")
    )
