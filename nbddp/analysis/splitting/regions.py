"""Where a step stands: the blocks of statements around what draws a batch and what trains on it."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import Any

from nbddp.analysis.library import Effect, entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.slicing import block_of, local_names
from nbddp.analysis.syntax import Program, assigned, walk
from nbddp.analysis.values import Extent, Split, spread

Definition = ast.FunctionDef | ast.AsyncFunctionDef
Scope = Definition | None  # a function; None is the top level of the cells
LOOPS = (ast.For, ast.AsyncFor, ast.While)
Setting = tuple[ast.AST, ast.expr]  # a statement, and the value that it gives a name


@dataclass(frozen=True, eq=False)
class Region:
    """One block around a step: what comes before `at` may draw the batch, what begins there trains on it."""

    plan: Reading
    scope: Scope
    owner: ast.AST  # whose block it is
    block: Sequence[ast.stmt]
    at: ast.stmt
    chain: frozenset[ast.AST] = frozenset()  # calls of models, and of functions that lead there
    dim: int = 0  # which dimension counts the samples, where that is known
    found: dict[ast.AST, Sequence[Any]] = field(default_factory=dict, init=False)  # the roots of what was followed back
    open: set[ast.AST] = field(default_factory=set, init=False)  # what of it leads back to itself, for the time being

    @property
    def whole(self) -> bool:
        """Is it the whole function, or the top level: what is bound there is the same in every turn."""
        return self.owner is self.scope or isinstance(self.owner, ast.Module)

    @property
    def of_one_step(self) -> bool:
        """`def train_discriminator(images)`, called with each batch: its size is that of what it makes beside them."""
        loop = self.plan.facts.loops.get(self.at) if isinstance(self.at, LOOPS) else None
        return self.whole and self.scope is not None and not (loop is not None and loop.backward)

    @cached_property
    def rest(self) -> Sequence[ast.stmt]:
        """Of the whole function only what holds the step: what follows is another matter."""
        if self.whole and isinstance(self.at, LOOPS) and not self.of_one_step:
            return [self.at]
        rest = self.block[self.block.index(self.at) :]
        if self.whole and self.scope is None:  # a single step between other cells
            steps = [n for n, s in enumerate(rest) if self.plan.facts.backward & {*walk(s)}]
            return rest[: max(steps, default=0) + 1]
        return rest

    @cached_property
    def bound_before(self) -> frozenset[str]:
        names = {n for s in self.block[: self.block.index(self.at)] for n in stored(s)}
        if isinstance(self.owner, ast.For | ast.AsyncFor):
            names |= stored(self.owner.target)
        if isinstance(self.owner, Definition):
            names |= {a.arg for a in walk(self.owner.args) if isinstance(a, ast.arg)}
        return frozenset(names)

    @cached_property
    def bound_in_rest(self) -> frozenset[str]:
        return frozenset(n for s in self.rest for n in stored(s))


def is_split(plan: Reading, node: ast.AST) -> bool:
    """Has a rank only its samples of it?"""
    return spread(plan.facts.value(node)) is Extent.SAMPLES


def stored(node: ast.AST) -> set[str]:
    """Names that are bound here, but for those of functions and classes that are defined here."""
    found, waiting = set[str](), [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found.add(part.id)
        elif not isinstance(part, Definition | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(part)
    return found


def scope_of(plan: Reading, node: ast.AST) -> tuple[Scope, ast.AST]:
    """The function around a node, and where in it the node counts: a closure where it is defined."""
    function = plan.program.function_of(node)
    while function is not None and _is_closure(plan, function):
        node, function = function, plan.program.function_of(function)
    return function, node


def _is_closure(plan: Reading, function: Definition) -> bool:
    """Defined in another function, or anew in each turn of a loop; a step that is called with its batch is none."""
    calls = plan.callers.get(function) if function.args.args else ()
    if calls and all(isinstance(c.func, ast.Name) and c.func.id == function.name for c in calls):
        return False
    around = list(plan.program.ancestors(function))
    outer = next((a for a in around if isinstance(a, Definition | ast.ClassDef)), None)
    return isinstance(outer, Definition) or any(isinstance(a, LOOPS) for a in around)


def regions(plan: Reading, scope: Scope, nodes: Sequence[ast.AST]) -> Iterator[Region]:
    """The blocks that hold all these nodes, from the innermost outwards to the whole function."""
    chains = [_chain(plan, scope, n) for n in nodes]
    for owner, block, statement in chains[0]:
        own = [s for chain in chains for o, b, s in chain if b is block]
        if len(own) == len(chains) and not _is_in_line(owner):
            yield Region(plan, scope, owner, *_opened(block, min(own, key=block.index), nodes))
        del statement


def _is_in_line(owner: ast.AST) -> bool:
    """`with torch.autocast("cuda"):`, whose statements run as those around it do."""
    return isinstance(owner, ast.With) and all(item.optional_vars is None for item in owner.items)


def _opened(block: list[ast.stmt], at: ast.stmt, nodes: Iterable[ast.AST]) -> tuple[list[ast.stmt], ast.stmt]:
    """Such statements in place of the one that holds them, where what is looked for does not come first in it."""
    while _is_in_line(at):
        inside = [s for s in _inside_of(at) if not {*walk(s)}.isdisjoint(nodes)]
        if not inside or inside[0] is _inside_of(at)[0]:
            break
        number = block.index(at)
        block, at = [*block[:number], *_inside_of(at), *block[number + 1 :]], inside[0]
    return block, at


def _inside_of(statement: ast.stmt) -> list[ast.stmt]:
    return statement.body if isinstance(statement, ast.With) else []


def _chain(plan: Reading, scope: Scope, node: ast.AST) -> list[tuple[ast.AST, list[ast.stmt], ast.stmt]]:
    found = []
    for parent in plan.program.ancestors(node):
        if isinstance(node, ast.stmt) and (block := block_of(parent, node)):
            found.append((parent, block, node))
        if parent is scope:
            break
        node = parent
    return found


def goes_through_loader(plan: Reading, loop: ast.AST) -> bool:
    """A loop over the batches that all ranks have alike."""
    over = walk(loop.iter) if isinstance(loop, ast.For) else ()
    return any(plan.facts.value(n).objs & plan.assumed.alike for n in over)


def region_at(plan: Reading, statement: ast.stmt) -> Region:
    """The block in which a statement stands."""
    owner, block, at = next(one for one in _chain(plan, None, statement) if not _is_in_line(one[0]))
    return Region(plan, scope_of(plan, statement)[0], owner, *_opened(block, at, [statement]))


def step_of(plan: Reading, split: Split) -> list[ast.stmt]:
    """The statements that train on a split batch; of one that is split before a loop, the loop."""
    region = region_at(plan, split.at)
    others = {s.at for s in plan.assumed.splits} - {split.at}
    rest = [*takewhile(lambda s: s not in others, region.rest)]
    ends = [n for n, s in enumerate(rest) if split.step in {*walk(s)} or plan.facts.backward & {*run_by(plan, s)}]
    return rest[: max(ends, default=len(rest) - 1) + 1]


def held(plan: Reading, split: Split) -> Iterator[ast.expr]:
    """What holds the samples: pieces, and of each name one read."""
    region = region_at(plan, split.at)
    yield from split.inline
    yield from split.renamed
    for name in split.names:
        read = (n for s in region.rest for n in walk(s) if isinstance(n, ast.Name) and n.id == name)
        yield from [n for n in read if isinstance(n.ctx, ast.Load)][:1]


def bound(program: Program, node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Places, and what each of them is given; of a closure, what a call of its name gives."""
    yield from assigned(node)
    if isinstance(node, ast.Return) and node.value is not None:
        function = program.function_of(node)
        yield ast.Name(function.name if isinstance(function, ast.FunctionDef) else "return"), node.value


