"""What it does
    Splits batches that do not come from a DataLoader: sliced by index, drawn at random, yielded by a generator, or all
    of the data at once. All ranks draw the same batch, and each trains on its own samples of it. Where the samples
    cannot be split evenly, each rank's mean counts by how many it has, so that the numbers are exactly those of one
    process. Of two batches in a step, such as labelled and unlabelled samples, each is split for itself.

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
    sequences of which nothing shows which dimension counts the samples, a mean over two batches of unlike sizes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from nbddp.analysis import Plan
from nbddp.analysis.agreement import sample_means, weighted_losses
from nbddp.analysis.models import unread_parts
from nbddp.analysis.splitting import (
    Batches,
    base_of,
    batches_of,
    counted_rows,
    entries_of_each,
    is_starred,
    joined_calls,
    joins_means,
    leaves,
    may_turn,
    means_in,
    means_of,
    named_before,
    own_size,
    padded,
    rows_of_all_else,
    sizes_in,
    squeezes,
    trimmed,
    unused_marks,
    whole_sizes,
)
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import FLAT, SEVERAL, TURNED, Dimensions, Obj, Split
from nbddp.diagnostics import Diagnostic, Level
from nbddp.edits import Edit, after, before, replace, wrap
from nbddp.sentence import Sentence, sentence

NAME = "split"


def rewrite(plan: Plan) -> Iterator[Edit | Diagnostic]:
    if plan.options.exact and (why := plan.assumed.unsplit):
        yield _told(plan, "error", sentence("--exact cannot split the batches of this training"), why)
    if why := plan.assumed.joined:
        yield _told(plan, "note", sentence("all ranks have whole batches: each computes the model for its part of one, "
                                           "and the rest of a step for all of it"), why)  # fmt: skip
        yield from _by_parts(plan)
    if plan.options.batch_per_rank and plan.assumed.splits:
        yield plan.program.diagnose(
            NAME, "error", plan.assumed.splits[0].at,
            sentence("with --batch-per-rank each rank needs a batch of its own, but all ranks draw this one together"),
            help=sentence("export without --batch-per-rank, and make the batch larger"),
        )  # fmt: skip
    for cell, line, text in unused_marks(plan, plan.assumed.splits):
        yield Diagnostic(
            NAME, "warning", sentence("'%1' has no effect here", text), cell.number, line,
            help=sentence("write '# ddp: samples in dim 1' into the cell that trains on a batch from no DataLoader"),
            source=cell.source.split("\n")[line - 1],
        )  # fmt: skip
    for call in whole_sizes(plan) if plan.assumed.splits or plan.assumed.joined else ():
        first = next(iter(sizes_in(call.args)), call.args[0])
        yield replace(plan.program, NAME, first, own_size(plan, call) or "-1")  # as much as a rank has
    by_parts = plan.options.exact and (plan.assumed.splits or plan.assumed.joined)
    for call in rows_of_all_else(plan) if by_parts else ():
        yield from _rows(plan, call)
    for call in padded(plan) if by_parts else ():
        yield replace(plan.program, NAME, call.func, plan.naming("padded_to_longest"), ("padded_to_longest",))
    for end in trimmed(plan) if by_parts else ():
        yield from wrap(plan.program, NAME, end, f"{plan.naming('longest_of_all')}(", ")", ("longest_of_all",))
    yield from _unread(plan)
    for call, of in squeezes(plan) if plan.assumed.splits or plan.assumed.joined or plan.sharding.loaders else ():
        yield from _squeezed(plan, call, of)
    for split in plan.assumed.splits:
        yield plan.program.diagnose(
            NAME, "note", split.at,
            sentence("all ranks draw this batch, and each trains on its own samples of it"),
            why=sentence("drawing it does not become faster with more ranks, only training does"),
        )  # fmt: skip
        for node in sorted(split.states, key=plan.program.span):
            yield from wrap(plan.program, NAME, node, f"{plan.naming('my_states')}(", ")", ("my_states",))
        batches = batches_of(plan, split)
        yield from _dealt_out(plan, split, batches)
        yield from _weighted(plan, split, batches)


def _told(plan: Plan, level: Level, message: Sentence, why: Sentence) -> Diagnostic:
    """At the loop over the batches, or where the loss is followed back; a library's training shows neither."""
    loops = [f.node for f in plan.roles.batch_loops if isinstance(f.node, ast.stmt)]
    places = [*loops, *sorted(plan.facts.backward, key=plan.program.span)]
    if not places:
        return Diagnostic(NAME, level, message, why=why)
    return plan.program.diagnose(NAME, level, places[0], message, why=why)


