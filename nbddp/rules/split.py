"""What it does
    Splits batches that do not come from a DataLoader: sliced by index, drawn at random, yielded by a generator, or all
    of the data at once. All ranks draw the same batch, and each trains on its own samples of it. Where the samples
    cannot be split evenly, each rank's mean counts by how many it has, so that the numbers are exactly those of one
    process.

Why DDP needs it
    Otherwise every rank trains on the same data: N times the work for the result of one process.

Before
    xb, yb = get_batch(32)
    loss = F.mse_loss(model(xb), yb)

After
    xb, yb = get_batch(32)
    mine, weight = my_part(xb, yb)
    xb, yb = xb[mine], yb[mine]
    loss = weighted(F.mse_loss(ddp_model(xb), yb), weight)

Declines
    A DataLoader, which gets a sampler. What cannot be split is refused with its reason: one sample at a time, a graph,
    layers that take time as their first dimension.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis import Plan
from nbddp.analysis.agreement import weighted_losses
from nbddp.analysis.splitting import means_of, numbered, region_at
from nbddp.analysis.values import PICKED, Split
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit, after, before, replace, wrap
from nbddp.sentence import sentence

NAME = "split"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    if plan.options.exact and plan.unsplit:
        yield Diagnostic(NAME, "error", sentence("--exact cannot split the batches of this training"), why=plan.unsplit)
    if plan.options.batch_per_rank and plan.assumed.splits:
        yield plan.program.diagnose(
            NAME, "error", plan.assumed.splits[0].at,
            sentence("with --batch-per-rank each rank needs a batch of its own, but all ranks draw this one together"),
            help=sentence("export without --batch-per-rank, and make the batch larger"),
        )  # fmt: skip
    for split in plan.assumed.splits:
        yield plan.program.diagnose(
            NAME, "note", split.at,
            sentence("all ranks draw this batch, and each trains on its own samples of it"),
            why=sentence("drawing it does not become faster with more ranks, only training does"),
        )  # fmt: skip
        yield from _dealt_out(plan, split)
        yield from _weighted(plan, split)


def _dealt_out(plan: Plan, split: Split) -> Iterator[Edit]:
    part, mine, weight = (plan.naming(n) for n in ("my_part", "mine", "weight"))
    yield before(plan.program, NAME, split.at, "\n".join(_lines(plan, split, part, mine, weight)), ("my_part",))
    for node in sorted(split.inline, key=plan.program.span):
        yield from wrap(plan.program, NAME, node, "", f"[{mine}]")
    for node, name in split.renamed.items():
        yield replace(plan.program, NAME, node, plan.naming(name))
    for count, labels in numbered(plan, split):
        own = plan.naming(split.renamed[labels]) if labels in split.renamed else plan.program.source(labels)
        yield replace(plan.program, NAME, count, f"len({own}{f'[{mine}]' if labels in split.inline else ''})")


def _lines(plan: Plan, split: Split, part: str, mine: str, weight: str) -> Iterator[str]:
    new = {plan.naming(n): n.removesuffix("_part") for n in split.renamed.values()}
    new = {**{n: n for n in split.names if n not in split.dicts}, **new}
    first = f"next(iter({split.total}.values()))" if split.total in split.dicts else split.total
    if means_of(plan, split).counts:
        yield f"{plan.naming('samples')} = len({first})"
    held = [*(f"*{name}.values()" for name in sorted(split.dicts)), *new.values()]
    held += [text for text in _cut_here(plan, split) if text not in held]
    yield f"{mine}, {weight} = {part}({', '.join(held or [split.total])})"
    for name in sorted(split.dicts):
        yield f"{name} = {{key: value[{mine}] for key, value in {name}.items()}}"
    if new:
        yield f"{', '.join(new)} = {', '.join(f'{old}[{mine}]' for old in new.values())}"


def _cut_here(plan: Plan, split: Split) -> Iterator[str]:
    """Pieces that are there already when the samples are counted: they must be as many."""
    later = region_at(plan, split.at)
    for node in sorted(split.inline, key=plan.program.span):
        read = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        calls = any(isinstance(n, ast.Call) for n in ast.walk(node))
        if not calls and not read & (later.bound_in_rest - later.bound_before):
            yield plan.program.source(node)


def _weighted(plan: Plan, split: Split) -> Iterator[Edit]:
    """Every mean over the rank's samples, where it comes about."""
    means, weighted, weight = means_of(plan, split), plan.naming("weighted"), plan.naming("weight")
    for node in (n for n in means.born if not _is_weighed(plan, n)):
        yield from wrap(plan.program, NAME, node, f"{weighted}(", f", {weight})", ("weighted",))
    for statement, name in means.unpacked:
        yield after(plan.program, NAME, statement, f"{name} = {weighted}({name}, {weight})", ("weighted",))
    for node in means.counts:
        ranks = plan.world_size(node)
        yield replace(plan.program, NAME, node, f"({plan.naming('samples')} / {ranks})", ("dist",))


def _is_weighed(plan: Plan, node: ast.expr) -> bool:
    """A mean by weights, or over selected samples: the rule `loss` writes it as that of all ranks."""
    if not isinstance(node, ast.Call):
        return False
    func = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    return node in {*weighted_losses(plan)} or any(plan.facts.value(n).of(PICKED) for n in (func, *node.args))
