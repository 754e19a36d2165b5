"""How the names and pieces that hold a batch are cut to the samples of a rank.

Some batches each turn makes of what the turn before has left, `X = X.to(device)`, `X = X[torch.randperm(n)]`: those
stay whole, and are cut where they are read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nbddp.analysis.library import Samples, Stream, entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.slicing import effects
from nbddp.analysis.splitting.origins import (
    draws,
    fits,
    is_constant,
    is_mask,
    is_moved,
    is_of_tensors,
    is_sample,
    is_unchanging,
    looked_at,
    structure_of,
    written_sizes,
)
from nbddp.analysis.splitting.regions import LOOPS, Region, bound, goes_through_loader, run_by, stored, values_for
from nbddp.analysis.splitting.roots import Root, base_of, roots
from nbddp.analysis.syntax import is_name, walk
from nbddp.analysis.values import SHUFFLED, Split, Value

BINDS = (ast.Assign, ast.AugAssign, ast.NamedExpr)


def split_of(region: Region, last: ast.AST, found: Sequence[Root]) -> Split:
    """At the head of what trains; by new names where what is whole is read elsewhere as well."""
    region, found = _before_functions(region, _of_the_batch(region, _without_states(region, found)))
    region, found = _before_sizes(*_before_masks(region, found))
    at = region.at
    own = [r for r in found if r.name is None or r.name not in region.bound_before]
    split = Split(at, region.plan.program.statement_of(last), region.plan.program.source(found[0].node))
    return add(split, region, found) if own or found else split


def _without_states(region: Region, found: Sequence[Root]) -> Sequence[Root]:
    """What a loop of the step goes on with, `output, hidden = model(x, hidden)`, where it is given a batch besides."""
    anew = [r for r in found if r.name and any(not is_moved(v, r.name) for _, v in values_for(region.rest, r.name))]
    return [r for r in found if r not in anew] or found if region.of_one_step else found


def _before_functions(region: Region, found: Sequence[Root]) -> tuple[Region, Sequence[Root]]:
    """Of a loader's batch, `masks = make_masks(src, tgt)`, `x = torch.cat((xa, xb))`: without a row for each sample."""
    plan, before = region.plan, region.block[: region.block.index(region.at)]
    if not goes_through_loader(plan, region.owner):
        return region, found
    for number, at in enumerate(before):
        above = replace(region, at=at)
        for target, made in bound(plan.program, at):
            fact = plan.facts.calls.get(made) if isinstance(made, ast.Call) else None
            if fact is None or stored(target).isdisjoint(r.name for r in found):
                continue
            if not fact.bodies and not _joins_beside_labels(region, fact.node):
                continue
            given = [r for a in (*fact.node.args, *(k.value for k in fact.node.keywords)) for r in roots(above, a)]
            late = {n for s in before[number:] for n in stored(s)}
            if given and not any(draws(plan, n) for s in before[number:] for n in run_by(plan, s)):
                return above, [*(r for r in found if r.name not in late), *given]
    return region, found


def _before_masks(region: Region, found: Sequence[Root]) -> tuple[Region, Sequence[Root]]:
    """`target = y[mask]`: without a row for each sample, so that `y` and `mask` are cut before."""
    came, late = stored(getattr(region.owner, "target", region.owner)), {r.name for r in found if r.name is not None}
    for at in region.block[: region.block.index(region.at)] if not region.whole else ():
        late -= came
        for _, made in bound(region.plan.program, at):
            base = base_of(made) if isinstance(made, ast.Subscript) else None
            drawn = isinstance(base, ast.Name) and base.id in came
            if drawn and not late and isinstance(made, ast.Subscript) and is_mask(region.plan, made.slice):
                return replace(region, at=at), found
        came = came | stored(at)
    return region, found


def _before_sizes(region: Region, found: Sequence[Root]) -> tuple[Region, Sequence[Root]]:
    """`n = x.size(0)`, where `torch.randn(n, 8)` is drawn for the step as well: as many as a rank has samples."""
    held = {r.name for r in found}
    before = region.block[: region.block.index(region.at)] if not region.whole or region.of_one_step else ()
    for number, at in enumerate(before):
        asked = [n for n in walk(at) if getattr(n, "id", None) in held and is_asked_for_its_size(region, n)]
        if asked and _makes_as_many([*before[number:], *region.rest], asked, region.plan):
            above = replace(region, at=at)
            return above, [r for one in found for r in (roots(above, one.node) if one.name else [one])]
    return region, found


