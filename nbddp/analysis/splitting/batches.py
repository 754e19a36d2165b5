"""Which of what a step splits is one batch: what meets in a call or in a mean. What does not may have another size.

A batch that is drawn within an expression, `model(torch.randn(64, 8))`, gets a name before the statement.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from nbddp.analysis.library import MATRIX, entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.means import Means, means_of
from nbddp.analysis.splitting.origins import draws, known_size, loaders_of, written_size
from nbddp.analysis.splitting.regions import Region, bound, loops_first, region_at, run_by
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Extent, Split, Value, spread
from nbddp.sentence import Sentence, sentence

Keys = frozenset[str]  # names that hold samples of the rank, and the text of what is cut where it stands
NONE: Keys = frozenset()
TURNS = 8  # until what a turn of the loop leaves to the next is known
HELD = ast.Name | ast.Attribute
DRAWN = ast.Call | ast.Subscript
BRANCHING = ast.If | ast.For | ast.AsyncFor | ast.While
SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)
AT_TIMES = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, eq=False)
class Batches:
    """Of one split step: its batches, the first of which the split begins with."""

    held: tuple[Keys, ...]
    numbers: dict[ast.AST, int]  # means, and counts of samples: of which batch they are
    cut_here: tuple[str, ...]  # pieces that are cut where they stand, and are there when the samples are counted

    def number_of(self, node: ast.AST) -> int:
        return self.numbers.get(node, 0)


def batches_of(plan: Reading, split: Split) -> Batches:
    found = _Following(plan, split, means_of(plan, split))
    groups = [*found.groups()]
    numbers = {node: n for node, keys in found.taken.items() for n, group in enumerate(groups) if keys & group}
    return Batches(tuple(groups), numbers, found.cut_here)


def ill_matched(plan: Reading, split: Split) -> Sentence | None:
    """Two sizes in one mean; or a batch that is drawn when the first has been dealt out, perhaps of another size."""
    found = _Following(plan, split, means_of(plan, split))
    for keys, node in found.meetings.items():
        sizes = {size: key for key in sorted(keys) if (size := known_size(plan, found.nodes[key])) is not None}
        if len(sizes) > 1 and not split.dim:
            return sentence("'%1' and '%2' are batches of two sizes, and '%3' is made of both",
                            *[*sizes.values()][:2], plan.program.source(node))  # fmt: skip
        of_loaders = {key: loaders_of(plan, found.nodes[key]) for key in sorted(keys)}
        loaders = {next(iter(of)): key for key, of in of_loaders.items() if len(of) == 1}
        if len(loaders) > 1 and _is_run(plan, node):
            return sentence("'%1' and '%2' are of two loaders, perhaps of two sizes, and '%3' is given both",
                            *[*loaders.values()][:2], plan.program.source(node))  # fmt: skip
    for group in found.groups():
        if group <= found.late and len(found.nodes) > len(group):
            return sentence("'%1' is drawn in the middle of the step, and may have another size than '%2': draw both "
                            "before the model is called", min(group), split.total)  # fmt: skip
    return None


def _is_run(plan: Reading, node: ast.AST) -> bool:
    """A function of the notebook: of what it makes of two batches it is not seen here whether they meet."""
    return isinstance(node, ast.Call) and bool(plan.facts.calls[node].bodies)


class _Following:
    """What goes into what, statement by statement."""

    def __init__(self, plan: Reading, split: Split, means: Means) -> None:
        self.plan, self.split = plan, split
        self.born = {*means.born, *means.counts}
        self.inner = frozenset(inner.keys for inner in means.inner)
        region = region_at(plan, split.at)
        cut = {plan.program.source(n): n for n in sorted(split.inline, key=plan.program.span)}
        late = region.bound_in_rest - region.bound_before
        named = {*named_before(plan, split)}
        self.cut_here = tuple(key for key, n in cut.items() if n in named or not _is_late(n, late))
        self.late = {*cut} - {*self.cut_here}
        self.nodes = {name: _read(region.rest, name) for name in split.names}
        self.nodes |= {plan.program.source(n): n for n in split.renamed} | cut
        self.held = dict[str, Keys]()
        self.taken = dict[ast.AST, Keys]()
        self.meetings = dict[Keys, ast.AST]()
        inside = {n for s in region.rest for n in walk(s)}
        self.elsewhere = frozenset(key for key, n in self.nodes.items() if n not in inside and key not in split.names)
        self._follow_turns(region.rest)

    def _follow_turns(self, step: Sequence[ast.stmt]) -> None:
        for _ in range(TURNS):
            before = dict(self.held)
            self.held |= {name: frozenset({name}) for name in self.split.names}
            for statement in step:
                self._follow(statement, certain=True)
            if self.held == before:
                break

    def _follow(self, node: ast.AST, *, certain: bool) -> None:
        """A statement; a branch, a loop or a function is perhaps not run."""
        bindings = [*bound(self.plan.program, node)]
        for target, value in bindings:
            found = self._of(value)
            self._bind(target, found, certain=certain and not isinstance(node, ast.AugAssign | ast.Return))
            if isinstance(node, ast.Assign):
                self.taken[node] = self.taken.get(node, NONE) | found  # out of which a name may get a mean
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr) and not bindings:
                self._of(child)
        if isinstance(node, BRANCHING):
            for block in (node.body, node.orelse):
                self._follow_block(block, certain=certain)
            return
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr):
                self._follow(child, certain=certain and isinstance(node, ast.With))

    def _follow_block(self, block: Sequence[ast.stmt], *, certain: bool) -> None:
        """What it may do or not, in its order."""
        before = dict(self.held)
        for statement in block:
            self._follow(statement, certain=certain)
        self.held = {key: before.get(key, NONE) | found for key, found in self.held.items()}

    def _bind(self, target: ast.expr, found: Keys, *, certain: bool) -> None:
        match target:
            case ast.Tuple() | ast.List():
                for part in target.elts:
                    self._bind(part, found, certain=certain)
            case ast.Starred() | ast.Subscript():
                self._bind(target.value, found, certain=False)
            case _:
                key = ast.unparse(target)
                self.held[key] = found if certain else found | self.held.get(key, NONE)

    def _of(self, node: ast.AST) -> Keys:
        """The batches whose samples an expression is made of; what is a mean already is made of none."""
        if node in self.split.renamed or node in self.split.inline:
            assert isinstance(node, ast.expr)
            return frozenset({self.plan.program.source(node)})
        if isinstance(node, HELD) and (held := self.held.get(ast.unparse(node))) is not None:
            return held
        if isinstance(node, ast.Attribute) and entry_of(node).about == "kind":
            return NONE
        for target, value in bound(self.plan.program, node):
            self._bind(target, self._of(value), certain=False)
        return self._met(node, frozenset(k for child in loops_first(node) for k in self._of(child)))

    def _met(self, node: ast.AST, found: Keys) -> Keys:
        value = self.plan.facts.value(node)
        if self.inner and found and node not in self.born and spread(value) is Extent.MEAN:
            return NONE  # of which the means inside are weighed
        if node in self.born:
            self.taken[node] = self.taken.get(node, NONE) | found
        several = isinstance(node, ast.Call) and value.items is not None  # `loss, accuracy = loss_of(model, xb, yb)`
        if len(found) > 1 and (several or node in self.born or spread(value) in (Extent.SAMPLES, Extent.VARYING)):
            if not isinstance(node, ast.Tuple | ast.List | ast.Dict):
                self.meetings.setdefault(found, node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, HELD):
            if self.plan.facts.value(node.func.value).of("list", "dict"):
                self._bind(node.func.value, found, certain=False)  # `losses.append(…)`
        return NONE if value.items is None and spread(value) is Extent.MEAN else found

    def groups(self) -> Iterator[Keys]:
        """Also one, where they are written with one size; and all in one, where a mean is not seen to be of any."""
        joined = [*self.meetings, *self.inner, *(frozenset(self.nodes) for n in self.born if not self.taken.get(n))]
        rows = {} if self.split.dim else self.nodes  # what is written with one size first
        sizes = {key: written_size(self.plan, node) for key, node in rows.items()}
        joined += [frozenset(k for k in sizes if sizes[k] == size) for size in sizes.values() if size]
        left_over = self.elsewhere.difference(*self.inner)
        if left_over:  # functions compute with what they are given
            joined.append(left_over | {*list(self.nodes)[:1]})
        left = dict.fromkeys(self.nodes)
        while left:
            group = frozenset({next(iter(left))})
            while (more := group.union(*(keys for keys in joined if keys & group))) != group:
                group = more
            left = {key: None for key in left if key not in group}
            yield group


def _read(step: Sequence[ast.stmt], name: str) -> ast.expr:
    named = (n for s in step for n in walk(s) if isinstance(n, ast.Name) and n.id == name)
    return next(named, ast.Name(name))


def _is_late(node: ast.expr, late: frozenset[str]) -> bool:
    """Not there yet when the samples are dealt out: it is drawn then, or cut out by what is."""
    return any(isinstance(n, ast.Call) or (isinstance(n, ast.Name) and n.id in late) for n in walk(node))


def drawn_inside(region: Region, last: ast.AST, given: Sequence[ast.expr]) -> Split | None:
    """Of what the model is given first, in the block of the step; nothing where it has a name of its own."""
    plan, here = region.plan, region.at
    found = [g for g in given if _has_rows(plan, g) and plan.program.statement_of(g) is here and is_drawn(plan, g)]
    if not found or not isinstance(here, SIMPLE) or not all(_can_be_named(plan, here, g) for g in found):
        return None
    step = plan.program.statement_of(last)
    return Split(here, step, plan.program.source(found[0]), inline=frozenset(found))


def named_before(plan: Reading, split: Split) -> list[ast.expr]:
    """Those that are drawn once, before the statement in which they stand: it asks for their length as well."""
    here = (n for n in split.inline if isinstance(n, DRAWN) and plan.program.statement_of(n) is split.at)
    return sorted((n for n in here if _can_be_named(plan, split.at, n)), key=plan.program.span)


def is_drawn(plan: Reading, node: ast.AST) -> bool:
    return any(draws(plan, n) for n in run_by(plan, node))


def _has_rows(plan: Reading, node: ast.expr) -> bool:
    """`X[torch.randint(0, 64, (16,))]`, `torch.randn(64, 8)`; no single sample."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Call) and is_drawn(plan, node.slice)
    shape = plan.facts.value(node).shape
    if is_starred(plan, node):
        given = [*plan.bindings.below(node)]
        parts = [part for one in given for part in getattr(one, "elts", (one,))]
        apart = all(isinstance(one, ast.Tuple | ast.List) for one in given)
        return bool(given) and apart and not any(_is_no_tensor(plan.facts.value(part)) for part in parts)
    return (
        isinstance(node, ast.Call) and isinstance(shape, tuple) and len(shape) >= MATRIX and shape[0] not in (None, 1)
    )


def _is_no_tensor(value: Value) -> bool:
    return value.number or value.const is not None or bool(value.items or value.of("list", "dict"))


def is_starred(plan: Reading, node: ast.AST) -> bool:
    """`get_batch()`, of `model(*get_batch())`: tensors of as many samples."""
    return isinstance(node, ast.Call) and isinstance(plan.program.parents.get(node), ast.Starred)


def _can_be_named(plan: Reading, statement: ast.stmt, node: ast.expr) -> bool:
    """It is drawn whatever way the statement goes, once, and nothing else is drawn before it there, such as dropout."""
    around = [*takewhile(lambda n: n is not statement, plan.program.ancestors(node))]
    inside, start = {*walk(node), *around}, plan.program.span(node)[0]
    others = (f for n in walk(statement) if n not in inside and (f := plan.facts.calls.get(n)) is not None)  # type: ignore[call-overload]
    before = (f for f in others if plan.program.span(f.node)[0] < start)
    drawn = any(f.called or f.bodies or is_drawn(plan, f.node) for f in before)
    return is_drawn(plan, node) and not drawn and not any(isinstance(n, AT_TIMES) for n in around)
