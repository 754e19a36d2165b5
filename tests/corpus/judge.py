"""What a notebook came to: one word, and why."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from torch import Tensor

from nbddp.diagnostics import Diagnostic
from tests.e2e.compare import unequal
from tests.e2e.outcome import NUMBER, flat

from .runs import Run

BY_NAME = frozenset({"shard", "framework", "reinforcement", "privacy", "already-ddp"})
TIMED = re.compile(
    r"(?i)\btime|sec\b|seconds|elapsed|duration|took|ms\b|it/s|minutes|speed|/s\b|\d+m \d+s|\d+s\b|\d\d:\d\d:\d\d"
    r"|memory|0x[0-9a-f]+"
)
TIMING = re.compile(r"(?i)time|start|end|tic|toc|elapsed|duration|secs|seconds|mins|minutes")  # names
NEAR, FAR = 2e-3, 0.35  # relative: of the same numbers, and of a training that draws random ones


@dataclass(frozen=True)
class Verdict:
    outcome: str  # agrees · alike · differs · raises · hangs · slow · refused · does not train here · defect
    why: str = ""
    seconds: float = 0.0
    steps: int = 0
    details: dict[str, object] = field(default_factory=dict)


def refusal(diagnostics: tuple[Diagnostic, ...]) -> str:
    errors = [d for d in diagnostics if d.level == "error"]
    first = errors[0]
    place = f" (cell {first.cell}:{first.line})" if first.cell else ""
    return f"{first.rule}: {first.message}{place}"


def differences(plain: Run, run: Run, nproc: int, told: tuple[str, ...] = ()) -> tuple[str, list[str]]:
    """'agrees', 'alike' or 'differs', and what differs; numbers of which the export has said so may differ."""
    form = [*_steps(plain, run), *_lines(plain, run), *([] if told else ranks_apart(run))]
    found = [*form, *_losses(plain, run), *_sizes(plain, run, NEAR)]
    if not found:
        apart = [*_left(plain, run), *_printed(plain, run)]
        if not apart or (told and nproc > 1 and not any(a.startswith("model") for a in apart)):
            return "agrees", [f"told: {told[0]}", *apart[:1]] if apart else []
        found = apart
    free = free_to_differ(plain) if nproc > 1 else ""
    if free and not form and not list(_course(plain, run)):
        return "alike", [free, *found[:1]]
    return "differs", [*([free] if free else []), *found]


def ranks_apart(run: Run) -> Iterator[str]:
    """What one rank prints or leaves and another does not, whatever random numbers the training draws."""
    printed = [[e["text"] for e in run.of("print", rank)] for rank in sorted(run.events)]
    for rank, texts in enumerate(printed[1:], 1):
        for mine, theirs in zip(printed[0], texts, strict=False) if len(texts) == len(printed[0]) else ():
            if not TIMED.search(mine) and not _same_numbers(mine, theirs):
                yield f"rank {rank} prints '{theirs[:90]}', rank 0 '{mine[:90]}'"
                return
    for rank, left in enumerate(run.others, 1):
        for kind in ("states", "values"):
            for name in sorted(run.left[kind].keys() & left[kind].keys()) if run.left else ():
                mine, theirs = _compared(run.left[kind][name]), _compared(left[kind][name])
                if not TIMING.search(name) and (wrong := unequal(mine, theirs, 5e-3, 5e-4)):
                    yield f"{name} of rank {rank} is another than that of rank 0: {wrong[0]}"
                    return


def _compared(value: object) -> dict[str, Tensor]:
    """Statistics of batches are each rank's own, until the next step makes them those of rank 0."""
    return {key: tensor for key, tensor in flat(value).items() if "running_" not in key}


def told_of(diagnostics: tuple[Diagnostic, ...]) -> tuple[str, ...]:
    """What the export says will be another number on several processes."""
    return tuple(d.message for d in diagnostics if "only rank 0's part" in d.message or d.rule == "loss")