def _makes_as_many(statements: Sequence[ast.stmt], asked: Sequence[ast.AST], plan: Reading) -> bool:
    """Samples of its own, by itself or in a function that is given the number.

    Not where one is given another's place, nor where what is drawn cannot be drawn for a whole batch.
    """
    for call in (n for s in statements for n in run_by(plan, s) if isinstance(n, ast.Call)):
        if entry_of(call, plan.flow.imports).draws not in (None, Stream.TORCH) or plan.facts.value(call).of(SHUFFLED):
            return False
    sizes = {n for s in statements if {*asked} & {*walk(s)} for n in stored(s)}
    given = (
        n for s in statements for c in walk(s) if isinstance(c, ast.Call) for one in _counts(plan, c) for n in walk(one)
    )
    return any(n in asked or (getattr(n, "id", None) in sizes and plan.facts.value(n).number) for n in given)


def _counts(plan: Reading, call: ast.Call) -> Sequence[ast.expr]:
    """Where it may be told how many samples to make."""
    fact = plan.facts.calls.get(call)
    passed = [*call.args, *(k.value for k in call.keywords)] if fact is not None and fact.bodies else []
    return passed or written_sizes(plan, call)[:1]


def _joins_beside_labels(region: Region, call: ast.Call) -> bool:
    """`x = torch.cat((xa, xb))`, where a loss takes the labels of the one as they come: of each batch its own part."""
    plan = region.plan
    losses = (n for s in region.rest for n in walk(s) if isinstance(n, ast.Call) and plan.facts.is_loss(n))
    labels = {n.id for loss in losses for a in loss.args[1:] for n in walk(a) if isinstance(n, ast.Name)}
    came = stored(region.owner.target) if isinstance(region.owner, ast.For) else set()
    return entry_of(call, plan.flow.imports).samples is Samples.JOINS and bool(labels & came)


def _of_the_batch(region: Region, found: Sequence[Root]) -> list[Root]:
    """All that goes through the whole training is data: without constants that are written out, if there is more."""
    found = found if region.whole else _without_unchanging(region, found)
    data = [r.node for r in found if not is_constant(region.plan, r.node, ())]
    return [r for r in found if not region.whole or not is_constant(region.plan, r.node, data)] if data else [*found]


def _without_unchanging(region: Region, found: Sequence[Root]) -> Sequence[Root]:
    """The times of a batch of ways; not the one batch of every turn, to which noise is drawn: `X[:32]`."""
    plan = region.plan
    drawn = [r.node for r in found if not is_unchanging(plan, r.node)]
    return [r for r in found if r.node in drawn or fits(plan, r.node, drawn)] if drawn else found


def add(split: Split, region: Region, found: Sequence[Root]) -> Split:
    """A split with more that holds samples."""
    for root in found:
        if root.name is None:
            split = split if _is_cut(split, root) else replace(split, inline=split.inline | {root.node})
        elif root.name in split.names or root.node in split.renamed or root.node in split.inline:
            continue
        elif _is_drawn_here(region, root.name):
            split = replace(_told_apart(split, region, root), names=(*split.names, root.name))
        else:
            split = _whole_elsewhere(_told_apart(split, region, root), region, root.name)
    return replace(split, inline=frozenset(n for n in split.inline if not _is_sized_by_its_part(split, region, n)))


def _is_drawn_here(region: Region, name: str) -> bool:
    """By each turn anew: nobody wants all of the samples."""
    looked = any(is_name(n, name) for n in looked_at(region))
    return not region.whole and name in _bound(region) and not looked and not is_carried(region, name)


def _is_sized_by_its_part(split: Split, region: Region, node: ast.AST) -> bool:
    """`torch.randint(2, y.shape)` where `y` is cut: as many are drawn as the rank has samples."""
    names = (n for n in walk(node) if isinstance(n, ast.Name) and n.id in split.names)
    return isinstance(node, ast.Call) and any(is_asked_for_its_size(region, n) for n in names)


