"""Means in functions: over the samples of a name there."""

from __future__ import annotations

import ast
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.means.born import holds_mean, is_born, runs
from nbddp.analysis.splitting.regions import is_split, region_at, run_by
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import FLAT, TURNED, Split


@dataclass(frozen=True, eq=False)
class Inner:
    """A mean in a function: over the samples of a name there, which come from some of what is split."""

    node: ast.expr
    samples: str
    keys: frozenset[str]


def inner_mean(plan: Reading, split: Split, node: ast.expr) -> Inner | None:
    """Nothing where it is not seen of which samples it is, or where ranks come by unlike often."""
    made = [n for n in plan.bindings.made_of(node, through_calls=False) if isinstance(n, ast.expr)]
    function = plan.program.function_of(node)
    named = [n for n in made if isinstance(n, ast.Name) and is_split(plan, n)]
    own = (n for n in named if plan.program.function_of(n) is function and n.id.isidentifier())
    samples = next((n.id for n in own if not plan.facts.value(n).of(TURNED, FLAT)), None)
    reached = (f for f in plan.facts.calls.values() if function in f.bodies)
    inside = [plan.facts.calls[n] for n in walk(node) if isinstance(n, ast.Call) and n in plan.facts.calls]
    apart = any(f.varying_control or f.loops & plan.dealt for f in (*reached, *inside))
    names = {n.id for n in named if n.id in split.names}
    keys = {plan.program.source(n) for n in made if n in split.renamed or n in split.inline} | names
    return Inner(node, samples, frozenset(keys)) if samples and keys and not (apart or split.dim) else None


def of_several(plan: Reading, split: Split, call: ast.expr) -> list[Inner]:
    """The means that a function adds up, where they are of batches that never meet.

    `def loss(self, x, u, grid): return mse(self(x), u) + self.residual(grid)`
    """
    found, waiting, seen = list[Inner](), [call], set[ast.AST]()
    while waiting:
        node = waiting.pop()
        if node in seen or not holds_mean(plan, node):
            continue
        seen.add(node)
        if node is not call and not runs(plan, node) and is_born(plan, node):
            if (one := inner_mean(plan, split, node)) is None:
                return []
            found.append(one)
            continue
        made = [*plan.bindings.below(node)]
        below = made or [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        if not any(holds_mean(plan, n) for n in below):
            return []
        waiting += below
    return found if any(a.keys.isdisjoint(b.keys) for a in found for b in found) else []


def means_around(plan: Reading, split: Split, inside: AbstractSet[ast.AST]) -> set[ast.expr]:
    """Means of those who call the function of a split, `out, x = drawn(25)`, and go back themselves."""
    scope = region_at(plan, split.at).scope
    waiting, seen, found = [scope], set[ast.AST | None](), set[ast.AST]()
    own = scope is None or split.step in {*walk(scope)}
    while waiting and not own and split.step not in found:
        seen.add(function := waiting.pop())
        for call in plan.callers.get(function, ()) if function is not None else ():
            top = [a for a in plan.program.ancestors(call) if isinstance(a, ast.stmt)]
            around = plan.program.function_of(call)
            found |= {*walk(around or top[-1])}
            waiting += [around] if around not in seen else []
    born = (n for n in found - inside if isinstance(n, ast.expr) and is_born(plan, n))
    return {n for n in born if split.at not in {*run_by(plan, n)}}


def outer_mean(plan: Reading, split: Split, node: ast.expr) -> Inner | None:
    """Of samples that have a name where it is taken; of how many it is, all ranks have to say."""
    function = plan.program.function_of(node)
    made = (n for n in plan.bindings.made_of(node, through_calls=False) if isinstance(n, ast.Name))
    own = (n for n in made if is_split(plan, n) and plan.program.function_of(n) is function)
    samples = next((n.id for n in own if not plan.facts.value(n).of(TURNED, FLAT)), None)
    varying = any(f.varying_control for f in plan.facts.calls.values() if function in f.bodies)
    return Inner(node, samples, frozenset(split.names)) if samples and not (varying or split.dim) else None
