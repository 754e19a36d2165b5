"""What the number that is the batch size means wherever it is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from nbddp.analysis.loaders.batch_size_uses import Place, Use, places, use_of
from nbddp.analysis.loaders.evaluated_batches import (
    made_for_all,
    made_for_evaluation,
    shown_beside,
    sizes_evaluation,
)
from nbddp.analysis.loaders.loader_calls import LoaderCall
from nbddp.analysis.loaders.sharding import ShardedReading
from nbddp.analysis.slicing import Function, all_arguments, local_names, root_name
from nbddp.analysis.syntax import handed, walk
from nbddp.analysis.values import Assumptions, Obj, Value


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
        """What an evaluation says of its own batches, which are those of one process where nothing is in the way."""
        made_for = made_for_all if self.evaluates_shares else made_for_evaluation
        if read.use == "passed" and self._makes_the_loader(read.node):
            return read.use
        if read.use in ("shape", "batch", "passed") and self.changes_at_source:
            if made_for(self.plan, read.node) or (shown_beside(self.plan, read.node) and not self._fixed_in_models):
                return "count"
        own: Use = "shape" if self.evaluates_shares else "count"
        return own if read.use == "batch" else read.use

    def _makes_the_loader(self, node: ast.expr) -> bool:
        """`train_loader, val_loader = loaders(batch_size)`: whatever else it makes."""
        calls = (self.plan.facts.calls.get(a) for a in self.plan.program.ancestors(node) if isinstance(a, ast.Call))
        inside = self.plan.program.function_of(self.call.node)
        return inside is not None and any(inside in fact.bodies for fact in calls if fact is not None)

    @cached_property
    def _fixed_in_models(self) -> bool:
        """`x.view(batch_size, -1)` in a forward: whoever calls it has as many samples as the training."""
        functions = (self.plan.program.function_of(r.node) for r in self.all_reads if r.use == "shape")
        return any(f is not None and isinstance(self.plan.program.parents[f], ast.ClassDef) for f in functions)

    @cached_property
    def all_reads(self) -> tuple[Read, ...]:
        if isinstance(self.node, ast.Constant):
            return ()
        found = places(self.plan, self.sources) if self.sources else _spelled_alike(self.plan, self.node)
        uses = {n: use_of(self.plan, n) for n in found if not _is_of_loader(self.plan, n)}
        arrives = not self.sources  # else its reads are known wherever it is handed on
        return tuple(Read(n, _arrived(self.plan, n) if arrives and u == "passed" else u) for n, u in uses.items())

    @cached_property
    def evaluates_shares(self) -> bool:
        """Do evaluation loops draw batches of this number as it stands?

        For code that trains, too, makes things of its size, or they get shares of what is as large as a batch.
        """
        plan, fixing = self.plan, (r.node for r in self.all_reads if r.use in ("shape", "passed"))
        shared = [n for n in fixing if not made_for_evaluation(plan, n) and not _is_parameter(plan, n)]
        others = [r.node for r in self.all_reads if r.use not in ("loader", "batch")]
        return self.changes_at_source and sizes_evaluation(plan, shared, others)

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
    asked = frozenset(n for n in read if use_of(plan, n) in ("shape", "rest"))
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
    apart = (r.node for size in found if not size.evaluates_shares for r in size.all_reads if r.use == "loader")
    again |= {n for n in apart if _is_of_another(plan, n)}
    return frozenset(again | {n for s in found for n in places(plan, s.sources) if _of_whole_loader(plan, n)})


def goes_into_shapes(plan: ShardedReading, node: ast.expr) -> bool:
    """The batch size of a loader that is handed on: what it is there for where it was made, or where it arrives."""
    sources = plan.facts.value(node).sources
    if sources & plan.assumed.shares:
        return True
    named = any(s.sources & sources and not isinstance(s.node, ast.Constant) for s in sizes(plan))
    uses = {use_of(plan, n) for n in places(plan, sources) if not _is_of_loader(plan, n)}
    return not named and bool(uses & {"shape", "rest"}) and not uses & {"count", "unknown"}


def of_loader(plan: ShardedReading, node: ast.expr) -> bool:
    """`loader.batch_size` of a loader that draws shares: the share, whatever the notebook's number is."""
    return _is_of_loader(plan, node) and not _of_whole_loader(plan, node)


def _of_whole_loader(plan: ShardedReading, node: ast.expr) -> bool:
    return _is_of_loader(plan, node) and not _loaders(plan, node) & plan.sharding.loaders


def _is_of_loader(plan: ShardedReading, node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "batch_size" and bool(_loaders(plan, node))


def _is_parameter(plan: ShardedReading, node: ast.expr) -> bool:
    """What it is there is said where the function is called."""
    function = plan.program.function_of(node)
    given = all_arguments(function.args) if isinstance(function, Function | ast.Lambda) else []
    return isinstance(node, ast.Name) and any(a.arg == node.id for a in given)


def _is_of_another(plan: ShardedReading, node: ast.expr) -> bool:
    """In the call that makes a loader, and none that draws shares."""
    call = next(a for a in plan.program.ancestors(node) if isinstance(a, ast.Call))
    made = plan.facts.value(call).of("loader")
    return bool(made) and made.isdisjoint(plan.sharding.loaders)


def _loaders(plan: ShardedReading, node: ast.expr) -> frozenset[Obj]:
    assert isinstance(node, ast.Attribute)
    return plan.facts.value(node.value).of("loader")


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
    return "shape" if uses & {"shape", "rest"} and not uses & {"count", "unknown"} else "passed"


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
