"""Batches of unlike sizes in one step: measured points and collocation points, each with a mean of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.means import Means, means_of
from nbddp.analysis.splitting.regions import Region, region_at
from nbddp.analysis.splitting.roots import definitions
from nbddp.analysis.values import Split

Key = str | ast.expr  # a name, an expression that is cut where it stands, or how many such a one has


@dataclass(frozen=True, eq=False)
class Groups:
    """What has as many samples as one another; of one mean all are."""

    parts: tuple[frozenset[Key], ...]
    of_mean: dict[ast.AST, int]  # also of a statement that gets one out of a tuple

    def of(self, key: Key) -> int:
        return next((i for i, part in enumerate(self.parts) if key in part), 0)


def groups_of(plan: Reading, split: Split) -> Groups:
    """One, unless each mean is seen to be over samples of one of them, and each sample to be in a mean."""
    region, means = region_at(plan, split.at), means_of(plan, split)
    keys = frozenset[Key]({*split.names, *split.inline, *(ast.unparse(n) for n in split.renamed)})
    keys |= {*_sizes(split.inline)}
    over = {mean: keys & _made_of(region, value, split) for mean, value in _means(means)}
    parts: list[frozenset[Key]] = []
    for found in over.values():
        meeting = [p for p in parts if p & found]
        parts = [p for p in parts if not p & found] + [found.union(*meeting)]
    if means.counts or split.dicts or not all(over.values()) or frozenset().union(*parts) != keys:
        return Groups((keys,), {})
    return Groups(tuple(parts), {mean: next(i for i, p in enumerate(parts) if p >= k) for mean, k in over.items()})


def _means(means: Means) -> Iterator[tuple[ast.AST, ast.expr]]:
    yield from ((node, node) for node in means.born)
    yield from ((s, s.value) for s, _ in means.unpacked if isinstance(s, ast.Assign))


def _made_of(region: Region, value: ast.expr, split: Split) -> set[Key]:
    """All that is read for it in the step."""
    waiting, seen, read = [value], set[ast.AST](), set[Key]()
    while waiting:
        for part in {*ast.walk(waiting.pop())} - seen:
            seen.add(part)
            if isinstance(part, ast.Name):
                read.add(part.id)
                waiting += definitions(region, part)
            elif isinstance(part, ast.expr) and part in split.inline:
                read |= {part, *_sizes([part])}
    return read


def _sizes(cut: Iterable[ast.expr]) -> Iterator[Key]:
    """`torch.ones(n, 1)` and `torch.zeros(n, 1)`: of as many, although in two means."""
    yield from (f"({ast.unparse(node.args[0])})" for node in cut if isinstance(node, ast.Call) and node.args)