def _unread(plan: Plan) -> Iterator[Diagnostic]:
    """What layers and models of files do to a batch is not known; where loaders are dealt out, of those that train."""
    trained = {model.obj for model in plan.roles.models} if plan.sharding.loaders else set[Obj]()
    by_parts = bool(plan.assumed.splits or plan.assumed.joined)
    for fact, _ in (one for one in unread_parts(plan) if by_parts or one[1] & trained):
        yield plan.program.diagnose(
            NAME, "note", fact.node,
            sentence("the code of this model is not read, and each rank runs it on its own samples of a batch"),
            why=sentence("if it sets the samples of a batch against each other, the numbers are not those of one "
                         "process"),
            help=sentence("define it in a cell, or check the numbers with 'nbddp verify'"),
        )  # fmt: skip


def _squeezed(plan: Plan, call: ast.Call, of: ast.expr) -> Iterator[Edit]:
    """Without what has one entry; by the number of the dimension, where that is known."""
    begin, last = plan.program.span(call)
    dim = _only_one(plan.facts.value(of).shape)
    if dim and not plan.facts.calls[call].no_grad:
        yield Edit(NAME, last - 1, last - 1, f", {dim}" if call.args else str(dim))
    elif not plan.assumed.splits and not plan.assumed.joined:
        return  # torch's sampler: a last batch of one sample is as it is in the notebook
    elif call.args:
        yield replace(plan.program, NAME, call.func, plan.naming("squeezed"), ("squeezed",))
    else:
        yield Edit(NAME, begin, begin, f"{plan.naming('squeezed')}(", "open", ("squeezed",))
        yield Edit(NAME, _dot(plan, call), last, ")", "close")


def _only_one(shape: Dimensions) -> int:
    """The dimension of one entry behind the samples': 0 where there is none, several, or one that is not known."""
    rest = shape[1:] if isinstance(shape, tuple) else ()
    return rest.index(1) + 1 if rest.count(1) == 1 and None not in rest else 0


def _dot(plan: Plan, call: ast.Call) -> int:
    """Behind what a method is called on, with the brackets around that: `(predicted == y).squeeze()`."""
    func = plan.program.span(call.func)
    before = plan.program.text[: func[1]].rindex(".")
    return len(plan.program.text[:before].rstrip())


def _rows(plan: Plan, call: ast.Call) -> Iterator[Edit]:
    """What torch would have to find out, where a rank has no sample."""
    assert isinstance(call.func, ast.Attribute)
    begin, last = plan.program.span(call)
    end = _dot(plan, call)
    of, source = plan.facts.value(call.func.value), plan.program.source
    counted = {source(n) for n in walk(call.args[0]) if isinstance(n, ast.expr)}  # `x` of `x.view(len(x), -1)`
    itself = source(call.func.value) in counted and not of.of(TURNED, FLAT, SEVERAL)
    if itself and not call.args[2:]:
        yield Edit(NAME, end, last, "[..., None].flatten(1)")
        return
    one_of_several = f"rows at {end}"  # `x.view(n, -1, 2).view(n, -1, 4)`: at one place, and not the same
    yield Edit(NAME, begin, begin, f"{plan.naming('in_rows')}(", "open", ("in_rows", one_of_several))
    yield Edit(NAME, end, plan.program.span(call.args[0])[0], ", ", "close")


def _by_parts(plan: Plan) -> Iterator[Edit | Diagnostic]:
    """Models that DDP does not wrap: where they are called."""
    turns = ", turns=True" if may_turn(plan) else ""
    for loss in weighted_losses(plan) if joins_means(plan) else ():
        yield plan.program.diagnose(
            NAME, "error", loss,
            sentence("--exact cannot split the batches of this training: a mean that weights some samples more than "
                     "others is computed where all of them are not at hand"),
            help=sentence("compute it outside of the model"),
        )  # fmt: skip
    for call in joined_calls(plan):
        if not plan.facts.calls[call].called & (plan.wrapping.homes.keys() - plan.assumed.opened):
            yield from wrap(plan.program, NAME, call.func, f"{plan.naming('by_parts')}(", f"{turns})", ("by_parts",))


