"""Means over a rank's samples: each counts by how many of the batch they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from nbddp.analysis.reading import Reading
from nbddp.analysis.splitting.means.born import is_born, is_mean, means_in, runs, scales
from nbddp.analysis.splitting.means.counted import COUNTING, comes_from, counted_in, counts_of, first_of
from nbddp.analysis.splitting.means.inside import Inner, inner_mean, means_around, of_several, outer_mean
from nbddp.analysis.splitting.means.kept import keeps_means, learned_from, reads_kept
from nbddp.analysis.splitting.regions import region_at
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Extent, Split, spread


@dataclass(frozen=True, eq=False)
class Means:
    """Of one split step."""

    born: tuple[ast.expr, ...]  # expressions that are a mean, and whose parts are none
    unpacked: tuple[tuple[ast.stmt, str], ...]  # names that get one out of a tuple, or by `loss /= len(x)`
    counts: tuple[ast.expr, ...]  # numbers of samples that a mean is multiplied by
    inner: tuple[Inner, ...] = ()  # in functions of the step that make means of several batches, or keep one
    unseen: tuple[ast.expr, ...] = ()  # which functions keep, and it is not seen of which samples
    beside: tuple[ast.expr, ...] = ()  # numbers of samples that functions multiply one of their means by


def means_of(plan: Reading, split: Split) -> Means:
    born: list[ast.expr] = []
    inner: list[Inner] = []
    unpacked: list[tuple[ast.Assign | ast.AugAssign, str]] = []
    counts: list[ast.expr] = []
    unseen: list[ast.expr] = []
    beside: list[ast.expr] = []
    region = region_at(plan, split.at)
    apart = {n for loop in plan.dealt for n in walk(loop)}  # evaluations in the step, of whole batches
    inside = {n for s in region.rest for n in walk(s)}
    # `h - h.mean(0)`: which is told to be that of a rank's own, and is no other number besides.
    sides = [n for one in plan.facts.against_statistic for n in ast.iter_child_nodes(one) if isinstance(n, ast.expr)]
    subtracted = {*sides, *(made for side in sides for made in plan.bindings.made_by(side))}
    for statement in region.rest:
        for node in (n for n in walk(statement) if n not in apart):
            if isinstance(node, ast.Assign):
                unpacked += [(node, name) for name in _out_of_a_tuple(plan, node)]
            if isinstance(node, ast.AugAssign):
                unpacked += [(node, name) for name in _divided(plan, node, inside)]
            if isinstance(node, COUNTING):
                counts += counts_of(plan, node)
            begins, called = is_born(plan, node), runs(plan, node)
            if (begins or called) and not runs(plan, node, within=inside):
                assert isinstance(node, ast.expr)
                scaled = scales(plan, node)
                keeps = scaled or keeps_means(plan, node)
                kept = sorted(means_in(plan, node) - subtracted, key=plan.program.span) if keeps else []
                placed = {n: inner_mean(plan, split, n) for n in kept}
                asked = learned_from(plan, node) or {*(kept if begins or scaled else ())}  # not a meter's average
                unseen += [n for n in kept if placed[n] is None and n in asked]
                found = [*placed.values()] or (of_several(plan, split, node) if begins and called else [])
                inner += [one for one in found if one is not None]
                beside += counted_in(plan, node, weighs=any(found)) if called else []
                born += [node] if begins and not (found or scaled) else []
    weighed = {one.node for one in inner}
    averaged = sorted(plan.assumed.averaged - inside - weighed, key=plan.program.span)
    averaged = [node for node in averaged if weighed.isdisjoint(plan.bindings.made_of(node, through_calls=False))]
    inner += [one for node in averaged if (one := inner_mean(plan, split, node)) is not None]
    for node in sorted(means_around(plan, split, inside) - apart - {one.node for one in inner}, key=plan.program.span):
        outer = outer_mean(plan, split, node)
        inner, unseen = [*inner, *([outer] if outer else [])], [*unseen, *([] if outer else [node])]
    weighed = {one.node for one in inner}  # in a function: what that gives is not weighed once more
    again = [n for n in born if reads_kept(plan, n, weighed)]
    unseen += [n for n in again if runs(plan, n) and means_in(plan, n) - weighed]  # and a mean of its own beside it
    unseen += [n for n in born if _is_taken_apart(plan, n)]  # perhaps a tuple with one
    born = [n for n in born if n not in {*again, *subtracted} and weighed.isdisjoint(means_in(plan, n))]
    unpacked = [(n, name) for n, name in unpacked if weighed.isdisjoint(means_in(plan, n.value))]
    beside = first_of(plan, [*dict.fromkeys(beside)])
    counts = [n for n in counts if n not in beside and not comes_from(plan, n, beside)]
    return Means(tuple(born), tuple(unpacked), tuple(counts), tuple(inner), tuple(unseen), tuple(beside))


def _is_taken_apart(plan: Reading, node: ast.expr) -> bool:
    parent = plan.program.parents[node]
    return isinstance(parent, ast.Assign) and any(isinstance(t, ast.Tuple | ast.List) for t in parent.targets)


def _out_of_a_tuple(plan: Reading, node: ast.Assign) -> Iterator[str]:
    items = plan.facts.value(node.value).items
    target = node.targets[0]
    if items is None or not isinstance(node.value, ast.Call) or not isinstance(target, ast.Tuple):
        return
    if scales(plan, node.value):
        return
    for name, value in zip(target.elts, items, strict=False):
        if isinstance(name, ast.Name) and spread(value) is Extent.MEAN and not value.items:
            yield name.id


def _divided(plan: Reading, node: ast.AugAssign, inside: set[ast.AST]) -> Iterator[str]:
    """`loss /= len(x)`, of a sum over the samples."""
    over = plan.facts.value(node.value)
    if isinstance(node.target, ast.Name) and isinstance(node.op, ast.Div) and over.extent is Extent.SUM and over.size:
        reads = (n for n in inside if isinstance(n, ast.Name) and n.id == node.target.id)
        if any(is_mean(plan, n) for n in reads):
            yield node.target.id
