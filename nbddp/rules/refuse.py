"""What it does
    Refuses notebooks that no script could train in the same way on several processes, and names every reason at once.

Why DDP needs it
    DDP splits the samples of a batch among the ranks. Where there is no batch to split, every rank would train on the
    same data: N times the work for nothing.

Before
    for i in range(len(X)):
        loss = F.mse_loss(model(X[i]), y[i])

After
    error[shard]: the training loop uses no DataLoader, and its batches cannot be split among the processes

Declines
    Everything that the other rules handle.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.slicing import changed_names
from nbddp.analysis.splitting import learned, unshared
from nbddp.analysis.syntax import walk
from nbddp.analysis.training import ALREADY, already_ddp, in_hook, misspelt, misused_hooks, trains_elsewhere
from nbddp.analysis.values import backward_of
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit
from nbddp.sentence import NOTHING, Sentence, sentence

NAME = "refuse"  # as the other rules have one: their documents are tested by it
SAY = sentence("write into the cell that trains which dimension counts the samples: # ddp: samples in dim 1 (or 0)")
GYMS = ("gym", "gymnasium", "pettingzoo", "stable_baselines3", "minigrid")


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    yield from misspelt(plan.notebook)
    yield from misused_hooks(plan.program)
    yield from _already_ddp(plan)
    yield from _undefined(plan)
    yield from _run_elsewhere(plan)
    yield from _other_kinds(plan)
    if plan.framework is None:
        yield from _nothing_to_share(plan)


def _already_ddp(plan: Plan) -> Iterator[Diagnostic]:
    for call in plan.calls(*ALREADY):
        if not in_hook(plan.program, call.node):
            yield already_ddp(plan.program, call.node)


def _undefined(plan: Plan) -> Iterator[Diagnostic]:
    for name, node in plan.facts.undefined.items():
        if node not in plan.program.parents or _may_be_passed_by(plan, name, node) or _is_set_on_failure(plan, node):
            continue
        if any(_asks_for(around, name) for around in plan.program.ancestors(node)) or _is_bound_by_then(plan, node):
            continue
        read = (n for n in plan.nodes() if isinstance(n, ast.Name) and n.id == name)
        optional = all(_is_optional(plan, n) for n in read)
        yield plan.program.diagnose(
            "undefined", "warning" if optional else "error", node,
            sentence("no cell before this one defines '%1'", name),
            why=sentence("the script stops there if it takes this branch") if optional else NOTHING,
            help=_where(plan, name, node),
        )  # fmt: skip


def _is_bound_by_then(plan: Plan, node: ast.AST) -> bool:
    """`words = defaultdict(lambda: len(words))`: when it is called."""
    inside = any(isinstance(a, ast.Lambda) for a in plan.program.ancestors(node))
    stored = (n for n in walk(plan.program.statement_of(node)) if isinstance(n, ast.Name))
    return inside and any(n.id == getattr(node, "id", "") and isinstance(n.ctx, ast.Store) for n in stored)


def _run_elsewhere(plan: Plan) -> Iterator[Diagnostic]:
    """`%run -i data.py` beside `from config import *`: which of them defines a name is not known."""
    cells = (c for c in plan.notebook.cells if c.number <= plan.training_cell)
    ran = next((e for c in cells for e in c.escapes if e.name == "run"), None)
    for name, node in plan.facts.starred.items() if ran else ():
        if node in plan.program.parents:
            yield plan.program.diagnose(
                "undefined", "warning", node,
                sentence("no cell before this one defines '%1'", name),
                why=sentence("the script does not run '%1', which may define it", f"%{ran.text}" if ran else ""),
                help=sentence("put that code into a cell, or into a module that you import"),
            )  # fmt: skip
            return


def _asks_for(node: ast.AST, name: str) -> bool:
    """`if "model" in globals():`, which it is once the cell is run again."""
    match node:
        case ast.If(
            test=ast.Compare(left=ast.Constant(value=asked), ops=[ast.In()], comparators=[ast.Call(func=called)])
        ):
            return asked == name and getattr(called, "id", "") in ("locals", "globals", "vars", "dir")
    return False


def _is_optional(plan: Plan, node: ast.AST) -> bool:
    """In a branch that a switch leaves out, by a condition that is the same in every turn of the loops around; or in
    what is done or said only where something fails."""
    inner = node
    for around in plan.program.ancestors(node):
        if isinstance(around, ast.ExceptHandler | ast.Raise) or (
            isinstance(around, ast.Assert) and inner is around.msg
        ):
            return True
        if isinstance(around, ast.If | ast.IfExp) and inner is not around.test:
            loops = [a for a in plan.program.ancestors(around) if isinstance(a, ast.For | ast.AsyncFor | ast.While)]
            asked = {n.id for n in walk(around.test) if isinstance(n, ast.Name)}
            calls = any(isinstance(n, ast.Call) for n in walk(around.test))
            return not (calls and loops) and not asked & changed_names([*loops])
        inner = around
    return False


def _is_set_on_failure(plan: Plan, node: ast.Name) -> bool:
    """`try: x, y = next(batches)`, and `except: batches = iter(loader)` for the first time; not where nothing does."""
    inner: ast.AST = node
    for around in plan.program.ancestors(node):
        caught = around.handlers if isinstance(around, ast.Try) and inner in around.body else []
        if any(_catches_missing(h) and node.id in changed_names(h.body) for h in caught):
            return True
        inner = around
    return False


def _catches_missing(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or ast.unparse(kind) in ("NameError", "Exception", "BaseException") for kind in kinds)


def _may_be_passed_by(plan: Plan, name: str, node: ast.Name) -> bool:
    """`if not os.path.exists("results"): os.mkdir(folder)`, and below, in the same cell, `folder = "results/net"`."""
    statement = next(s for s in plan.program.statements if s.node in (node, *plan.program.ancestors(node)))
    below = [s for s in plan.program.statements if s.cell == statement.cell and s.index > statement.index]
    condition = statement.node.test if isinstance(statement.node, ast.If) else None
    asked = condition is not None and condition in plan.program.ancestors(node)
    return condition is not None and not asked and any(name in plan.flow.effects[s.index].binds for s in below)


def _where(plan: Plan, name: str, node: ast.Name) -> Sentence:
    later = [s for s in plan.program.statements if name in plan.flow.effects[s.index].may_bind]
    if later:
        return sentence("cell %1 defines it, but comes later: put the cells in the order in which they run",
                        later[0].cell.number)  # fmt: skip
    ran = [e for c in plan.notebook.cells for e in c.escapes if e.name in ("run", "load", "pylab")]
    if ran:
        return sentence(
            "'%1' may define it: put that code into a cell, or into a module that you import", f"%{ran[0].text}"
        )
    return sentence("it may exist only in an earlier kernel session: define it in a cell")


def _other_kinds(plan: Plan) -> Iterator[Diagnostic]:
    used = {n.id for n in plan.nodes() if isinstance(n, ast.Name)}
    for name, target in plan.flow.imports.items():
        root = target.split(".")[0]
        if root in GYMS and name in used:
            yield Diagnostic(
                "reinforcement", "error",
                sentence("reinforcement learning gets its data from an environment while it trains: there is no "
                         "dataset to split among processes"),
                help=sentence("run several environments in parallel instead"),
            )  # fmt: skip
            return
        if target.endswith(".Fabric") and root == "lightning" and name in used:
            yield Diagnostic(
                "framework", "error",
                sentence("training with Lightning Fabric is not supported"),
                help=sentence("write a plain PyTorch loop, or use Lightning's Trainer"),
            )  # fmt: skip
            return
        if root == "opacus" and name in used:
            yield Diagnostic(
                "privacy", "error",
                sentence("a privacy engine (Opacus) is not supported: it keeps the gradient of each sample and has "
                         "its own version of DDP"),
                help=sentence("use opacus.distributed in your own script"),
            )  # fmt: skip
            return
    for statement in plan.kept:
        if statement.cell.has_await and any(isinstance(n, ast.Await) for n in walk(statement.node)):
            yield plan.program.diagnose(
                "await", "error", statement.node, sentence("a script cannot use await outside of a function"),
                help=sentence("use asyncio.run(...)"),
            )  # fmt: skip


def _nothing_to_share(plan: Plan) -> Iterator[Diagnostic]:
    if not plan.facts.backward:
        followed = Diagnostic(
            "shard", "error", sentence("no call of backward() was found in what the training cell runs"),
            help=sentence("call the training function in the marked cell"),
        )  # fmt: skip
        yield trains_elsewhere(plan.flow) or followed
        return
    for call in unshared(plan) if not plan.assumed.joined else ():
        loops = [plan.facts.loops[n] for n in plan.facts.calls[call].loops]
        inner = max(loops, key=lambda f: (len(f.parents), getattr(f.node, "lineno", 0)), default=None)
        yield _without_loader(plan, call, inner.node if inner else call, bool(inner and inner.opaque))
        return
    if not plan.roles.models and not plan.facts.undefined and not _moves_its_own(plan):  # else that is why
        yield Diagnostic(
            "model", "error", sentence("no trained model was found: the training loop calls none"),
            help=sentence("create the model in a cell, and call it in the loop"),
        )  # fmt: skip


def _moves_its_own(plan: Plan) -> bool:
    """Parameters without a model, whose gradients are averaged by way of the loss."""
    return bool(plan.wrapping.loose) or (bool(learned(plan)) and None not in map(backward_of, plan.facts.backward))


def _without_loader(plan: Plan, call: ast.Call, loop: ast.AST, opaque: bool) -> Diagnostic:
    why, unsaid = plan.assumed.unsplit, plan.assumed.unsaid
    if opaque and isinstance(loop, ast.For):
        what = plan.program.source(loop.iter)
        return plan.program.diagnose(
            "sampler", "error", loop,
            sentence("the loop runs over '%1', which is not a DataLoader created in this notebook", what),
            why=why or sentence("every rank would train on all of the data"),
            help=sentence('create a DataLoader in a cell, or tag the cell that splits the data with "ddp-setup"'),
        )  # fmt: skip
    if (source := _generator(plan, loop)) is not None:
        return plan.program.diagnose(
            "shard", "error", loop,
            sentence("the batches come from '%1', a custom generator, and nbddp cannot see how to split "
                     "them among the ranks", source),
            why=why or sentence("every rank would train on all of the data"),
            help=SAY if unsaid else sentence("put its samples into a Dataset, and train on a DataLoader over it"),
        )  # fmt: skip
    return plan.program.diagnose(
        "shard", "error", loop,
        sentence("the training loop uses no DataLoader, and its batches cannot be split among the processes"),
        why=why,
        help=SAY if unsaid else sentence("train on DataLoader(TensorDataset(X, y), batch_size=…, shuffle=True)"),
    )  # fmt: skip


def _generator(plan: Plan, loop: ast.AST) -> str | None:
    """The call of a generator that the loop goes through, as it is written."""
    for node in walk(loop.iter) if isinstance(loop, ast.For) else ():
        fact = plan.facts.calls.get(node) if isinstance(node, ast.Call) else None
        bodies = [plan.program.function_of(y) for b in (fact.bodies if fact else ()) for y in walk(b) if _yields(y)]
        if fact is not None and fact.bodies & set(bodies):
            return plan.program.source(fact.node)
    return None


def _yields(node: ast.AST) -> bool:
    return isinstance(node, ast.Yield | ast.YieldFrom)
