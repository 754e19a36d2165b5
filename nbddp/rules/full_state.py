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
from nbddp.analysis.models import is_of_state, is_sharded_at, of_data_parallel
from nbddp.edits import Edit, before

NAME = "full-state"
ABOUT = "  # from all processes, to rank 0"


def rewrite(plan: Plan) -> Iterator[Edit]:
    if not plan.options.shard:
        return
    for call in sorted((n for n in plan.facts.calls if is_of_state(plan, n)), key=plan.program.span):
        if is_sharded_at(plan, call.func, plan.wrapping.homes):
            assert isinstance(call.func, ast.Attribute)
            yield from (_loaded if call.func.attr == "load_state_dict" else _gathered)(plan, call, call.func)


def _gathered(plan: Plan, call: ast.Call, func: ast.Attribute) -> Iterator[Edit]:
    """What rank 0 alone writes, only rank 0 needs; of any other it is not known who reads it."""
    part, thing = plan.naming("full_state_dict"), of_data_parallel(plan, func.value) or func.value
    (start, end), text = plan.program.span(thing), plan.program.source(thing)
    rest = (plan.program.span(func.value)[1], plan.program.span(call)[1])
    guarded = [a for a in plan.program.ancestors(call) if a in plan.writing.guarded]
    if not guarded:
        yield Edit(NAME, start, start, f"{part}(", "open", ("full_state_dict",))
        yield Edit(NAME, *rest, ", everywhere=True)")
        return
    name = plan.naming("_".join(re.findall(r"\w+", text.rpartition(".")[2])) + "_state")
    line = f"{name} = {part}({text}){ABOUT}"
    yield before(plan.program, NAME, guarded[-1], line, ("full_state_dict", f"binds {name}"))
    yield Edit(NAME, start, end, name)
    yield Edit(NAME, *rest, "")


def _loaded(plan: Plan, call: ast.Call, func: ast.Attribute) -> Iterator[Edit]:
    start, end = plan.program.span(func.value)
    first = min(plan.program.span(n)[0] for n in (*call.args, *(k for k in call.keywords)))
    yield Edit(NAME, start, start, f"{plan.naming('load_full_state_dict')}(", "open", ("load_full_state_dict",))
    yield Edit(NAME, end, first, ", ")
