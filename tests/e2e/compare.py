"""Where a run differs from the oracle, said in lines that a person can act on; no line means that they agree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import torch

from .expectation import Expectation
from .outcome import NUMBER, Outcome, Tensors

SHOWN = 5


def compare(
    oracle: Outcome,
    run: Outcome,
    rtol: float = 1e-5,
    atol: float = 1e-6,
    wanted: Expectation | None = None,
) -> list[str]:
    """Weights of every model that both have, files that the script must write, values asked for, metrics."""
    wanted = wanted or Expectation()
    names = sorted(oracle.states.keys() & run.states.keys())
    differences = []
    if not names and (oracle.states or not wanted.values):  # what belongs to no model comes back by its own name
        differences = [f"no model in the result: {sorted(run.states)}, oracle has {sorted(oracle.states)}"]
    for name in names:
        differences += [f"model {name}: {text}" for text in unequal(oracle.states[name], run.states[name], rtol, atol)]
    differences += _files(oracle, run, rtol, atol, oracle.files if wanted.saves is None else wanted.saves)
    for name in wanted.values:
        expected, got = oracle.values[name], run.values.get(name)
        found = ["did not come back"] if got is None else unequal(expected, got, rtol, atol)
        differences += [f"value {name}: {text}" for text in found]
    printed = _lines(chosen(oracle, wanted.metrics), chosen(run, wanted.metrics), rtol, atol)
    return differences + list(printed)


def unequal(expected: Tensors, got: Tensors, rtol: float, atol: float) -> list[str]:
    """The first few entries that differ, worst deviation included."""
    found = [f"{key} is missing" for key in expected.keys() - got.keys()]
    found += [f"{key} is not in the oracle" for key in got.keys() - expected.keys()]
    for key in expected.keys() & got.keys():
        a, b = expected[key].double(), got[key].double()
        if a.shape != b.shape:
            found.append(f"{key} has shape {tuple(b.shape)}, the oracle {tuple(a.shape)}")
        elif not torch.allclose(a, b, rtol, atol, equal_nan=True):
            found.append(f"{key} deviates by up to {(a - b).abs().max():.3g} (oracle {_shown(a)}, run {_shown(b)})")
    more = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    return sorted(found)[:SHOWN] + more


def _shown(tensor: torch.Tensor) -> str:
    return ", ".join(f"{number:.6g}" for number in tensor.flatten()[:3].tolist())


def _files(oracle: Outcome, run: Outcome, rtol: float, atol: float, names: Iterable[str]) -> list[str]:
    found = []
    for name in sorted(names):
        if name not in run.files:
            found.append(f"file {name} was not written")
        else:
            texts = unequal(oracle.files[name], run.files[name], rtol, atol)
            found += [f"file {name}: {text}" for text in texts]
    return found


def chosen(outcome: Outcome, metrics: str) -> list[str]:
    return [line for line in outcome.lines if re.search(metrics, line)]


def _lines(expected: list[str], got: list[str], rtol: float, atol: float) -> Iterator[str]:
    if not expected:
        yield "the oracle printed no metrics: does the header's pattern match?"
    if len(expected) != len(got):
        yield f"{len(got)} lines of metrics, the oracle printed {len(expected)}"
        yield from (f"  run: {line}" for line in got[:SHOWN])
    for a, b in zip(expected, got, strict=False):
        if NUMBER.sub("#", a) != NUMBER.sub("#", b) or not _close(NUMBER.findall(a), NUMBER.findall(b), rtol, atol):
            yield f"printed '{b}', the oracle '{a}'"


def _close(expected: list[str], got: list[str], rtol: float, atol: float) -> bool:
    """Whole numbers are equal; others are within the tolerance or one unit of the last digit printed."""
    return all(
        a == b or abs(float(a) - float(b)) <= _allowed(a, rtol, atol) for a, b in zip(expected, got, strict=True)
    )


def _allowed(text: str, rtol: float, atol: float) -> float:
    mantissa, _, exponent = text.partition("e")
    if "." not in mantissa and not exponent:
        return 0.0
    digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return max(rtol * abs(float(text)) + atol, 1.01 * 10.0**-digits)
