"""Targets that have their samples elsewhere than the batch: flattened beforehand, or without a dimension of time."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nbddp.analysis.library import Shape, effect_of, entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.origins import TENSORS, is_mask
from nbddp.analysis.splitting.regions import definitions, is_split, region_at
from nbddp.analysis.syntax import is_name, qualified, walk
from nbddp.analysis.values import FLAT, TURNED, Split

SHAPED = (Shape.ANEW, Shape.FLAT)


def with_places(plan: Reading, split: Split) -> Split:
    """What a loss compares has its samples in one place: that of the model's output is known."""
    unlike = dict(split.unlike)
    for output, target in _compared(plan, split):
        key = _key(plan, split, target)
        if key is None or key in unlike:
            continue
        if split.dim and (place := _place(plan, output)) != split.place(key):
            unlike[key] = place
        elif not split.dim and _place(plan, output) == TURNED and any(map(_is_stacked, plan.bindings.made_by(target))):
            unlike[key] = TURNED
        elif not split.dim and _is_flattened(plan, output) and _was_flattened(plan, _bare(target)):
            unlike[key] = FLAT
    lengths = {*_lengths(plan)}
    columns = {c for n in _read(plan, split) for c in _picked(plan, n, second=True)} if split.dim else set[str]()
    counted = [n for n in _read(plan, split) if split.dim and (n in lengths or _is_of_numbers(plan, n))]
    counted += [n for n in _read(plan, split) if columns.intersection(_picked(plan, n, second=False))]
    return replace(split, unlike={n.id: "" for n in counted} | unlike)


def with_masks(plan: Reading, split: Split) -> Split:
    """What picks samples by what is true of each of them picks the same ones out of a part."""
    held = [*split.inline, *split.renamed, *_read(plan, split)]
    return replace(split, masks=frozenset(plan.program.source(n) for n in held if is_mask(plan, n)))


def _picked(plan: Reading, name: ast.Name, *, second: bool) -> Iterator[str]:
    """`idx` of `x = X[:, idx]`, and of `y = Y[idx]` beside it."""
    for made in plan.bindings.made_by(name):
        match made:
            case ast.Subscript(slice=ast.Tuple(elts=[ast.Slice(lower=None, upper=None), index])) if second:
                yield ast.unparse(index)
            case ast.Subscript(slice=index) if not second and not isinstance(index, ast.Tuple | ast.Constant):
                yield ast.unparse(index)


def _read(plan: Reading, split: Split) -> Iterator[ast.Name]:
    for node in (n for s in region_at(plan, split.at).rest for n in walk(s)):
        if isinstance(node, ast.Name) and node.id in split.names and isinstance(node.ctx, ast.Load):
            yield node


def _lengths(plan: Reading) -> Iterator[ast.expr]:
    """`lengths` of `pack_padded_sequence(x, lengths.cpu())`, wherever they come from."""
    packs = plan.calls_that(lambda name: effect_of(name).packs)
    waiting = [_bare(call.node.args[1]) for call in packs if len(call.node.args) > 1]
    for one in waiting:
        yield one
        below = [_bare(made) for made in plan.bindings.below(one)] if isinstance(one, ast.Name) else []
        waiting += [made for made in below if made not in waiting]


def _is_of_numbers(plan: Reading, name: ast.Name) -> bool:
    """One for each sample: `torch.tensor([len(text) for text in texts])`, which a loader's own `collate_fn` gives."""
    made = [n for one in plan.bindings.made_by(name) for n in _without_tensor(plan, one)]
    return bool(made) and all(_counts_each(node) for node in made)


def _without_tensor(plan: Reading, node: ast.expr) -> Sequence[ast.expr]:
    node = _bare(node)
    tensor = isinstance(node, ast.Call) and qualified(node.func, plan.flow.imports) in TENSORS and node.args
    return plan.bindings.made_by(node.args[0]) if tensor and isinstance(node, ast.Call) else [node]


