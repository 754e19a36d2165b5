"""How a number of one rank's share is written as that of all: `sum_over_ranks(x)`, `sum_over_ranks(x) / world_size`."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from nbddp.analysis.library import Samples, effect_of
from nbddp.analysis.loaders import Binds, ShardedReading, world_size
from nbddp.analysis.slicing import all_arguments
from nbddp.analysis.values import Extent, Reduction, Value

# What a script's sum_over_ranks has to add up; the widest of them decides how long it is.
KINDS = ("floats", "numbers", "tensors", "anything")
KEEPS = frozenset("detach float double long int cpu cuda item".split())
SUMMARIES = frozenset("sum mean item".split())


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
    divided = text.after != ")"
    outer = divided and isinstance(plan.program.parents.get(node), Binds)
    return Text(f"({text.before}", f"{text.after})", text.uses) if outer else text


def name_over_ranks(plan: ShardedReading, reduction: Reduction) -> Text:
    """Around a name, behind the loop that leaves it."""
    return _text(plan, reduction.loop, f"{reduction.how}_over_ranks", kind_of(plan, reduction))


def kind_of(plan: ShardedReading, reduction: Reduction) -> str:
    """What is added up in a loop."""
    loop = reduction.loop
    seen = [plan.facts.value(n) for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == reduction.name]
    if any(map(_holds, seen)):
        return "lists" if reduction.how == "mean" and _lists_numbers(plan, reduction) else "anything"
    added = [n for n in ast.walk(loop) if isinstance(n, ast.AugAssign) and ast.unparse(n.target) == reduction.name]
    made: list[ast.expr | None] = [n.value for n in added]
    if added and isinstance(added[0].target, ast.Name):
        made = _made_of(plan, added[0].target)  # also what it starts with: `torch.zeros(1)`
    if reduction.number or (made and all(n is not None and is_number(plan, n) for n in made)):
        return "numbers" if _shown_whole(plan, reduction) else "floats"
    return "tensors" if added and all(is_scalar(plan, n.value) for n in added) else "anything"


def _lists_numbers(plan: ShardedReading, reduction: Reduction) -> bool:
    """`losses = []` and `losses.append(loss.item())`, and nothing else that is put into it."""
    function, name = plan.program.function_of(reduction.loop), reduction.name
    body: ast.AST = function if function is not None else plan.program.tree
    places = [n for n in ast.walk(body) if _is_name(n, name)]
    stores = [plan.program.parents[n] for n in places if isinstance(getattr(n, "ctx", None), ast.Store)]
    written = [call for n in places if (call := _called_with(plan, n)) is not None]
    empty = all(isinstance(s, ast.Assign) and ast.unparse(s.value) in ("[]", "list()") for s in stores)
    return (
        bool(stores and written)
        and empty
        and all(
            isinstance(c.func, ast.Attribute) and c.func.attr == "append" and is_number(plan, c.args[0])
            for c in written
        )
    )


def _called_with(plan: ShardedReading, node: ast.AST) -> ast.Call | None:
    """A method of it that is given something."""
    method = plan.program.parents.get(node)
    call = plan.program.parents.get(method) if isinstance(method, ast.Attribute) else None
    return call if isinstance(call, ast.Call) and call.func is method and call.args else None


def _text(plan: ShardedReading, node: ast.AST, part: str, kind: str) -> Text:
    total = plan.naming("sum_over_ranks")
    if part == "mean_over_ranks" and kind == "lists":
        return Text(f"{plan.naming(part)}(", ")", (part, "lists of numbers"))
    if part == "mean_over_ranks" and kind != "anything":
        kind = "floats" if kind == "numbers" else kind
        return Text(f"{total}(", f") / {world_size(plan, node)}", ("sum_over_ranks", f"adds {kind}", "dist"))
    adds = (f"adds {kind}",) if part == "sum_over_ranks" else ()
    return Text(f"{plan.naming(part)}(", ")", (part, *adds))


def _holds(value: Value) -> bool:
    return bool(value.items or value.of("list", "dict", "instance", "foreign"))


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def is_number(plan: ShardedReading, node: ast.expr) -> bool:
    """Surely one of Python's own: `loss.item() * len(y)`."""
    match node:
        case ast.BinOp(left=left, right=right):
            return is_number(plan, left) and is_number(plan, right)
        case ast.Call(func=ast.Name(id="len" | "int" | "float")) | ast.Constant(value=int() | float()):
            return True
        case ast.Call(func=ast.Attribute(attr="item"), args=[]):
            return True
        case ast.Name() if not plan.facts.value(node).number:
            made = _made_of(plan, node)
            return bool(made) and all(m is not None and is_number(plan, m) for m in made)
    return plan.facts.value(node).number