def _dealt_out(plan: Plan, split: Split, batches: Batches) -> Iterator[Edit]:
    drawn = {node: _numbered(plan, "drawn", number) for number, node in enumerate(named_before(plan, split))}
    lines = [f"{name} = {plan.program.source(node)}" for node, name in drawn.items()]
    starred = {node for node in drawn if is_starred(plan, node)}
    called = {plan.program.source(node): f"{'*' * (node in starred)}{name}" for node, name in drawn.items()}
    lines += [line for number in range(len(batches.held)) for line in _lines(plan, split, batches, number, called)]
    scope = plan.program.function_of(split.at)
    read = {name for node, name in split.renamed.items() if plan.program.function_of(node) is not scope}
    new = (f"binds {plan.naming(name)}" for name in sorted(read))  # by the functions of the step
    parts = ("tensors_in", "with_parts") if split.nested else ()
    yield before(plan.program, NAME, split.at, "\n".join(lines), ("my_part", *parts, *new))
    for node in sorted(split.inline, key=plan.program.span):
        number = next(n for n, keys in enumerate(batches.held) if plan.program.source(node) in keys)
        part = _cut(plan, split, plan.program.source(node), _numbered(plan, "mine", number))
        if node in starred:
            yield replace(plan.program, NAME, node, f"[part{part} for part in {drawn[node]}]")
        elif node in drawn:
            yield replace(plan.program, NAME, node, f"{drawn[node]}{part}")
        else:
            yield from wrap(plan.program, NAME, node, "", part)
    for node, name in split.renamed.items():
        yield replace(plan.program, NAME, node, plan.naming(name))
    for node, samples in counted_rows(plan, split):
        length = f"len({plan.program.source(samples)})"
        if not isinstance(node, ast.Call):
            yield from wrap(plan.program, NAME, node, "", f"[:{length}]")
        elif not plan.facts.value(node.args[0]).size:
            yield replace(plan.program, NAME, node.args[0], length)


def _numbered(plan: Plan, word: str, number: int) -> str:
    """The first batch has the plain word."""
    return plan.naming(f"{word}_{number + 1}" if number else word)


def _lines(plan: Plan, split: Split, batches: Batches, number: int, called: Mapping[str, str]) -> Iterator[str]:
    """Of one batch of the step."""
    mine, weight, samples = (_numbered(plan, word, number) for word in ("mine", "weight", "samples"))
    keys = batches.held[number]
    names = [n for n in split.names if n in keys]
    new = {plan.naming(n): n.removesuffix("_part") for n in split.renamed.values()}
    new = {**{n: n for n in names}, **{n: old for n, old in new.items() if old in keys}}
    kinds = (split.dicts, split.lists, split.nested)
    dicts, lists, nested = ({n: new[n] for n in sorted(new) if new[n] in kind} for kind in kinds)
    new = {n: old for n, old in new.items() if not any(old in kind for kind in kinds)}
    held = [*(f"*{old}.values()" for old in dicts.values()), *(f"*{old}" for old in lists.values())]
    held += [*(f"*{plan.naming('tensors_in')}({old})" for old in nested.values()), *new.values()]
    held += [key for key in batches.cut_here if key in keys and key not in held]
    held = held or [split.total]
    first = called.get(split.total, split.total) if not number else names[0] if names else held[0]
    rows = (node for node in means_of(plan, split).counts if entries_of_each(plan, split, node) is not None)
    if any(batches.number_of(node) == number for node in rows):
        counted = f"next(iter({first}.values()))" if first in split.dicts else first
        counted = f"{first.lstrip('*')}[0]" if first in split.lists or first[:1] == "*" else counted
        counted = f"{plan.naming('tensors_in')}({first})[0]" if first in split.nested else counted
        yield f"{samples} = {f'{counted}.shape[1]' if split.place(first) == TURNED else f'len({counted})'}"
    lead = next((key for key in held if key not in split.unlike), held[0])
    shown = [called.get(key) or _beside(split, key, lead) for key in held]
    dim = [f"dim={split.dim}"] if split.dim else []
    yield f"{mine}, {weight} = {plan.naming('my_part')}({', '.join([*shown, *dim])})"
    for name, old in dicts.items():
        yield f"{name} = {{key: value{_cut(plan, split, old, mine)} for key, value in {old}.items()}}"
    for name, old in lists.items():
        yield f"{name} = [part{_cut(plan, split, old, mine)} for part in {old}]"
    for name, old in nested.items():
        yield f"{name} = {plan.naming('with_parts')}({old}, lambda part: part{_cut(plan, split, old, mine)})"
    if new:
        asked = leaves(plan, split)  # as the whole, no result of what is followed back
        cut = (f"{_shaped(split, old, lead)}{_cut(plan, split, old, mine)}{asked.get(old, '')}" for old in new.values())
        yield f"{', '.join(new)} = {', '.join(cut)}"