def loops_first(node: ast.AST) -> list[ast.AST]:
    """A comprehension's loops first, which bind what its items read."""
    loops: list[ast.AST] = getattr(node, "generators", [])
    return [*loops, *(child for child in ast.iter_child_nodes(node) if child not in loops)]


def run_by(plan: Reading, statement: ast.AST) -> Iterator[ast.AST]:
    """All that stands in it, and in the functions of the notebook that it calls."""
    waiting, seen = [statement], set[ast.AST]()
    while waiting:
        for node in {*walk(waiting.pop())} - seen:
            seen.add(node)
            yield node
            if isinstance(node, ast.Call) and node in plan.facts.calls:
                waiting += plan.facts.calls[node].bodies


def definitions(region: Region, read: ast.Name) -> Iterator[ast.expr]:
    """What a name of the step is made of."""
    return given_to(region.plan, region.rest, read)


def given_to(plan: Reading, statements: Sequence[ast.AST], read: ast.Name) -> Iterator[ast.expr]:
    """What a name may be made of where it is read: no longer of what was there before it was set anew."""
    span, anew = plan.program.span, set_anew(plan, statements, read)
    for node, value in values_for(statements, read.id, plan.program.ancestors(read)):
        past = anew and not isinstance(node, ast.comprehension)
        if not past or max(anew) <= span(node) < span(read):
            yield value


def set_anew(plan: Reading, statements: Sequence[ast.AST], read: ast.Name) -> list[tuple[int, int]]:
    """Where one of these statements gives the name another value, whichever way it goes, before it is read."""
    span, around = plan.program.span, {*plan.program.ancestors(read)}
    made = (n for n, _ in values_for(statements, read.id, around) if isinstance(n, ast.Assign))
    return [span(n) for n in made if span(n)[1] <= span(read)[0] and plan.program.parents[n] in around]


def values_for(
    statements: Iterable[ast.AST], name: str, around: Iterable[ast.AST] = ()
) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Functions that have the name for themselves mean another thing by it, unless they stand around what reads it."""
    found, functions = _set_in(tuple(statements))
    inner = {*around} if found.get(name) else set[ast.AST]()
    others = [f for f in functions if f not in inner and name in local_names(f)] if found.get(name) else []
    apart = {n for function in others for n in walk(function)}
    yield from ((node, value) for node, value in found.get(name, ()) if node not in apart)


@lru_cache(maxsize=128)
def _set_in(statements: tuple[ast.AST, ...]) -> tuple[Mapping[str, Sequence[Setting]], Sequence[Definition]]:
    """What sets each name, or is put into it, in the order of the text; and the functions. Every name asks for it."""
    found, functions = defaultdict[str, list[Setting]](list), list[Definition]()
    for node in (n for s in statements for n in walk(s)):
        functions += [node] if isinstance(node, Definition) else []
        for target, value in assigned(node):
            for name in stored(target):
                found[name].append((node, value))
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=holder))) if entry_of(node).effect is Effect.STORES:
                found[holder] += [(node, given) for given in node.args]
    return found, functions
