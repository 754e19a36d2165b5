"""What the number that is the batch size means wherever it is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from nbddp.analysis.domain import Extent, spread
from nbddp.analysis.imports import qualified
from nbddp.analysis.loader_calls import loader_call
from nbddp.analysis.plan import Plan

Place = ast.Name | ast.Attribute | ast.Subscript
Use = Literal["loader", "shape", "count", "passed", "shown", "unknown"]

FACTORIES = frozenset(
    """
    zeros ones full rand randn randint empty normal eye arange tensor view reshape expand repeat new_zeros new_ones
    new_full new_empty new_tensor new Size unsqueeze fill_ FloatTensor LongTensor Tensor repeat_interleave zeros_like
    randperm uniform choice random_sample standard_normal linspace resize_ unfold chunk split pad
    """.split()
)


@dataclass(frozen=True, eq=False)
class Read:
    node: ast.expr
    use: Use


def reads_of(plan: Plan, sources: frozenset[ast.AST]) -> Iterator[Read]:
    """Every place of the code that was run where the number is looked at."""
    seen = sorted(
        (n for n, v in plan.facts.values.items() if v.sources & sources and isinstance(n, Place)),
        key=lambda n: (n.lineno, n.col_offset),
    )  # fmt: skip
    for node in seen:
        if isinstance(getattr(node, "ctx", None), ast.Load) and node in plan.program.parents:
            yield Read(node, _use(plan, node))


def _use(plan: Plan, node: ast.expr) -> Use:
    program = plan.program
    child: ast.AST = node
    for parent in program.ancestors(node):
        match parent:
            case ast.keyword() | ast.Tuple() | ast.List() | ast.Starred() | ast.Dict() | ast.Attribute():
                pass
            case ast.Call():
                return _in_call(plan, parent, child)
            case ast.BinOp():
                return _in_arithmetic(plan, parent, child)
            case ast.Compare():
                others = [o for o in [parent.left, *parent.comparators] if o is not child]
                varies = any(plan.facts.value(o).varies for o in others)
                return "shape" if varies else "count"
            case ast.Subscript() | ast.Slice():
                return "shape"
            case ast.Assign() | ast.AnnAssign() | ast.Return() | ast.NamedExpr():
                return "passed"
            case ast.FormattedValue() | ast.JoinedStr() | ast.Expr():
                return "shown"
            case ast.stmt():
                return "unknown"
        child = parent
    return "unknown"


def _in_call(plan: Plan, call: ast.Call, child: ast.AST) -> Use:
    fact = plan.facts.calls.get(call)
    made = [o for o in plan.facts.value(call).of("loader") if o.node is call]
    if made and (found := loader_call(plan, made[0])) is not None:
        return "loader" if child in (found.arguments.get("batch_size"), found.keywords.get("batch_size")) else "unknown"
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in FACTORIES:
        return "shape"
    library = qualified(call.func, plan.flow.imports) or ""
    if name == "range":
        return _in_range(plan, call)
    if name in (
        "print",
        "format",
        "info",
        "debug",
        "log",
        "update",
        "init",
        "log_params",
        "add_argument",
        "str",
        "dict",
    ):
        return "shown" if name != "dict" else "passed"
    if name in ("int", "float", "min", "max", "Namespace", "SimpleNamespace"):
        return "passed"
    if "schedule" in library.lower() or name in ("OneCycleLR", "CosineAnnealingLR", "ceil", "floor"):
        return "count"
    if fact is not None and (fact.called or fact.made or fact.methods):
        own = [o for o in (*fact.called, *fact.made) if o.kind in ("function", "instance", "dataset")]
        notebooks = own or [o for o in fact.made if o in plan.facts.classes] or fact.methods
        return "passed" if notebooks else "unknown"
    return "unknown"


def _in_range(plan: Plan, call: ast.Call) -> Use:
    """`for i in range(batch_size)` inside a batch is about its samples; `range(0, n, batch_size)` is about the data."""
    loops = plan.facts.calls[call].loops if call in plan.facts.calls else set()
    inside = loops & {f.node for f in (*plan.roles.batch_loops, *plan.roles.evaluation_loops)}
    return "shape" if inside and len(call.args) == 1 else "count"


def _in_arithmetic(plan: Plan, node: ast.BinOp, child: ast.AST) -> Use:
    other = node.right if child is node.left else node.left
    varies = spread(plan.facts.value(other)) is not Extent.UNIFORM
    return "shape" if varies else "count"


def shared_numbers(plan: Plan) -> frozenset[ast.AST]:
    """Literal batch sizes that also fix shapes in the training: the number itself becomes the rank's share."""
    if plan.options.batch_per_rank:
        return frozenset()
    found: set[ast.AST] = set()
    for obj in plan.sharding.loaders:
        call = loader_call(plan, obj)
        size = call.arguments.get("batch_size") if call else None
        if size is None or isinstance(size, ast.Constant):
            continue
        sources = plan.facts.value(size).sources
        if sources and any(r.use == "shape" for r in reads_of(plan, sources)):
            found |= sources
    return frozenset(found)