def _told_apart(split: Split, region: Region, root: Root) -> Split:
    """With what is said of the name: that it holds several tensors, and how."""
    value = region.plan.facts.value(root.node)
    assert root.name is not None
    kind = "dict" if value.of("dict") else structure_of(region.plan, region.rest, root.name)
    if not kind and (_is_written_out(region.plan, value) or _is_rest(region, root.name)):
        kind = "list"
    if not kind and value.items:  # `batch = draw(32)`, of which a function gives several
        kind = "nested" if any(part.items for part in value.items) else "list"
    if not kind and is_of_tensors(region.plan, root.node):
        kind = "nested"
    return replace(
        split,
        dicts=split.dicts | {root.name} if kind == "dict" else split.dicts,
        lists=split.lists | {root.name} if kind == "list" else split.lists,
        nested=split.nested | {root.name} if kind == "nested" else split.nested,
    )


def _is_written_out(plan: Reading, value: Value) -> bool:
    """`targets = [Y[places], Z[places]]`: as many tensors as are written there, each with all samples; not `[X[i]]`."""
    made = [o.node for o in value.of("list")]
    written = [n for n in made if isinstance(n, ast.List) and n.elts and not _unfolds(n)]
    single = (is_sample(plan, part) or plan.facts.value(part).rank == 0 for n in written for part in n.elts)
    return bool(made) and len(written) == len(made) and not any(single)


def _is_rest(region: Region, name: str) -> bool:
    """`for x, *targets in loader`: what else a batch has."""
    return any(
        isinstance(n, ast.Starred) and is_name(n.value, name) for n in walk(getattr(region.owner, "target", region.at))
    )


def _unfolds(written: ast.List) -> bool:
    return any(isinstance(part, ast.Starred) for part in written.elts)


def _is_cut(split: Split, root: Root) -> bool:
    """`y.data`, `noise[0]`: of what is cut already, a second time would be a part of the part."""
    base = base_of(root.node)
    return base in split.renamed or (isinstance(base, ast.Name) and base.id in split.names)


def _bound(region: Region) -> frozenset[str]:
    return region.bound_before | region.bound_in_rest


def _whole_elsewhere(split: Split, region: Region, name: str) -> Split:
    """What is there before the loop: its samples get the name, unless somebody else wants all of them."""
    looked = looked_at(region)
    reads = [n for s in region.rest for n in walk(s) if _reads(n, name) and n not in looked]
    sized = [n for n in reads if is_asked_for_its_size(region, n)]
    local = region.scope is None or name in region.bound_before or _is_local(region.scope, name)
    around = walk(region.scope) if local and region.scope is not None else region.plan.nodes()
    elsewhere = [n for n in (*around, *looked) if _reads(n, name) and n not in reads and _is_after(region, n)]
    anew = [value for _, value in values_for(region.rest, name)] if region.whole else []
    if not all(is_moved(value, name) for value in anew):
        if not region.of_one_step or (split.names and not is_made_of_the_batch(split, region, name)):
            return split  # each turn would need a part of another
        anew = []
    carried = not region.whole and name in _bound(region)
    again = not region.whole and not carried  # the next turn would take a part of the part
    if local and not elsewhere and not carried and not again and (not sized or region.of_one_step):
        return replace(split, names=(*split.names, name))
    if anew:
        return split
    later = bound_below(region, name) if carried else frozenset[ast.AST]()  # the next turn's, of all samples
    kept = {*sized} - {*_sizes_of_parts(region)}
    cut = [n for n in reads if isinstance(n, ast.expr) and n not in kept and n not in later]
    if later or not (local or any(_is_derived_by(region, n) for n in cut)):
        return replace(split, inline=split.inline | set(cut))
    return replace(split, renamed={**split.renamed, **dict.fromkeys(cut, f"{name}_part")})


def _is_derived_by(region: Region, read: ast.AST) -> bool:
    """`torch.autograd.grad(out.sum(), x)`: by what the model was given itself, no second cut of it."""
    around = (region.plan.facts.calls.get(a) for a in region.plan.program.ancestors(read) if isinstance(a, ast.Call))
    return any("torch.autograd.grad" in fact.names for fact in around if fact is not None)


def _sizes_of_parts(region: Region) -> Iterator[ast.AST]:
    """`torch.arange(len(y))`, `for i in range(len(y))`, which meet samples: as many as a rank has."""
    for call in (n for s in region.rest for n in walk(s) if isinstance(n, ast.Call) and not region.whole):
        counted = call.args if region.plan.facts.counts(call) and len(call.args) == 1 else ()
        yield from (n for size in (*written_sizes(region.plan, call)[:1], *counted) for n in walk(size))


