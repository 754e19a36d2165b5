"""What the number that is the batch size means wherever it is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from nbddp.analysis.loaders.evaluated_batches import in_evaluation, made_for_all, made_for_evaluation, sizes_evaluation
from nbddp.analysis.loaders.loader_calls import LoaderCall, loader_call
from nbddp.analysis.loaders.sharding import ShardedReading
from nbddp.analysis.slicing import Function, local_names, root_name
from nbddp.analysis.syntax import handed, qualified, walk
from nbddp.analysis.values import Assumptions, Extent, Loop, Obj, Value, spread

Use = Literal["loader", "shape", "batch", "count", "passed", "shown", "unknown"]
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


@dataclass(frozen=True, eq=False)
class Read:
    node: ast.expr
    use: Use


@dataclass(frozen=True, eq=False)
class Size:
    """The batch size of one shared loader."""

    plan: ShardedReading
    call: LoaderCall
    node: ast.expr | None  # the argument; None where it is not given, or hidden in **kwargs
    value: Value

    @property
    def sources(self) -> frozenset[ast.AST]:
        return self.value.sources

    @cached_property
    def reads(self) -> tuple[Read, ...]:
        """Every place of the code that was run where the number is looked at."""
        return tuple(Read(r.node, self._meant(r)) for r in self.all_reads)

    def _meant(self, read: Read) -> Use:
        """What an evaluation says of its own batches."""
        if read.use in ("shape", "batch", "passed") and self.changes_at_source and made_for_all(self.plan, read.node):
            return "count"
        own: Use = "shape" if self.evaluates_shares else "count"
        return own if read.use == "batch" else read.use

    @cached_property
    def all_reads(self) -> tuple[Read, ...]:
        if isinstance(self.node, ast.Constant):
            return ()
        places = _places(self.plan, self.sources) if self.sources else _spelled_alike(self.plan, self.node)
        uses = {n: use_of(self.plan, n) for n in places if not _is_of_loader(self.plan, n)}
        arrives = not self.sources  # else its reads are known wherever it is handed on
        return tuple(Read(n, _arrived(self.plan, n) if arrives and u == "passed" else u) for n, u in uses.items())

    @cached_property
    def evaluates_shares(self) -> bool:
        """Do evaluation loops draw batches of this number as it stands, for they make things of its size?"""
        if not self.changes_at_source:
            return False
        shapes = [r.node for r in self.all_reads if r.use == "shape"]
        return sizes_evaluation(self.plan, shapes, [r.node for r in self.all_reads if r.use not in ("loader", "batch")])

    def is_share(self, read: Read) -> bool:
        """Has the place to say the rank's share, where the number itself does not?"""
        return read.use == "shape" and not made_for_evaluation(self.plan, read.node)

    @property
    def fixes_shapes(self) -> bool:
        return any(r.use == "shape" if self.changes_at_source else self.is_share(r) for r in self.reads)

    @property
    def changes_at_source(self) -> bool:
        """Can the number itself be the share? Not where it is written before the processes know of each other."""
        return bool(self.sources) and all(_runs_in_process(self.plan, s) for s in self.sources)


def sizes(plan: ShardedReading) -> Iterator[Size]:
    """For each shared loader, in the order of the text."""
    for share in plan.sharding.shares.values():
        if share.call is not None and share.how != "unfit":
            node = share.call.arguments.get("batch_size")
            value = plan.facts.value(node) if node is not None else hidden_size(plan, share.call)
            yield Size(plan, share.call, node, value)


def hidden_size(plan: ShardedReading, call: LoaderCall) -> Value:
    """The batch size among **kwargs."""
    for keyword in call.node.keywords:
        if keyword.arg is None:
            for obj in plan.facts.value(keyword.value).of("dict"):
                if (found := plan.facts.fields.get((obj, "['batch_size']"))) is not None:
                    return found
    return Value()


def sizes_shared(plan: ShardedReading) -> Assumptions:
    """Batch sizes that become the rank's share, and where they are those of one process all the same."""
    known, found = plan.assumed, shared_numbers(plan)
    if found <= known.shares:
        return known
    return replace(known, shares=known.shares | found, whole_sizes=known.whole_sizes | whole_numbers(plan))


def shared_numbers(plan: ShardedReading) -> frozenset[ast.AST]:
    """Literal batch sizes that also fix shapes in the training: there they stand for the rank's share."""
    read = (n for n in plan.nodes() if isinstance(n, ast.Attribute) and of_loader(plan, n))
    asked = frozenset(n for n in read if use_of(plan, n) == "shape")
    if plan.options.batch_per_rank:
        return asked
    return asked | {n for size in sizes(plan) if size.fixes_shapes for n in _shares(size)}


def _shares(size: Size) -> Iterator[ast.AST]:
    yield from size.sources if size.changes_at_source else (r.node for r in size.reads if size.is_share(r))


def whole_numbers(plan: ShardedReading) -> frozenset[ast.AST]:
    """Where it is multiplied again, and where it is about the batches of an evaluation: as in one process."""
    if plan.options.batch_per_rank:
        return frozenset()
    found = [size for size in sizes(plan) if size.fixes_shapes and size.changes_at_source]
    again = {r.node for size in found for r in size.reads if r.use == "count"}
    again |= {r.node for size in found for r in size.all_reads if r.use == "batch"}
    return frozenset(again | {n for s in found for n in _places(plan, s.sources) if _of_whole_loader(plan, n)})