def _shaped(split: Split, key: str, lead: str) -> str:
    """What was flattened gets its dimensions back: those of a batch."""
    return f"{key}.reshape(len({lead}), -1)" if split.place(key) == FLAT else key


def _beside(split: Split, key: str, lead: str) -> str:
    """Seen so that its samples are in the same dimension as those of the batch."""
    first = split.dim and not split.place(key) and not key.startswith("*")
    if not split.dim and split.place(key) == TURNED:
        return f"{key}.transpose(0, 1)"
    return f"{key}[None]" if first else _shaped(split, key, lead)


def _cut(plan: Plan, split: Split, key: str, mine: str) -> str:
    place = split.place(key)
    if place == FLAT:
        return f"[{mine}].reshape(-1)" if not split.dim else f"[:, {mine}].reshape(-1)"
    second = place == TURNED or (split.dim and place)
    return f"[:, {mine}]{'.contiguous()' if _is_viewed(plan, key) else ''}" if second else f"[{mine}]"


def _is_viewed(plan: Plan, key: str) -> bool:
    """`y[1:].view(-1)`, which takes no part of each row."""
    views = (c.node.func.value for c in plan.facts.calls.values() if getattr(c.node.func, "attr", "") == "view")  # type: ignore[attr-defined]
    made = (n for of in map(base_of, views) for n in (of, *plan.bindings.made_by(of)))
    return any(plan.program.source(n) == key for n in made if isinstance(n, ast.expr))


def _weighted(plan: Plan, split: Split, batches: Batches) -> Iterator[Edit]:
    """Every mean over the rank's samples, where it comes about, by the weight of its batch."""
    means, weighted = means_of(plan, split), plan.naming("weighted")
    whole = {fact.node for fact in sample_means(plan).written}  # which the rule `loss` writes
    for node in (n for n in means.born if n not in whole and not means_in(plan, n) & whole):
        weight = _numbered(plan, "weight", batches.number_of(node))
        yield from wrap(plan.program, NAME, node, f"{weighted}(", f", {weight})", ("weighted",))
    for inner in (one for one in means.inner if one.node not in whole):
        part = plan.naming("weighted_by_samples")
        yield from wrap(plan.program, NAME, inner.node, f"{part}(", f", {inner.samples})", ("weighted_by_samples",))
    for node in means.beside:  # the mean is weighed there: each rank counts as if it had an even share
        first, last = ("(", ")") if isinstance(plan.program.parents[node], ast.BinOp) else ("", "")
        total, size = plan.naming("sum_over_ranks"), plan.world_size(node)
        yield from wrap(plan.program, NAME, node, f"{first}{total}(", f") / {size}{last}", ("sum_over_ranks", "dist"))
    for statement, name in means.unpacked:
        if means_in(plan, statement) & whole:
            continue
        weight = _numbered(plan, "weight", batches.number_of(statement))
        yield after(plan.program, NAME, statement, f"{name} = {weighted}({name}, {weight})", ("weighted",))
    for node in means.counts:
        samples, weight = (_numbered(plan, word, batches.number_of(node)) for word in ("samples", "weight"))
        if (each := entries_of_each(plan, split, node)) is not None:
            yield replace(plan.program, NAME, node, f"({samples} / {plan.world_size(node)}{each})", ("dist",))
        else:  # as the mean that it is multiplied by has been weighed
            yield from wrap(plan.program, NAME, node, "(", f" / ({weight} or 1))")
