"""What there is when a loop begins: names that have a value, things with an expression for them, their attributes."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from nbddp.analysis.reading import Reading, readable
from nbddp.analysis.slicing import all_arguments, block_of, bound_names, inside
from nbddp.analysis.state.iteration_effects import turn_of
from nbddp.analysis.values import LoopFact, Obj, Value

DEPTH = 3  # `self.stopping.best`


@dataclass(frozen=True, eq=False)
class Start:
    plan: Reading
    function: ast.FunctionDef | ast.AsyncFunctionDef | None  # the one that has the loop
    bound: frozenset[str]  # names that may have been set above the loop
    globals: frozenset[str]  # names of the cells that may have been set before the function is called
    texts: Mapping[Obj, str]  # the shortest expression for each thing
    perhaps: frozenset[Obj]  # those in whose place there may be None
    attributes: frozenset[tuple[Obj, str]]  # that have surely been set

    def may_have(self, name: str) -> bool:
        """Has the name been set above the loop, or for a function by the cells that stand above its first call?"""
        if self.function is None or name in own_names(self.function):
            arguments = all_arguments(self.function.args) if self.function is not None else []
            return name in self.bound or name in {a.arg for a in arguments}
        return name in self.globals or self.plan.program.function_of(self.function) is not None

    def has(self, thing: Obj, attribute: str) -> bool:
        made = thing.node if thing.kind == "class" else self.plan.facts.classes.get(thing)
        return (thing, attribute) in self.attributes or (isinstance(made, ast.ClassDef) and attribute in _of_body(made))


def own_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Names that it keeps to itself, and to functions inside of it."""
    outer = {n for s in inside(function.body) if isinstance(s, ast.Global | ast.Nonlocal) for n in s.names}
    return (bound_names(function.body) | {a.arg for a in all_arguments(function.args)}) - outer


def start_of(plan: Reading, fact: LoopFact) -> Start:
    function = plan.program.function_of(fact.node)
    above = turn_of(plan, _above(plan, fact), function)
    bound, before = frozenset(above.effects.may_bind), _before_calls(plan, function)
    start = Start(plan, function, bound, before, {}, frozenset(), frozenset())
    texts, perhaps = _texts(plan, fact, start)
    made = turn_of(plan, [o.node for o in texts if o in plan.facts.classes], function)
    sure = {turn.attributes[key] for turn in (above, made) for key in turn.effects.binds if key in turn.attributes}
    return Start(plan, function, bound, before, texts, perhaps, frozenset(sure))


def _before_calls(plan: Reading, function: ast.AST | None) -> frozenset[str]:
    if function is None:
        return frozenset()
    calling: set[ast.AST] = {function}
    while True:
        calls = [c.node for c in plan.facts.calls.values() if c.bodies & calling]
        around = {f for c in calls if (f := plan.program.function_of(c)) is not None}
        if around <= calling:
            break
        calling |= around
    tops = [plan.top_level(c) for c in calls if plan.program.function_of(c) is None]
    first = min((s.index for s in tops if s is not None), default=0)
    return frozenset(n for s in plan.kept if s.index < first for n in plan.flow.effects[s.index].may_bind)


def _above(plan: Reading, fact: LoopFact) -> list[ast.AST]:
    code: list[ast.AST] = []
    node: ast.AST = fact.node
    while not isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
        parent = plan.program.parents[node]
        block = block_of(parent, node)
        before = block[: block.index(node)] if isinstance(node, ast.stmt) and block else []
        code = [*(s for s in before if not isinstance(parent, ast.Module) or plan.top_level(s) is not None), *code]
        node = parent
    return code


def _texts(plan: Reading, fact: LoopFact, start: Start) -> tuple[dict[Obj, str], frozenset[Obj]]:
    found: dict[Obj, str] = {}
    perhaps: set[Obj] = set()
    layer = [(n, v) for n, v in fact.names.items() if readable(plan, fact.node, n) and start.may_have(n)]
    for _ in range(DEPTH):
        for text, value in sorted(layer, key=lambda pair: (len(pair[0]), pair[0])):
            new = {o for o in value.objs if o not in found}
            found.update((o, text) for o in new)
            perhaps.update(new if value.const is not None else ())
        layer = [(f"{found[o]}.{f}", v) for o, f, v in _fields(plan) if o in found and o not in perhaps]
    return found, frozenset(perhaps)


def _fields(plan: Reading) -> list[tuple[Obj, str, Value]]:
    return [(o, f, v) for (o, f), v in plan.facts.fields.items() if o.kind == "instance" and f.isidentifier()]


def _of_body(made: ast.ClassDef) -> set[str]:
    """Attributes that the class itself has, and those of a dataclass."""
    named = [t for s in made.body if isinstance(s, ast.Assign) for t in s.targets]
    named += [s.target for s in made.body if isinstance(s, ast.AnnAssign)]
    return {t.id for t in named if isinstance(t, ast.Name)}