def is_made_of_the_batch(split: Split, region: Region, name: str) -> bool:
    """`logq = prior.log_prob(x)`, of all samples before these are split; `logq = logq - log_det` is of the rank's."""
    made = [v for _, v in values_for(region.block[: region.block.index(region.at)], name)]
    over = any(entry_of(v, region.plan.flow.imports).over for v in made)
    read = (n for v in made for n in walk(v) if isinstance(n, ast.Name) and not is_asked_for_its_size(region, n))
    return not over and any(n.id in split.names and n.id != name for n in read)


def is_all_of_the_data(region: Region) -> bool:
    """`x = X.to(device)` in each turn: what it meets from outside is the rows beside it."""
    names = {n for split in region.plan.assumed.splits if split.at is region.at for n in split.names}
    made = {name: [v for _, v in values_for(region.block, name)] for name in names}
    parts = [n for values in made.values() for v in values for n in walk(v)]
    own = region.bound_before | region.bound_in_rest | stored(getattr(region.owner, "target", region.owner))
    anew = any(isinstance(n, ast.Name) and n.id in own for n in parts)
    calls = (n for n in parts if isinstance(n, ast.Call))
    known = (entry_of(c, region.plan.flow.imports) for c in calls)
    drawn = any(op.draws is not None or not (op.reads or op.samples is Samples.KEEPS) for op in known)
    return bool(made) and all(made.values()) and not (anew or drawn)


def _reads(node: ast.AST, name: str) -> bool:
    return is_name(node, name) and isinstance(node.ctx, ast.Load)


def is_asked_for_its_size(region: Region, node: ast.AST) -> bool:
    parent = region.plan.program.parents[node]
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Name) and parent.func.id == "len"
    return isinstance(parent, ast.Attribute) and entry_of(parent).about == "size"


def _is_local(scope: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in walk(scope))


def _is_after(region: Region, node: ast.AST) -> bool:
    """May it be read once the samples have been dealt out: further down, or in another function?"""
    below = region.plan.program.span(node) > region.plan.program.span(region.at)
    return below or region.plan.program.function_of(node) is not region.scope


def is_carried(region: Region, name: str) -> bool:
    """Would a turn find the rank's samples under the name, and take a part of them? So all of them must stay there."""
    around = (a for a in region.plan.program.ancestors(region.at) if isinstance(a, LOOPS))
    loops = [a for a in around if region.plan.program.function_of(a) is region.scope]
    if not loops:
        return False
    loop, *outer = loops
    if not isinstance(loop, ast.While) and name in stored(loop.target):  # `for X, y in batches(X, y)` in each epoch
        anew = (part for o in outer for n in walk(o) for part in _bound_in(n, name))
        inside = {n for part in anew for n in walk(part)}  # an evaluation, of batches of its own
        read = (n for o in outer for n in {*walk(o)} - inside if isinstance(n, ast.Name))
        return any(n.id == name and isinstance(n.ctx, ast.Load) for n in read)
    found = effects(loop.body, {})
    turn = replace(region, owner=loop, block=loop.body, at=loop.body[0])
    return name in found.reads and (name not in found.binds or name in _sources(turn, name))


def _bound_in(loop: ast.AST, name: str) -> Sequence[ast.AST]:
    """What a loop or comprehension runs once it has given the name."""
    match loop:
        case ast.For(target=target, body=body) if name in stored(target):
            return body
        case ast.ListComp(elt=item, generators=[one]) | ast.GeneratorExp(elt=item, generators=[one]):
            return [item, *one.ifs] if name in stored(one.target) else ()
    return ()


def _sources(region: Region, name: str) -> set[str]:
    """Names that its value comes from, in whatever number of steps."""
    made, todo = set[str](), [name]
    while todo:
        one = todo.pop()
        changed = (n for s in region.rest for n in walk(s) if isinstance(n, ast.AugAssign) and one in stored(n))
        for value in (*(v for _, v in values_for(region.rest, one)), *(n.target for n in changed)):
            new = {n.id for n in walk(value) if isinstance(n, ast.Name)} - made
            made |= new
            todo += new
    return made


def bound_below(region: Region, name: str) -> frozenset[ast.AST]:
    """Where what the next turn has is made, further down: of all the samples."""
    names = {name} | _sources(region, name)
    bound = [n for s in region.rest for n in walk(s) if isinstance(n, BINDS) and names & stored(n)]
    return frozenset(part for n in bound if name in region.bound_in_rest for part in walk(n))
