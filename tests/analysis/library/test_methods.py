"""What the entries say of samples, on real tensors that are split as the data of several ranks are."""

from __future__ import annotations

import ast
import warnings
from functools import cache
from typing import Any

import pytest
import torch

from nbddp.analysis.library.methods import METHODS, READING_METHODS, Effect, Op, Samples, done_to_samples
from nbddp.analysis.values import PICKED, TURNED, WEIGHTED, Extent, Value
from tests.analysis.cells import BEFORE, TRAINING, batch, plan

SHARES = [(4, 4), (2, 5, 4)]
ARGUMENTS = ("", "0", "1", "dim=0", "0.5, 0", "2, 1", "y", "y.mean(0)")
OTHERS = ("index", "apply")  # methods of lists and models, which a tensor has for something else
WORDS = [w for w, op in METHODS.items() if op.samples is not Samples.EACH or hasattr(torch.Tensor, w)]
WORDS = [word for word in WORDS if word not in OTHERS]
MOVED = {"unsqueeze": "0", "repeat": "2"}  # with these the samples are elsewhere, where nothing is said of them
TABLES = "median() quantile(0.5) prod() cumsum(0) describe() mean() std() nlargest(3) idxmax() value_counts()".split()


def forms(word: str) -> list[str]:
    given = [a for a in ARGUMENTS if word not in MOVED or MOVED[word] not in a]
    methods = [f"x.{word}({arguments})" for arguments in given]
    functions = [
        f"torch.{word}(x{', ' if arguments else ''}{arguments})" for arguments in given if arguments in ("", "0", "y")
    ]
    of_means = [f"x.mean(0).{word}()", f"torch.{word}(x.sum(0))", f"(x > 0).{word}()"]
    return [*methods, *functions, *of_means]


@cache
def claims() -> dict[str, Value]:
    """What the analysis says of each, where x and y are of a batch; one notebook has them all."""
    lines = [f"n = [{form}]" for word in WORDS for form in forms(word)]
    made = plan(*BEFORE, batch(*lines))
    lists = [n for n in ast.walk(made.program.tree) if isinstance(n, ast.Assign) and isinstance(n.value, ast.List)]
    return {ast.unparse(n.value.elts[0]): made.facts.value(n.value.elts[0]) for n in lists}  # type: ignore[attr-defined]


def computed(form: str, x: torch.Tensor) -> torch.Tensor | None:
    """None where torch has no such thing, or something other than numbers comes of it."""
    try:
        found = eval(form, {"torch": torch, "x": x.clone(), "y": x.flip(1) + 1})
    except (RuntimeError, TypeError, IndexError, AttributeError, ValueError, AssertionError):
        return None
    return found.double() if isinstance(found, torch.Tensor) and not found.is_complex() else None


@pytest.mark.parametrize("shares", SHARES, ids=str)
@pytest.mark.parametrize("word", WORDS)
def test_what_is_said_of_samples_is_so(word, shares):
    torch.manual_seed(1)
    whole = torch.randn(sum(shares), 8) * 3
    false = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch, about what it no longer recommends
        for form in forms(word):
            of_all, parts = computed(form, whole), [computed(form, part) for part in whole.split(shares)]
            value = claims()[ast.unparse(ast.parse(form))]
            if of_all is not None and None not in parts and not holds(value, parts, of_all, shares):
                false.append((form, value.extent))
    assert not false


def holds(value: Value, parts: list[Any], of_all: torch.Tensor, shares: tuple[int, ...]) -> bool:
    if value.extent is Extent.VARYING or value.of(PICKED, WEIGHTED, TURNED):
        return True
    if value.extent is Extent.SAMPLES:
        rows = {part.shape[1:] for part in (*parts, of_all)}
        return len(of_all.shape) > 0 and len(rows) == 1 and same(torch.cat(parts), of_all)
    if len({part.shape for part in parts}) > 1:
        return False
    if value.extent is Extent.MEAN:  # where the shares are unlike, a mean counts as often as it has samples
        return same(sum(p * n for p, n in zip(parts, shares, strict=True)) / sum(shares), of_all)
    together = {Extent.SUM: sum(parts), Extent.UNIFORM: parts[0], Extent.REPEATED: parts[-1]}
    return same(together[value.extent], of_all)


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, atol=1e-2, equal_nan=True)  # half has three digits


@pytest.mark.parametrize("call", TABLES)
def test_a_look_at_the_data_alone_in_a_cell_is_left_out(call):
    made = plan(*BEFORE, f"train_set.tensors[0].{call}", TRAINING)
    assert [s for s in made.kept if s.cell.number == len(BEFORE) + 1] == []


def test_what_has_no_entry_may_change_anything_and_takes_each_sample_for_itself():
    assert "prepare" not in READING_METHODS
    assert done_to_samples("prepare") is Samples.EACH


def test_what_only_looks_shares_nothing_that_it_stores():
    changing = [op for op in METHODS.values() if op.effect in (Effect.STORES, Effect.WRITES, Effect.WORLD)]
    assert not [op for op in changing if op.fresh]
    assert METHODS["median"] == Op(samples=Samples.STATISTIC, fresh=True)
