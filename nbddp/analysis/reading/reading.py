"""What the notebook means: everything about it that later decisions read."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nbddp.analysis.library import Use, find_uses
from nbddp.analysis.reading.bindings import Bindings, find_bindings
from nbddp.analysis.reading.interpret import Run
from nbddp.analysis.reading.naming import Naming
from nbddp.analysis.syntax import Statement, walk
from nbddp.analysis.values import ITEMS, CallFact, Extent, Loop, Obj, contents, is_foreign, is_read, may_learn, spread
from nbddp.diagnostics import Diagnostic
from nbddp.notebook import Notebook
from nbddp.options import Options


@dataclass(frozen=True, eq=False, kw_only=True)
class Reading(Run):
    # What was asked for.
    notebook: Notebook
    options: Options

    training_cell: int
    trains: frozenset[int]  # indices of the statements that train, kept or not
    naming: Naming = field(default_factory=Naming)  # names free for the script
    handed_over: tuple[str, ...] = ()  # names whose values the notebook hands over
    found: tuple[Diagnostic, ...] = ()  # on the way here

    @cached_property
    def once(self) -> dict[object, Any]:
        """What was found out of this reading and several ask for, by who finds it out."""
        return {}

    @cached_property
    def training(self) -> tuple[Statement, ...]:
        """The kept statements that train."""
        return tuple(s for s in self.kept if s.index in self.trains)

    @cached_property
    def framework(self) -> Use | None:
        """What the training is left to, where the notebook does not train by hand."""
        return next(iter(find_uses(tuple(self.nodes()), self.flow.imports)), None)

    @cached_property
    def _top_level(self) -> dict[ast.AST, Statement]:
        return {s.node: s for s in self.kept}

    @cached_property
    def dealt(self) -> frozenset[Loop]:
        """Evaluation loops whose batches are dealt out: ranks go through them at their own pace."""
        return frozenset(f.node for f in self.roles.evaluation_loops if f.node not in self.assumed.whole)

    def nodes(self) -> Iterator[ast.AST]:
        """Every node of the kept code."""
        return iter(self._nodes)

    @cached_property
    def _nodes(self) -> tuple[ast.AST, ...]:
        """Walked once: that takes longer than what is asked of them."""
        return tuple(node for statement in self.kept for node in walk(statement.node))

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that the kept code binds, or may bind."""
        return frozenset(n for s in self.kept for n in self.flow.effects[s.index].may_bind)

    @cached_property
    def callers(self) -> Mapping[ast.AST, list[ast.Call]]:
        """The calls that run a function of the notebook."""
        found: dict[ast.AST, list[ast.Call]] = {}
        for call in self.facts.calls.values():
            for function in call.bodies:
                found.setdefault(function, []).append(call.node)
        return found

    @cached_property
    def bindings(self) -> Bindings:
        return find_bindings(self.program, self.nodes(), self.facts, self.callers)

    def functions_that_run(self, calls: Iterable[ast.Call]) -> frozenset[ast.AST]:
        """The notebook's functions in which one of the calls is reached, also by way of what they call."""
        found, waiting = set[ast.AST](), [self.program.function_of(c) for c in calls]
        while waiting:
            function = waiting.pop()
            if function is not None and function not in found:
                found.add(function)
                waiting.extend(self.program.function_of(c) for c in self.callers.get(function, ()))
        return frozenset(found)

    @cached_property
    def run_by_models(self) -> frozenset[ast.AST]:
        """The notebook's functions that are run by models that learn and make no loss, and what these call."""
        learn = (f for f in self.facts.calls.values() if any(may_learn(self.facts, o) for o in f.called))
        learn = (f for f in learn if not self._makes_mean(f))
        found, waiting = set[ast.AST](), [body for fact in learn for body in fact.bodies]
        while waiting:
            function = waiting.pop()
            if function not in found:
                found.add(function)
                calls = (self.facts.calls.get(n) for n in walk(function) if isinstance(n, ast.Call))
                waiting += (body for fact in calls if fact is not None for body in fact.bodies)
        return frozenset(found)

    def _makes_mean(self, model: CallFact) -> bool:
        made = contents(self.facts, model.joined.get("", self.facts.value(model.node)), ITEMS)
        return any(spread(v) is Extent.MEAN for v in made)

    def calls(self, *names: str) -> Iterator[CallFact]:
        """Calls of library functions by their qualified names, in the order of the text."""
        return self.calls_that({*names}.__contains__)

    def calls_that(self, fits: Callable[[str], object]) -> Iterator[CallFact]:
        """Those of whose names one fits: by what its entry says."""
        found = [c for c in self.facts.calls.values() if any(map(fits, c.names))]
        yield from sorted(found, key=lambda c: (c.node.lineno, c.node.col_offset))

    def unread(self, loss: ast.expr) -> str | None:
        """`prototypical_loss`, of a module beside the notebook; also of `prototypical_loss(out, y).to(device)`."""
        chains = (part for made in self.bindings.made_by(loss) for part in _calls_in_a_row(made))
        calls = (self.facts.calls[part] for part in chains if part in self.facts.calls)
        return next((self.program.source(c.node.func) for c in calls if any(map(is_foreign, c.names))), None)

    def top_level(self, node: ast.AST) -> Statement | None:
        """The kept top-level statement that holds a node."""
        while node not in self._top_level:
            parent = self.program.parents.get(node)
            if parent is None:
                return None
            node = parent
        return self._top_level[node]

    def is_print(self, node: ast.stmt) -> bool:
        call = node.value if isinstance(node, ast.Expr) else None
        return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print"

    def rank(self, node: ast.AST) -> str:
        """How code at the node asks for its rank: a variable of `train`, or the process group."""
        inside = self.program.function_of(node) is not None
        return f"{self.naming('dist')}.get_rank()" if inside else self.naming("rank")

    def world_size(self, node: ast.AST) -> str:
        """How code at the node asks for the number of ranks."""
        inside = self.program.function_of(node) is not None
        return f"{self.naming('dist')}.get_world_size()" if inside else self.naming("world_size")


def _calls_in_a_row(node: ast.expr) -> Iterator[ast.Call]:
    while isinstance(node, ast.Call):
        yield node
        node = node.func.value if isinstance(node.func, ast.Attribute) else node.func


def may_hold_batch_norm(plan: Reading, model: Obj) -> bool:
    """Not one that is read to its last part, where the word is nowhere in what is kept."""
    known: dict[str, bool] = plan.once.setdefault(may_hold_batch_norm, {})
    if "word" not in known:
        known["word"] = any("BatchNorm" in plan.program.source(s.node) for s in plan.kept)
    return known["word"] or not is_read(plan.facts, model)


def with_statistics(plan: Reading) -> set[Obj]:
    """Models that are trained and may hold a BatchNorm, and the models that hold these."""
    held = {m.obj for m in plan.roles.models if may_hold_batch_norm(plan, m.obj)}
    return {o for model in held for o in (model, *plan.facts.roots(model))}


def untrained_with_statistics(plan: Reading) -> set[Obj]:
    """Models in training mode that count a rank's samples and that nothing trains: a teacher that follows another."""
    trained = {o for m in plan.roles.models for o in (m.obj, *plan.facts.roots(m.obj))}
    seen = {p.model for passes in plan.facts.passes.values() for p in passes if p.awake and p.of_part}
    apart = {o for o in seen if o.kind == "model" and trained.isdisjoint({o, *plan.facts.roots(o)})}
    return {o for o in apart if may_learn(plan.facts, o) and may_hold_batch_norm(plan, o)}
