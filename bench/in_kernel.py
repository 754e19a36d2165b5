"""Steps per second of a cell under `%%single_train`, live view on, against the cell plain: in one kernel, in turns.

The turns are short and many, the two ways follow each other in changing order, and each pair gives one ratio: what the
machine does beside it falls on both alike. Of the ratios the median is told, with the interval in which the true one
lies 95 times of 100 (of the order of the ratios alone: no assumption is made about their noise). It is told twice: by
the processor's time, of all threads of the kernel together, the view's among them, and by the clock.
"""

from __future__ import annotations

import math
import os
import re
import statistics
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from bench.notebooks import TRAINING

PAIRS = 150
EPOCHS = 3  # of a turn; the first of them warms up
ROOT = Path(__file__).parents[1]
BOTH_CLOCKS = {
    "began = time.perf_counter()": "began, spent = time.perf_counter(), time.process_time()",
    "len(train_loader) / (time.perf_counter() - began)": "time.process_time() - spent, time.perf_counter() - began",
    ", {rate:.1f} steps/s": " seconds {rate[0]:.9f} {rate[1]:.9f}",
}
CLOCKS = ("processor", "clock")
Turn = tuple[float, ...]  # seconds of an epoch, by each clock


@dataclass(frozen=True)
class Median:
    """Of ratios; the bounds hold it 95 times of 100."""

    low: float
    middle: float
    high: float

    @classmethod
    def of(cls, ratios: Sequence[float]) -> Median:
        """Each ratio is above the true median as often as below it: that alone gives the bounds."""
        ordered, count = sorted(ratios), len(ratios)
        inside = max(0, math.floor(count / 2 - 0.98 * math.sqrt(count)))
        return cls(ordered[inside], statistics.median(ordered), ordered[count - 1 - inside])


def main() -> None:
    manager = KernelManager(kernel_name="python3")
    environment = {"PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    manager.start_kernel(env=os.environ | environment)
    client: BlockingKernelClient = manager.client()  # type: ignore[assignment]
    try:
        client.start_channels()
        client.wait_for_ready(timeout=60)
        _report(_take_turns(client))
    finally:
        with suppress(Exception):
            client.stop_channels()
        manager.shutdown_kernel(now=True)


def _take_turns(client: BlockingKernelClient) -> list[tuple[Turn, Turn]]:
    """Plain and watched, pair by pair; the first pair is not counted."""
    for source in ("%load_ext nbddp", *TRAINING[:-1], f"epochs = {EPOCHS}"):
        _run(client, source)
    plain = TRAINING[-1].removeprefix("%%ddp_train\n")
    for before, after in BOTH_CLOCKS.items():
        assert before in plain
        plain = plain.replace(before, after)
    pairs: list[tuple[Turn, Turn]] = []
    for number in range(PAIRS + 1):
        cells = (plain, f"%%single_train\n{plain}")
        turns = [_turn(client, cell) for cell in (cells if number % 2 else reversed(cells))]
        pairs.append((turns[0], turns[1]) if number % 2 else (turns[1], turns[0]))
    return pairs[1:]


def _turn(client: BlockingKernelClient, cell: str) -> Turn:
    epochs = re.findall(r"seconds ([\d.]+) ([\d.]+)", _run(client, cell))[1:]
    assert len(epochs) == EPOCHS - 1
    return tuple(statistics.mean(map(float, column)) for column in zip(*epochs, strict=True))


def _run(client: BlockingKernelClient, source: str) -> str:
    printed: list[str] = []

    def hear(message: dict[str, object]) -> None:
        content = message["content"]
        assert isinstance(content, dict)
        if message["msg_type"] == "stream":
            printed.append(str(content["text"]))

    reply = client.execute_interactive(source, output_hook=hear, timeout=300)
    if reply["content"]["status"] != "ok":
        raise SystemExit("\n".join(reply["content"]["traceback"]))
    return "".join(printed)


def _report(pairs: Sequence[tuple[Turn, Turn]]) -> None:
    steps = 200  # of an epoch: 10000 samples, 50 in a batch
    print(
        f"{PAIRS} pairs of turns      a step, plain    under %%single_train      ratio of their speeds (at least 0.98)"
    )
    for place, clock in enumerate(CLOCKS):
        plain, watched = ([turn[place] for turn in turns] for turns in zip(*pairs, strict=True))
        ratio = Median.of([mine / its for mine, its in zip(plain, watched, strict=True)])
        each = "".join(f"{statistics.median(times) / steps * 1e6:16.0f} µs" for times in (plain, watched))
        print(f"by the {clock:12}{each}       {ratio.middle:.3f} (95 % from {ratio.low:.3f} to {ratio.high:.3f})")


if __name__ == "__main__":
    main()