def _made_of(plan: ShardedReading, name: ast.Name) -> list[ast.expr | None]:
    """All that the name is set to in its function; None where that is no plain expression, or itself again."""
    function = plan.program.function_of(name)
    if isinstance(function, ast.FunctionDef) and name.id in {a.arg for a in all_arguments(function.args)}:
        return [None]
    found: list[ast.expr | None] = []
    for node in plan.nodes():
        if not (_is_name(node, name.id) and isinstance(getattr(node, "ctx", None), ast.Store)):
            continue
        if plan.program.function_of(node) is function:
            value = _assigned(plan, node)
            again = value is not None and any(_is_name(n, name.id) for n in ast.walk(value))
            found.append(None if again else value)
    return found


def _assigned(plan: ShardedReading, target: ast.AST) -> ast.expr | None:
    """What a statement sets this name to, also as one of several: `total, count = 0.0, 0`."""
    around = plan.program.parents[target]
    statement = plan.program.parents[around] if isinstance(around, ast.Tuple) else around
    match statement:
        case ast.AugAssign(value=value):
            return value
        case ast.Assign(value=value) if around is statement:
            return value
        case ast.Assign(value=ast.Tuple(elts=values)) if isinstance(around, ast.Tuple) and around in statement.targets:
            return values[around.elts.index(target)] if len(values) == len(around.elts) else None  # type: ignore[arg-type]
    return None


def is_scalar(plan: ShardedReading, node: ast.expr) -> bool:
    """A number, or a tensor that holds a single one."""
    value = plan.facts.value(node)
    if value.number or isinstance(node, ast.Constant):
        return True
    match node:
        case ast.BinOp(left=left, right=right):
            return is_scalar(plan, left) and is_scalar(plan, right)
        case ast.Call(func=ast.Attribute(attr=word, value=inner), args=[], keywords=[]) if word in SUMMARIES | KEEPS:
            return word in SUMMARIES or is_scalar(plan, inner)
        case ast.Attribute(attr="data", value=inner):
            return is_scalar(plan, inner)
        case ast.Call():
            names = plan.facts.calls[node].names if node in plan.facts.calls else set[str]()
            named = any(effect_of(n).samples is Samples.LOSS for n in names)
            is_loss = named or bool(plan.facts.value(node.func).of("loss"))
            return is_loss and value.extent in (Extent.MEAN, Extent.SUM)
        case ast.Name(id=name):
            trained = (c.func for c in plan.facts.backward if isinstance(c.func, ast.Attribute))
            if any(_is_name(func.value, name) for func in trained):
                return True
            made = _made_of(plan, node)
            return bool(made) and all(m is not None and is_scalar(plan, m) for m in made)
    return False


def _shown_whole(plan: ShardedReading, reduction: Reduction) -> bool:
    """May it matter that a count is a whole number? Not where it is divided, or formatted with digits."""
    function = plan.program.function_of(reduction.loop)
    body: ast.AST = function if function is not None else plan.program.tree
    end = getattr(reduction.loop, "end_lineno", 0) or 0
    reads = [n for n in ast.walk(body) if _is_name(n, reduction.name) and isinstance(getattr(n, "ctx", None), ast.Load)]
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
