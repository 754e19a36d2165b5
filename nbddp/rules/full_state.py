"""What it does
    With `--shard`, gathers the state of a sharded model and of its optimizer into whole tensors on rank 0 where the
    notebook asks for it, and splits what it loads among the ranks.

Why DDP needs it
    `state_dict()` of a sharded model has one rank's part of each tensor, and rank 0 alone cannot ask for the others.
    The file has what the DDP script would write, and each of the two scripts loads that of the other.

Before
    torch.save(model.state_dict(), "model.pt")

After
    model_state = full_state_dict(model)  # from all processes, to rank 0
    if rank == 0:
        torch.save(model_state, "model.pt")

Declines
    Scripts that are exported without `--shard`; states of other models, schedulers and scalers; states that are read or
    loaded before the model is complete.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.models import is_behind, is_of_state
from nbddp.edits import Edit, before, replace

NAME = "full_state"
ABOUT = "  # from all processes, to rank 0"


def rewrite(plan: Plan) -> Iterator[Edit]:
    if not plan.options.shard:
        return
    homes = plan.wrapping.homes.values()
    for call in sorted((n for n in plan.facts.calls if is_of_state(plan, n)), key=plan.program.span):
        if any(is_behind(plan, call, home) for home in homes):
            assert isinstance(call.func, ast.Attribute)
            yield from (_loaded if call.func.attr == "load_state_dict" else _gathered)(plan, call, call.func)


def _gathered(plan: Plan, call: ast.Call, func: ast.Attribute) -> Iterator[Edit]:
    text = plan.program.source(func.value)
    asked = f"{plan.naming('full_state_dict')}({text})"
    guarded = [a for a in plan.program.ancestors(call) if a in plan.writing.guarded]
    if not guarded:
        yield replace(plan.program, NAME, call, asked, ("full_state_dict",))
        return
    name = plan.naming("_".join(re.findall(r"\w+", text.rpartition(".")[2])) + "_state")
    yield before(plan.program, NAME, guarded[-1], f"{name} = {asked}{ABOUT}", ("full_state_dict", f"binds {name}"))
    yield replace(plan.program, NAME, call, name)


def _loaded(plan: Plan, call: ast.Call, func: ast.Attribute) -> Iterator[Edit]:
    start, end = plan.program.span(func.value)
    first = min(plan.program.span(n)[0] for n in (*call.args, *(k for k in call.keywords)))
    yield Edit(NAME, start, start, f"{plan.naming('load_full_state_dict')}(", "open", ("load_full_state_dict",))
    yield Edit(NAME, end, first, ", ")