def goes_into_shapes(plan: ShardedReading, node: ast.expr) -> bool:
    """The batch size of a loader that is handed on: what it is there for where it was made, or where it arrives."""
    sources = plan.facts.value(node).sources
    if sources & plan.assumed.shares:
        return True
    named = any(s.sources & sources and not isinstance(s.node, ast.Constant) for s in sizes(plan))
    uses = {use_of(plan, n) for n in _places(plan, sources) if not _is_of_loader(plan, n)}
    return not named and "shape" in uses and not uses & {"count", "unknown"}


def of_loader(plan: ShardedReading, node: ast.expr) -> bool:
    """`loader.batch_size` of a loader that draws shares: the share, whatever the notebook's number is."""
    return _is_of_loader(plan, node) and not _of_whole_loader(plan, node)


def _of_whole_loader(plan: ShardedReading, node: ast.expr) -> bool:
    return _is_of_loader(plan, node) and not _loaders(plan, node) & plan.sharding.loaders


def _is_of_loader(plan: ShardedReading, node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "batch_size" and bool(_loaders(plan, node))


def _loaders(plan: ShardedReading, node: ast.expr) -> frozenset[Obj]:
    assert isinstance(node, ast.Attribute)
    return plan.facts.value(node.value).of("loader")


# where it is read ------------------------------------------------------------------
def _places(plan: ShardedReading, sources: frozenset[ast.AST]) -> list[ast.expr]:
    seen = (n for n, v in plan.facts.values.items() if v.sources & sources and isinstance(n, Place))
    read = [n for n in seen if isinstance(n.ctx, ast.Load) and n in plan.program.parents]
    return sorted(read, key=lambda n: (n.lineno, n.col_offset))


def _spelled_alike(plan: ShardedReading, node: ast.expr | None) -> list[ast.expr]:
    """Where the number is not followed: the same words in the same scope."""
    if not isinstance(node, Place):
        return []
    words, home = ast.unparse(node), _scope(plan, node)
    seen = [n for n in plan.nodes() if isinstance(n, Place) and isinstance(n.ctx, ast.Load)]
    return [n for n in seen if ast.unparse(n) == words and _scope(plan, n) is home]


def _arrived(plan: ShardedReading, node: ast.expr) -> Use:
    """What the function of the notebook does with it that it is given to."""
    call = next(a for a in plan.program.ancestors(node) if isinstance(a, ast.Call | ast.stmt))
    uses = set[Use]()
    for body in plan.facts.calls[call].bodies if isinstance(call, ast.Call) else ():
        if isinstance(call, ast.Call) and isinstance(body, Function):
            names = {name for name, value in handed(call, body) if value is node}
            read = (n for n in walk(body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in names)
            uses |= {use_of(plan, n) for n in read}
    return "shape" if "shape" in uses and not uses & {"count", "unknown"} else "passed"


def _scope(plan: ShardedReading, node: Place) -> ast.AST | None:
    """The function that binds the name from which the words start; None for the cells."""
    around = plan.program.function_of(node)
    while around is not None and (root_name(node) or "") not in local_names(around):
        around = plan.program.function_of(around)
    return around


def _runs_in_process(plan: ShardedReading, source: ast.AST) -> bool:
    for around in plan.program.ancestors(source):
        if isinstance(around, ast.arguments | ast.ClassDef | ast.Lambda):
            return False
        if isinstance(around, ast.Call) and isinstance(around.func, ast.Attribute):
            if around.func.attr in ("add_argument", "set_defaults"):
                return False
        if isinstance(around, ast.FunctionDef | ast.AsyncFunctionDef):
            return True
    statement = plan.top_level(source)
    parameter = statement is not None and statement.cell.mark == "parameters"
    return not parameter or getattr(statement.node, "value", None) is source  # type: ignore[union-attr]


# what for --------------------------------------------------------------------------
def use_of(plan: ShardedReading, node: ast.expr) -> Use:
    child: ast.AST = node
    for parent in plan.program.ancestors(node):
        match parent:
            case ast.keyword() | ast.Tuple() | ast.List() | ast.Starred() | ast.Dict() | ast.Attribute() | ast.IfExp():
                pass
            case ast.Call():
                return _in_call(plan, parent, child)
            case ast.BinOp():
                return _in_arithmetic(plan, parent, child)
            case ast.Compare():
                others = [o for o in [parent.left, *parent.comparators] if o is not child]
                return next((_of_batch(plan, node, o) for o in others if _is_of_batch(plan, o)), "count")
            case ast.Subscript() | ast.Slice():
                return _of_batch(plan, node)
            case ast.Assign() | ast.Return() | ast.NamedExpr():
                return "passed"
            case ast.FormattedValue() | ast.JoinedStr() | ast.Expr():
                return "shown"
            case ast.AugAssign(op=ast.Add()) if not _over_batches(plan).isdisjoint(plan.program.ancestors(node)):
                return "batch" if in_evaluation(plan, node) else "count"  # `seen += batch_size`
            case ast.stmt():
                return "unknown"
        child = parent
    return "unknown"


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
    other = node.right if child is node.left else node.left
    if _is_of_batch(plan, other):
        return _of_batch(plan, node, other)
    uses = {use_of(plan, node)}
    if "passed" in uses:
        uses |= {use_of(plan, n) for n in _places(plan, frozenset({node}))}
    if "shape" not in uses:
        return "count"
    scales = isinstance(node.op, ast.Mult) or (isinstance(node.op, ast.Div | ast.FloorDiv) and child is node.left)
    return "shape" if scales and uses <= {"shape", "passed", "shown"} else "unknown"
