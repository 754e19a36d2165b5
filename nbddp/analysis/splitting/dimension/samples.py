"""The dimension of the samples: the first, or the second where time comes first."""

from __future__ import annotations

import ast

from nbddp.analysis.library import Shape, effect_of, entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.dimension.marks import marked_dim
from nbddp.analysis.splitting.dimension.sequences import is_layer, time_first
from nbddp.analysis.splitting.dimension.turning import swaps_the_first, turned_before
from nbddp.analysis.splitting.origins import written_sizes
from nbddp.analysis.splitting.regions import held, is_split
from nbddp.analysis.splitting.single_samples import along_second
from nbddp.analysis.values import TURNED, Split
from nbddp.sentence import Sentence, sentence


def samples_in(plan: Reading, split: Split) -> int | Sentence:
    """By what shows it; a reason where that is not clear."""
    if (dim := marked_dim(plan, split.at)) is not None:
        known = sentence("batches are split along their first or their second dimension, not along dim %1", dim)
        return dim if dim < 2 else known
    second, layer = along_second(plan, split), None if turned_before(plan, split) else time_first(plan)
    batched = None if layer or second else _batchified(plan, split)
    if layer is None and second is None and batched is None:
        return 0
    if not _goes_along_samples(plan) and (second is not None or (batched is None and _shows_several(plan, split))):
        return 1
    if batched is not None:
        return sentence("'%1' puts time into the first dimension, and it is not clear where the model has the samples",
                        plan.program.source(batched))  # fmt: skip
    if second is not None:
        return sentence("the samples of '%1' are in its second dimension, and a layer of the model takes the first for "
                        "them", plan.program.source(second))  # fmt: skip
    return sentence("'%1' takes time as its first dimension, and it is not clear which one counts the samples",
                    layer or "")  # fmt: skip


def _goes_along_samples(plan: Reading) -> bool:
    """Is there a layer that takes samples in the first dimension, or is it given them there?"""
    calls = plan.calls_that(is_layer)
    first = (k.value for c in calls for k in c.node.keywords if k.arg == "batch_first")
    given = (call.args[:1] for call, fact in plan.facts.calls.items() if fact.ever_in_forward and fact.called)
    counted = any(_begins_with_length(value) for values in given for value in values)
    return counted or any(plan.facts.value(value).const is not False for value in first)


def _begins_with_length(node: ast.expr) -> bool:
    """`x.view(len(x), length, -1)`: the samples stay where they are."""
    match node:
        case ast.Call(func=ast.Attribute(value=base, attr="view" | "reshape"), args=[ast.Call() as first, _, _]):
            return ast.unparse(first) in (f"len({ast.unparse(base)})", f"{ast.unparse(base)}.size(0)")
    return False


def _batchified(plan: Reading, split: Split) -> ast.expr | None:
    """`data.view(batch_size, -1).t()`: sequences side by side."""
    for part in (n for one in held(plan, split) for n in plan.bindings.made_of(one)):
        turned = part.func if isinstance(part, ast.Call) else part
        if isinstance(part, ast.expr) and isinstance(turned, ast.Attribute) and isinstance(turned.value, ast.Call):
            if entry_of(turned).shape is Shape.TURNED and entry_of(turned.value).shape is Shape.ANEW:
                return part
    return None


def _shows_several(plan: Reading, split: Split) -> bool:
    """Does anything show that the second dimension counts sequences: data put side by side, a state for each?"""
    if _batchified(plan, split) is not None:
        return True
    embeds = bool([*plan.calls("torch.nn.Embedding")])
    parts = [n for one in held(plan, split) for n in plan.bindings.made_of(one)]
    made = any(_sizes(plan, n) > (1 if embeds else 2) or _stacks_second(n) or _turns_rows(plan, n) for n in parts)
    return made or any(_is_state(plan, n) for n in plan.nodes())


def _turns_rows(plan: Reading, node: ast.AST) -> bool:
    """`torch.transpose(X[i : i + 8], 0, 1)`: the rows that were cut out, side by side."""
    turned = isinstance(node, ast.Call) and swaps_the_first(plan, node)
    made = plan.bindings.made_of(node) if turned else ()
    return any(isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Slice) for n in made)


def _sizes(plan: Reading, node: ast.AST) -> int:
    """How many dimensions what is made has, where they are written out; one of a single entry is none."""
    sizes = written_sizes(plan, node)
    second = sizes[1] if len(sizes) > 1 else None
    return 0 if isinstance(second, ast.Constant) and second.value == 1 else len(sizes)


def _stacks_second(node: ast.AST) -> bool:
    """`torch.stack(sequences, dim=1)`, `pad_sequence(sequences)`, `torch.stack(sequences.chunk(length, 1))`."""
    if not isinstance(node, ast.Call):
        return False
    word = ast.unparse(node.func).rpartition(".")[2]
    along = [*node.args[1:2], *(k.value for k in node.keywords if k.arg in ("dim", "axis"))]
    first = any(k.arg == "batch_first" for k in node.keywords)
    second = word == "stack" and (_is_one(along) or (not along and any(map(_apart_in_time, node.args))))
    return second or (word == "pad_sequence" and not first)


def _is_one(along: list[ast.expr]) -> bool:
    return any(isinstance(a, ast.Constant) and a.value == 1 for a in along)


def _apart_in_time(node: ast.expr) -> bool:
    """Behind the samples: put together again, time comes first."""
    match node:
        case ast.Call(func=ast.Attribute(attr="chunk" | "split" | "unbind" as word), args=[*given], keywords=named):
            return _is_one([*given[word != "unbind" :], *(k.value for k in named if k.arg == "dim")])
    return False


def _is_state(plan: Reading, node: ast.AST) -> bool:
    """`torch.zeros(layers, batch_size, hidden)`, in a method of a model: as many sequences as a state has."""
    inside = any(isinstance(a, ast.ClassDef) for a in plan.program.ancestors(node)) if isinstance(node, ast.Call) else 0
    return bool(inside) and _sizes(plan, node) == 3


def set_against(plan: Reading) -> ast.expr | None:
    """In a model or a step, what goes along the second dimension, where that is the samples'."""
    for node in plan.nodes():
        match node:
            case ast.Subscript(value=base, slice=ast.Tuple(elts=[_, index, *_])) if _is_turned(plan, base):
                whole = isinstance(index, ast.Slice) and index.lower is index.upper is None
                if not whole and not (isinstance(index, ast.Constant) and index.value is ...):
                    return node
            case ast.BinOp(left=left, op=ast.MatMult(), right=right) if _is_turned(plan, left) and _is_turned(
                plan, right
            ):
                return node
            case ast.Call(func=ast.Attribute(value=base, attr=word)) if effect_of(f".{word}").over:
                base = node.args[0] if plan.facts.value(base).of("library") and node.args else base
                given = [*node.args, *(k.value for k in node.keywords if k.arg in ("dim", "axis"))]
                if _is_turned(plan, base) and any(isinstance(g, ast.Constant) and g.value == 1 for g in given):
                    if plan.facts.calls[node].ever_in_forward:
                        return node
    return None


def _is_turned(plan: Reading, node: ast.expr) -> bool:
    return is_split(plan, node) and bool(plan.facts.value(node).of(TURNED))
