"""What it does
    Lets one process on each machine download data first. What only changes files before the training (creating folders,
    unpacking archives, writing files) is done by that process alone. Where all need what comes of it, or draw random
    numbers in it, all run it, and that process alone writes; a folder whose name goes by what there is, rank 0 makes.

Why DDP needs it
    N processes that download the same file at once overwrite each other's file and read incomplete ones.

Before
    train_set = MNIST("data", download=True)

After
    with first_on_rank_0():
        train_set = MNIST("data", download=True)

Declines
    Folders that may already exist. Statements in which the ranks have to work together, such as a function that both
    builds and trains a model: only the parts of it that run once are considered. Anything after the training.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.agreement import reached
from nbddp.analysis.library import entry_of
from nbddp.analysis.reading import generators, looks
from nbddp.analysis.slicing import block_of
from nbddp.analysis.syntax import qualified
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, after, before, guard, within, wrap

NAME = "download"
LOOKED = "  # all have looked at what there is"
SPARED = "  # the others have found a file, and drawn nothing"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    preparation = plan.preparation
    for statement in sorted(preparation.looked, key=lambda s: s.lineno):
        yield before(plan.program, NAME, statement, f"{plan.naming('dist')}.barrier(){LOOKED}", ("dist",))
    for told in sorted(preparation.told, key=lambda s: s.lineno):
        begin, end = f"{plan.naming('from_rank_0')}(", f" if {plan.rank(told)} == 0 else None)"
        yield from wrap(plan.program, NAME, told.value, begin, end, ("from_rank_0", "dist"))
    for statement in sorted(preparation.first - preparation.moved, key=lambda s: s.lineno):
        part = plan.naming("first_on_rank_0")
        yield from within(plan.program, NAME, statement, f"{part}()", ("first_on_rank_0",))
        if _spares_draws(plan, statement):
            now, go_on = plan.naming("random_numbers_now"), plan.naming("set_random_numbers")
            line = f"{go_on}({plan.naming('from_rank_0')}({now}())){SPARED}"
            parts = ("from_rank_0", "random_numbers_now", "set_random_numbers")
            lines = [line, *_own_generators(plan, statement)]
            yield after(plan.program, NAME, statement, "\n".join(lines), parts, alone=True)
    for statement in sorted(preparation.alone, key=lambda s: s.lineno):
        part = plan.naming("first_of_machine")
        yield from guard(plan.program, NAME, statement, f"{part}()", ("first_of_machine",))
        if not _goes_on(plan, statement):
            line = f"{plan.naming('dist')}.barrier()"
            yield after(plan.program, NAME, statement, line, ("dist",), alone=True)


def _spares_draws(plan: Plan, statement: ast.stmt) -> bool:
    """`X = torch.load(path) if os.path.exists(path) else made(path)`, of random numbers: drawn where no file was."""
    inside = [*reached(plan, [statement])]
    draws = any(entry_of(n, plan.flow.imports).draws for n in inside if isinstance(n, ast.Attribute | ast.Name))
    return draws and any(looks(plan, n) or isinstance(n, ast.Try) for n in inside)


def _own_generators(plan: Plan, statement: ast.stmt) -> Iterator[str]:
    """Of the program, which go on from where they are on rank 0 as well."""
    part = plan.naming("from_rank_0")
    used = {n.id: n for n in reached(plan, [statement]) if isinstance(n, ast.Name) and n.id in generators(plan)}
    for name, node in sorted(used.items()):
        made = {qualified(n.func, plan.flow.imports) for n in plan.bindings.made_by(node) if isinstance(n, ast.Call)}
        if made & {"numpy.random.default_rng", "numpy.random.Generator"}:
            yield f"{name}.bit_generator.state = {part}({name}.bit_generator.state)"
        else:
            state = "state" if "random.Random" in made else "_state"
            yield f"{name}.set{state}({part}({name}.get{state}()))"


def _goes_on(plan: Plan, statement: ast.stmt) -> bool:
    """Is the next statement another that the same rank does alone? One barrier behind them is enough."""
    parent = plan.program.parents[statement]
    block = [s.node for s in plan.kept] if isinstance(parent, ast.Module) else block_of(parent, statement)
    return statement in block[:-1] and block[block.index(statement) + 1] in plan.preparation.alone
