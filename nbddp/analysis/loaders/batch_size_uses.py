"""What a number that is the batch size is there for, where it is read: a shape, a count, something to show."""

from __future__ import annotations

import ast
from typing import Literal

from nbddp.analysis.loaders.evaluated_batches import in_evaluation
from nbddp.analysis.loaders.loader_calls import loader_call
from nbddp.analysis.loaders.sharding import ShardedReading
from nbddp.analysis.syntax import qualified
from nbddp.analysis.values import Extent, Loop, spread

Use = Literal["loader", "shape", "rest", "batch", "count", "passed", "shown", "unknown"]

Place = ast.Name | ast.Attribute | ast.Subscript


FACTORIES = frozenset(
    """
    zeros ones full rand randn randint empty normal eye arange tensor view reshape expand repeat new_zeros new_ones
    new_full new_empty new_tensor new Size unsqueeze fill_ FloatTensor LongTensor Tensor repeat_interleave zeros_like
    randperm uniform choice random_sample standard_normal linspace resize_ unfold chunk split pad
    """.split()
)

SHOWS = frozenset("print format info debug log update init log_params str".split())

PASSES = frozenset("dict int float min max Namespace SimpleNamespace add_argument set_defaults".split())


def use_of(plan: ShardedReading, node: ast.expr) -> Use:
    child: ast.AST = node
    for parent in plan.program.ancestors(node):
        match parent:
            case ast.keyword() | ast.Tuple() | ast.List() | ast.Starred() | ast.Dict() | ast.Attribute() | ast.IfExp():
                pass
            case ast.Call():
                return "rest" if is_rest(plan, parent, node) else _in_call(plan, parent, child)
            case ast.BinOp():
                return _in_arithmetic(plan, parent, child)
            case ast.Compare():
                others = [o for o in [parent.left, *parent.comparators] if o is not child]
                return next((_of_batch(plan, node, o) for o in others if _is_of_batch(plan, o)), "count")
            case ast.Subscript() | ast.Slice():
                return _of_batch(plan, node)
            case ast.Assign() | ast.Return() | ast.NamedExpr() | ast.arguments():
                return "passed"
            case ast.FormattedValue() | ast.JoinedStr() | ast.Expr():
                return "shown"
            case ast.AugAssign(op=ast.Add()) if not _over_batches(plan).isdisjoint(plan.program.ancestors(node)):
                return "batch" if in_evaluation(plan, node) else "count"  # `seen += batch_size`
            case ast.stmt():
                return "unknown"
        child = parent
    return "unknown"


def is_rest(plan: ShardedReading, call: ast.Call, node: ast.expr) -> bool:
    """`x.view(batch_size, 28, 28)`: the one size that follows from all the others."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("view", "reshape"):
        return False
    given = call.args[0].elts if call.args and isinstance(call.args[0], ast.List | ast.Tuple) else call.args
    others = [size for size in given if size is not node]
    known = all(isinstance(n, ast.Name | ast.Attribute | ast.Constant) for n in others)
    again = any(ast.unparse(n) == ast.unparse(node) or plan.facts.value(n).const == -1 for n in others)
    return len(others) == len(given) - 1 and known and not again and not call.keywords


def _in_call(plan: ShardedReading, call: ast.Call, child: ast.AST) -> Use:
    fact = plan.facts.calls.get(call)
    made = [o for o in plan.facts.value(call).of("loader") if o.node is call]
    if made and (found := loader_call(plan, made[0])) is not None:
        return "loader" if child in (found.arguments.get("batch_size"), found.keywords.get("batch_size")) else "unknown"
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    library = qualified(call.func, plan.flow.imports) or ""
    if name in FACTORIES:
        return "shape"
    if name == "range":
        return _in_range(plan, call)
    if name in SHOWS:
        return "shown"
    if name in PASSES:
        return "passed"
    if "schedule" in library.lower() or name in ("OneCycleLR", "CosineAnnealingLR", "ceil", "floor", "round"):
        return "count"
    return "passed" if fact is not None and (fact.bodies or _is_recorded(plan, call)) else "unknown"


def _is_recorded(plan: ShardedReading, call: ast.Call) -> bool:
    """A class of the notebook that keeps what it is given: a dataclass."""
    return any(o in plan.facts.classes for o in plan.facts.calls[call].made)


def _in_range(plan: ShardedReading, call: ast.Call) -> Use:
    """`for i in range(batch_size)` inside a batch is about its samples; `range(0, n, batch_size)` is about the data."""
    loops = plan.facts.calls[call].loops if call in plan.facts.calls else set()
    return _of_batch(plan, call) if loops & _over_batches(plan) and len(call.args) == 1 else "count"


def _over_batches(plan: ShardedReading) -> set[Loop]:
    return {f.node for f in (*plan.roles.batch_loops, *plan.roles.evaluation_loops)}


def _is_of_batch(plan: ShardedReading, node: ast.expr) -> bool:
    """Of a share, or of a batch that each rank evaluates."""
    value = plan.facts.value(node)
    return value.varies or spread(value) is Extent.REPEATED


def _of_batch(plan: ShardedReading, node: ast.AST, beside: ast.expr | None = None) -> Use:
    """Beside the samples of a batch: in the training those of a share, in an evaluation those that it draws."""
    whole = beside is not None and spread(plan.facts.value(beside)) is Extent.REPEATED
    return "batch" if whole or in_evaluation(plan, node) else "shape"


def _in_arithmetic(plan: ShardedReading, node: ast.BinOp, child: ast.AST) -> Use:
    """With numbers of a share it is one of them; else what becomes of the result decides."""
    around = plan.program.parents[node]
    if isinstance(around, ast.Call) and is_rest(plan, around, node):
        return "rest"
    other = node.right if child is node.left else node.left
    if _is_of_batch(plan, other):
        return _of_batch(plan, node, other)
    uses = {use_of(plan, node)}
    if "passed" in uses:
        uses |= {use_of(plan, n) for n in places(plan, frozenset({node}))}
    if not uses & {"shape", "rest"}:
        return "count"
    scales = isinstance(node.op, ast.Mult) or (isinstance(node.op, ast.Div | ast.FloorDiv) and child is node.left)
    return "shape" if scales and uses <= {"shape", "rest", "passed", "shown"} else "unknown"


def places(plan: ShardedReading, sources: frozenset[ast.AST]) -> list[ast.expr]:
    seen = (n for n, v in plan.facts.values.items() if v.sources & sources and isinstance(n, Place))
    read = [n for n in seen if isinstance(n.ctx, ast.Load) and n in plan.program.parents]
    return sorted(read, key=lambda n: (n.lineno, n.col_offset))