def _counts_each(node: ast.expr) -> bool:
    match node:
        case ast.ListComp(elt=ast.Call(func=ast.Name(id="len" | "int" | "float"))):
            return True
        case ast.ListComp(elt=ast.Call(func=ast.Attribute(attr="size"), args=[_])):
            return True
        case ast.ListComp(elt=ast.Subscript(value=ast.Attribute(attr="shape"))):
            return True
        case ast.Call(func=ast.Name(id="list"), args=[ast.Call(func=ast.Name(id="map"), args=[ast.Name(id="len"), _])]):
            return True
    return False


def _compared(plan: Reading, split: Split) -> Iterator[tuple[ast.expr, ast.expr]]:
    inside = {n for s in region_at(plan, split.at).rest for n in walk(s)}
    for call in plan.facts.calls:
        if plan.facts.is_loss(call) and call in inside and len(call.args) > 1 and not plan.facts.rows_given(call):
            yield call.args[0], call.args[1]
    for node in inside:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and is_split(plan, node.left):
            yield node.left, node.right


def _place(plan: Reading, node: ast.expr) -> str:
    value = plan.facts.value(node)
    return next((kind for kind in (TURNED, FLAT) if value.of(kind)), "")


def _bare(node: ast.expr) -> ast.expr:
    """`targets` of `targets.long().to(device)`: what changes no shape is left out."""
    while isinstance(node, ast.Call) and entry_of(node).shape in (Shape.SAME, Shape.ONES):
        node = node.func.value  # type: ignore[attr-defined]
    return node


def _key(plan: Reading, split: Split, target: ast.expr) -> str | None:
    node = _bare(target)
    source = plan.program.source(node)
    named = isinstance(node, ast.Name) and source in split.names and not _is_made_anew(plan, split, node)
    return source if named or node in split.renamed or node in split.inline else None


def _is_made_anew(plan: Reading, split: Split, name: ast.Name) -> bool:
    """`target = target[1:].view(-1)` behind the cut; not `target = target.long().to(device)`."""
    return not all(is_name(_bare(made), name.id) for made in definitions(region_at(plan, split.at), name))


def _is_stacked(node: ast.expr) -> bool:
    """`torch.stack([ways[begin + i] for i in range(length)])`: what is stacked comes first."""
    dims = [*node.args[1:], *(k.value for k in node.keywords)] if isinstance(node, ast.Call) else []
    first = all(isinstance(dim, ast.Constant) and dim.value == 0 for dim in dims)
    return isinstance(node, ast.Call) and first and ast.unparse(node.func).rpartition(".")[2] == "stack"


def _was_flattened(plan: Reading, target: ast.expr) -> bool:
    """Also before it was a tensor: `torch.from_numpy(labels.flatten())`."""
    for made in plan.bindings.made_by(target):
        tensor = (
            isinstance(made, ast.Call)
            and qualified(made.func, plan.flow.imports) in (*TENSORS, "torch.from_numpy")
            and made.args
        )
        if _is_flat(made.args[0] if tensor and isinstance(made, ast.Call) else made):
            return True
    return False


def _is_flat(node: ast.expr) -> bool:
    """`targets.view(-1)`."""
    if not isinstance(node, ast.Call) or entry_of(node).shape not in SHAPED:
        return False
    flat = entry_of(node).shape is Shape.FLAT and not node.args
    return flat or (len(node.args) == 1 and isinstance(node.args[0], ast.UnaryOp | ast.BinOp))


def _is_flattened(plan: Reading, output: ast.expr) -> bool:
    """`output.view(-1, vocabulary)`."""
    for node in plan.bindings.made_by(_bare(output)):
        if isinstance(node, ast.Call) and entry_of(node).shape in SHAPED:
            first = node.args[0] if node.args else None
            if isinstance(first, ast.UnaryOp | ast.BinOp) and len(node.args) > 1:
                return True
    return False
