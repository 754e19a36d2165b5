"""Steps per second of a cell under `%%single_train`, live view on, against the cell plain: in one kernel, in turns.

The seconds are those of the processor, for all threads of the kernel together, the view's among them: what else the
machine does must not count. The first epoch of each turn warms up.
"""

from __future__ import annotations

import os
import re
import statistics
from contextlib import suppress
from pathlib import Path

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from bench.notebooks import TRAINING

TURNS = 10
EPOCHS = 10
ROOT = Path(__file__).parents[1]


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


def _take_turns(client: BlockingKernelClient) -> dict[str, list[list[float]]]:
    for source in ("%load_ext nbddp", *TRAINING[:-1], f"epochs = {EPOCHS}"):
        _run(client, source)
    plain = TRAINING[-1].removeprefix("%%ddp_train\n").replace("perf_counter", "process_time")
    rates: dict[str, list[list[float]]] = {"plain": [], "%%single_train": []}
    for turn in range(TURNS + 1):
        pair = [("plain", plain), ("%%single_train", f"%%single_train\n{plain}")]
        for name, cell in pair if turn % 2 else reversed(pair):
            printed = _run(client, cell)
            if turn:
                rates[name].append([float(rate) for rate in re.findall(r"([\d.]+) steps/s", printed)][1:])
    return rates


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


def _report(rates: dict[str, list[list[float]]]) -> None:
    print("steps per second     median of all epochs")
    for name, turns in rates.items():
        print(f"{name:20} {statistics.median(rate for turn in turns for rate in turn):20.1f}")
    pairs = zip(rates["%%single_train"], rates["plain"], strict=True)
    ratios = [statistics.median(watched) / statistics.median(plain) for watched, plain in pairs]
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(f"ratio, median over {TURNS} turns: {middle:.3f} (at least 0.98; half of them from {low:.3f} to {high:.3f})")


if __name__ == "__main__":
    main()
