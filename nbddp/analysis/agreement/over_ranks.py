"""How a number of one rank's share is written as that of all: `sum_over_ranks(x)`, `sum_over_ranks(x) / world_size`."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from nbddp.analysis.combining import fillings
from nbddp.analysis.library import Samples, Shape, effect_of, entry_of
from nbddp.analysis.loaders import Binds, ShardedReading
from nbddp.analysis.syntax import increment, is_name, walk
from nbddp.analysis.values import FRACTION, Extent, Reduction, Value, backward_of, spread

# What a script's sum_over_ranks has to add up; the widest of them decides how long it is.
KINDS = ("floats", "numbers", "tensors", "anything")


@dataclass(frozen=True)
class Text:
    """What stands around a number."""

    before: str
    after: str
    uses: tuple[str, ...]


def over_ranks(plan: ShardedReading, node: ast.expr, part: str) -> Text:
    """Around an expression; the sum of all ranks stays a whole number where theirs are."""
    value = plan.facts.value(node)
    if part not in ("sum_over_ranks", "mean_over_ranks"):
        return Text(f"{plan.naming(part)}(", ")", (part,))
    kind = "numbers" if is_number(plan, node) else "tensors" if is_scalar(plan, node) else "anything"
    kind = "anything" if _holds(value) else kind
    text = _text(plan, node, part, kind)
    if part == "sum_over_ranks" and _counts_parts(plan, node):
        return Text(f"round({text.before}", f"{text.after})", text.uses)
    divided = text.after != ")"
    outer = divided and isinstance(plan.program.parents.get(node), Binds)
    return Text(f"({text.before}", f"{text.after})", text.uses) if outer else text


def _counts_parts(plan: ShardedReading, node: ast.expr) -> bool:
    """`meter.count`, where batches are split: each rank has added up `samples / world_size`, no whole numbers."""
    value = plan.facts.value(node)
    counts = spread(value) is Extent.SUM and value.equal and not value.of(FRACTION)
    return bool(plan.assumed.splits) and counts and isinstance(node, ast.Attribute | ast.Subscript)


def name_over_ranks(plan: ShardedReading, reduction: Reduction) -> Text:
    """Around a name, behind the loop that leaves it."""
    text = _text(plan, reduction.loop, f"{reduction.how}_over_ranks", kind_of(plan, reduction))
    return Text(f"round({text.before}", f"{text.after})", text.uses) if reduction.parts else text


def kind_of(plan: ShardedReading, reduction: Reduction) -> str:
    """What is added up in a loop."""
    loop = reduction.loop
    seen = [plan.facts.value(n) for n in walk(loop) if isinstance(n, ast.Name) and n.id == reduction.name]
    if any(map(_holds, seen)):
        return "lists" if reduction.how == "mean" and _lists_numbers(plan, seen) else "anything"
    added = [found for n in walk(loop) if (found := increment(n)) and ast.unparse(found.place) == reduction.name]
    made: list[ast.AST | None] = [found.value for found in added]
    stored = (n for n in walk(loop) if is_name(n, reduction.name) and isinstance(n.ctx, ast.Store))
    if target := next(stored, None):
        made = [target]  # by all that is put there, also what it starts with: `torch.zeros(1)`
    if reduction.number or (made and all(is_number(plan, n) for n in made)):
        return "numbers" if _shown_whole(plan, reduction) else "floats"
    return "tensors" if made and all(is_scalar(plan, n) for n in made) else "anything"


def _lists_numbers(plan: ShardedReading, seen: list[Value]) -> bool:
    """`losses = []` and `losses.append(loss.item())`, and nothing else that is put into it."""
    lists = {o for value in seen for o in value.objs}
    filled = [call if isinstance(call, ast.Call) and _is_append(call) else None for call in fillings(plan.facts, lists)]
    empty = all(ast.unparse(o.node) in ("[]", "list()") for o in lists)
    return bool(filled) and empty and all(c is not None and is_number(plan, c.args[0]) for c in filled)


def _is_append(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "append"


def _text(plan: ShardedReading, node: ast.AST, part: str, kind: str) -> Text:
    total = plan.naming("sum_over_ranks")
    if part == "mean_over_ranks" and kind == "lists":
        return Text(f"{plan.naming(part)}(", ")", (part, "lists of numbers"))
    if part == "mean_over_ranks" and kind != "anything":
        kind = "floats" if kind == "numbers" else kind
        return Text(f"{total}(", f") / {plan.world_size(node)}", ("sum_over_ranks", f"adds {kind}", "dist"))
    adds = (f"adds {kind}",) if part == "sum_over_ranks" else ()
    return Text(f"{plan.naming(part)}(", ")", (part, *adds))


def _holds(value: Value) -> bool:
    return bool(value.items or value.of("list", "dict", "instance", "foreign"))


def is_number(plan: ShardedReading, node: ast.AST | None, seen: frozenset[ast.AST] = frozenset()) -> bool:
    """Surely one of Python's own: `loss.item() * len(y)`."""
    if node is None or node in seen or plan.facts.value(node).number:
        return node is not None  # if it was one, it still is: `total = total / n`
    match node:
        case ast.BinOp(left=left, right=right):
            return is_number(plan, left, seen) and is_number(plan, right, seen)
        case ast.Name(id=name):
            made = plan.bindings.given(node)
            return bool(made) and all(_counts(plan, n, name) or is_number(plan, n, seen | {node}) for n in made)
        case (
            ast.Call(func=ast.Attribute(attr="size"), args=[_])
            | ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant() | ast.UnaryOp())
        ):
            return True
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def _counts(plan: ShardedReading, node: ast.AST | None, name: str) -> bool:
    """`for name in range(…)`, `for name, batch in enumerate(…)`."""
    match (node.target, node.iter) if isinstance(node, ast.For | ast.comprehension) else None:
        case ast.Name(), source:
            return plan.facts.counts(source)
        case ast.Tuple(elts=[ast.Name(id=first), _]), ast.Call(func=ast.Name(id="enumerate")):
            return first == name
    return False