def free_to_differ(plain: Run) -> str:
    """Why losses on several processes may be others: each rank draws its own numbers, or a batch is filled up."""
    if any(e["drew"] for e in plain.of("backward")):
        return "draws random numbers while it trains"
    if any(e["samples"] % 2 for e in plain.of("order")):
        return "an odd number of samples is filled up"
    return ""


def _steps(plain: Run, run: Run) -> Iterator[str]:
    if plain.ended in ("done", "cut") and run.ended in ("done", "cut") and len(plain.losses) != len(run.losses):
        yield f"{len(run.losses)} steps, the notebook takes {len(plain.losses)}"


def _losses(plain: Run, run: Run) -> Iterator[str]:
    for number, (a, b) in enumerate(zip(plain.losses, run.losses, strict=False), 1):
        if not _near(a, b, NEAR):
            yield f"loss of step {number} is {b:.6g}, in one process {a:.6g}"
            return


def _sizes(plain: Run, run: Run, tolerance: float) -> Iterator[str]:
    for number in sorted(plain.sizes.keys() & run.sizes.keys()):
        if not _near(plain.sizes[number], run.sizes[number], tolerance):
            yield f"weights after step {number} come to {run.sizes[number]:.6g}, not {plain.sizes[number]:.6g}"
            return


def _course(plain: Run, run: Run) -> Iterator[str]:
    """The same course of training: means of the losses, and weights of about the same size."""
    count = min(len(plain.losses), len(run.losses))
    a, b = sum(plain.losses[:count]) / count, sum(run.losses[:count]) / count
    if not abs(a - b) <= FAR * max(abs(a), abs(b)) + 0.05:
        yield f"the loss is {b:.4g} on average, in one process {a:.4g}"
    yield from _sizes(plain, run, 0.1)


def _left(plain: Run, run: Run) -> Iterator[str]:
    """Models and values by name, where both went to their end."""
    if not (plain.left and run.left):
        return
    for name, state in run.left["states"].items():
        if name in plain.left["states"] and (wrong := unequal(plain.left["states"][name], flat(state), 5e-3, 5e-4)):
            yield f"model {name}: {wrong[0]}"
    for name, value in run.left["values"].items():
        expected = plain.left["values"].get(name)
        if expected is not None and not TIMING.search(name) and (wrong := unequal(expected, flat(value), 5e-3, 5e-4)):
            yield f"value {name}: {wrong[0]}"


def _with_numbers(run: Run) -> tuple[str, ...]:
    return tuple(line for line in run.lines if NUMBER.search(line) and not TIMED.search(line))


def _lines(plain: Run, run: Run) -> Iterator[str]:
    if plain.ended != "done" or run.ended != "done":
        return
    a, b = _with_numbers(plain), _with_numbers(run)
    if len(a) != len(b):
        only = next((line for line in (*b, *a) if (line in a) != (line in b)), "")
        yield f"prints {len(b)} lines with numbers, not {len(a)}: {only[:90]}"


def _printed(plain: Run, run: Run) -> Iterator[str]:
    if plain.ended != "done" or run.ended != "done":
        return
    for mine, theirs in zip(_with_numbers(plain), _with_numbers(run), strict=False):
        if not _same_numbers(mine, theirs):
            yield f"prints '{theirs[:90]}', in one process '{mine[:90]}'"
            return


def _same_numbers(mine: str, theirs: str) -> bool:
    pairs = list(zip(NUMBER.findall(mine), NUMBER.findall(theirs), strict=False))
    return all(_near(float(x), float(y), 5e-3) or _last_digit(x, y) for x, y in pairs)


def _last_digit(a: str, b: str) -> bool:
    return "." in a and abs(float(a) - float(b)) <= 1.5 * 10.0 ** -len(a.partition(".")[2].partition("e")[0])


def _near(a: float, b: float, tolerance: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= tolerance * max(abs(a), abs(b)) + 1e-4
