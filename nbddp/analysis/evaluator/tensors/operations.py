"""Operators by another name, and operations that name the dimensions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from functools import reduce
from itertools import chain, repeat

from nbddp.analysis.evaluator.tensors.dimensions import NOTHING, samples_at
from nbddp.analysis.values import (
    FLAT,
    MARKS,
    OPERATORS,
    TURNED,
    WHOLE,
    Args,
    Extent,
    Keywords,
    Literal,
    Machine,
    Value,
    averaged,
    binary,
    join_extent,
    placed,
    spread,
    summed,
    unary,
)


def of_size(sizes: Set[Extent]) -> Extent:
    """Of `torch.zeros(len(x), 3)`: what is as large as a share has a place for each of its samples."""
    counted = sizes <= {*WHOLE, Extent.SUM}
    return Extent.SAMPLES if counted and Extent.SUM in sizes else reduce(join_extent, sizes, Extent.UNIFORM)


def operation(word: str, operands: Args, keywords: Keywords) -> Value | None:
    """`a.div(b)`, `torch.add(a, b, alpha=2)`: operators by another name; None for anything else."""
    if word in ("neg", "negative", "positive") and len(operands) == 1:
        return unary(operands[0], ast.USub())
    op = OPERATORS.get(word)
    if op is None or len(operands) != 2:
        return None
    left, right = operands
    if "alpha" in keywords:
        right = binary(right, keywords["alpha"], ast.Mult())
    if isinstance(op, ast.Div) and keywords.get("rounding_mode", NOTHING).const is not Literal.NONE:
        op = ast.FloorDiv()
    found = binary(left, right, op)
    return replace(found, objs=found.of(*MARKS))


def einsum(m: Machine, equation: object, operands: Args) -> Value | None:
    """A sum over the samples, where all operands have them and the result has not; in a model perhaps one over time."""
    found = contracted(equation, operands)
    if found is None or len(found[0]) != len(operands) or any(spread(o) is not Extent.SAMPLES for o in operands):
        return None
    letters, result = found
    if len(set(letters)) > 1 or letters[0] == result[:1]:
        return None
    if letters[0] == result[1:2]:
        return placed(Value(extent=Extent.SAMPLES), TURNED)
    if letters[0] in result:
        return None
    return Value(extent=Extent.VARYING if m.context.forward and letters[0] not in "bn" else Extent.SUM)


def contracted(equation: object, operands: Iterable[Value] = ()) -> tuple[list[str], str] | None:
    """Of `einsum("bi,bj->ij", …)`: by which letter each operand counts its samples, and those of the result."""
    if not isinstance(equation, str) or "." in equation:
        return None
    given, arrow, result = equation.replace(" ", "").partition("->")
    result = result if arrow else "".join(c for c in given if c.isalpha() and given.count(c) == 1)
    places = chain(map(samples_at, operands), repeat(0))
    return [operand[at : at + 1] for operand, at in zip(given.split(","), places, strict=False)], result


def rearranged(base: Value, pattern: object, done: object = None) -> Value:
    """`rearrange(x, "t b c -> b t c")`, `reduce(x, "b t c -> b c", "mean")`: where what counts the samples then is."""
    before, after = axes_of(pattern)
    mine = "" if base.of(FLAT) else "".join(before[samples_at(base) : samples_at(base) + 1])
    kept = Value(base.of(*MARKS), Extent.SAMPLES)
    if mine and mine in after[:2] and "..." not in before[: samples_at(base)]:
        return placed(kept, TURNED if after[0] != mine else "")
    if mine and re.match(rf"{re.escape(mine)} ", "".join(after[:1])):  # `"b t c -> (b t) c"`
        return placed(kept, FLAT)
    if base.of(FLAT) and before and before[0].partition(" ")[0] == "".join(after[:1]):  # and back again
        return placed(kept)
    gone = mine and " " not in mine and mine not in " ".join(after).split()
    of_all = {"sum": summed, "mean": averaged}.get(done) if gone and isinstance(done, str) else None
    return Value(extent=of_all(base) if of_all else Extent.VARYING)


def axes_of(pattern: object) -> tuple[Sequence[str], Sequence[str]]:
    """Of `"t b (c p) -> b t c p"`: `t`, `b`, `c p`, and `b`, `t`, `c`, `p`; nothing where it is not written there."""
    before, _, after = pattern.partition("->") if isinstance(pattern, str) else ("", "", "")
    each = (re.findall(r"\([^)]*\)|[^\s()]+", side.replace("…", "...")) for side in (before, after))
    first, second = ([" ".join(axis.strip("()").split()) for axis in side] for side in each)
    return first, second