def is_scalar(plan: ShardedReading, node: ast.AST | None, seen: frozenset[ast.AST] = frozenset()) -> bool:
    """A number, or a tensor that holds a single one."""
    if node is None or node in seen or isinstance(node, ast.Constant) or is_number(plan, node):
        return node is not None
    value, seen = plan.facts.value(node), seen | {node}
    match node:
        case ast.BinOp(left=left, right=right):
            return is_scalar(plan, left, seen) and is_scalar(plan, right, seen)
        case ast.Call(func=ast.Attribute(value=of, attr=word), args=[], keywords=[]) if (
            _is_total(word) or word == "item"
        ):
            return word == "item" or not _is_numpys(plan, of)
        case ast.Call(func=ast.Attribute(value=inner)) if entry_of(node).shape is Shape.SAME:
            return is_scalar(plan, inner, seen)
        case ast.Attribute(attr="data", value=inner):
            return is_scalar(plan, inner, seen)
        case ast.Call(func=ast.Attribute(attr="zeros" | "tensor" as word), args=[size]):
            inner = size.elts[0] if isinstance(size, ast.List | ast.Tuple) and len(size.elts) == 1 else size
            return isinstance(inner, ast.Constant) and (inner.value == 1 or word == "tensor")
        case ast.Call() if plan.facts.is_loss(node):
            return value.extent in (Extent.MEAN, Extent.SUM)
        case ast.Name(id=name):
            trained = {_turn(plan, t) for c in plan.facts.backward if (t := backward_of(c)) and is_name(t, name)}
            made = plan.bindings.of(node)
            return bool(made) and all(_turn(plan, m.target) in trained or is_scalar(plan, m.given, seen) for m in made)
    return False


def _is_numpys(plan: ShardedReading, node: ast.expr) -> bool:
    """`np.array(losses)`, `(output.numpy() == y.numpy())`, whose mean has methods of its own."""
    made = [n for one in plan.bindings.made_by(node) for n in _compared(one)]
    facts = (plan.facts.calls.get(n) for n in made if isinstance(n, ast.Call))
    by_word = any(isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "numpy" for n in made)
    return by_word or any(name.startswith("numpy.") for fact in facts if fact for name in fact.names)


def _compared(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.Compare(left=left, comparators=others):
            return [left, *others]
        case ast.BinOp(left=left, right=right):
            return [*_compared(left), *_compared(right)]
    return [node]


def _is_total(word: str) -> bool:
    return effect_of(f".{word}").samples in (Samples.SUM, Samples.MEAN)


def _turn(plan: ShardedReading, node: ast.AST) -> ast.AST | None:
    """Elsewhere the same name may stand for something else: `loss` of a step, and of each class beside it."""
    turns = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef)
    return next((a for a in plan.program.ancestors(node) if isinstance(a, turns)), None)


def _shown_whole(plan: ShardedReading, reduction: Reduction) -> bool:
    """May it matter that a count is a whole number? Not where it is divided, or formatted with digits."""
    function = plan.program.function_of(reduction.loop)
    body = walk(function) if function is not None else plan.program.nodes
    end = getattr(reduction.loop, "end_lineno", 0) or 0
    reads = [n for n in body if is_name(n, reduction.name) and isinstance(getattr(n, "ctx", None), ast.Load)]
    name = reduction.name.isidentifier()
    return not name or not all(_becomes_float(plan, n) for n in reads if getattr(n, "lineno", 0) > end)


def _becomes_float(plan: ShardedReading, node: ast.AST) -> bool:
    parent = plan.program.parents.get(node)
    match parent:
        case ast.BinOp(op=ast.Div(), left=left) if left is node:
            return True
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            other = right if left is node else left
            return isinstance(other, ast.Constant) and isinstance(other.value, float)
        case ast.FormattedValue(format_spec=ast.JoinedStr(values=[ast.Constant(value=str(spec))])):
            return spec[-1:] in tuple("feg%")
    return False
