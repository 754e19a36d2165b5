"""From executing a cell to rank 0's first optimizer step, in a Jupyter kernel: nbddp's two ways and what else there is.

Each measurement has a kernel of its own that has imported torch and built data and model, as a notebook has by then;
nbddp's time has the export of the cells in it. The tools take turns, so that what else the machine does falls on all.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import nbddp
from bench.notebooks import TRAINING, notebook
from nbddp.run.start.command import INSIDE
from nbddp.watch_points import to_json
from tests.magics.kernel import Kernel

TURNS = 3
WITHIN = 120.0  # seconds
READY = "get_ipython()._nbddp_session.helper.wait_until_ready(60)"
COLD = "session = get_ipython()._nbddp_session; session.helper.close(); session.helper = None"
TORCHRUN = "{python} -m torch.distributed.run --standalone --nproc-per-node 2 {inside} trained_ddp.py"


def main() -> None:
    seconds: dict[str, list[float]] = {name: [] for name, needs, _ in TOOLS if not needs or find_spec(needs)}
    for turn in range(TURNS):
        for name, _, measure in TOOLS:
            if name in seconds:
                seconds[name].append(measure())
                print(f"turn {turn + 1}, {name}: {seconds[name][-1]:.2f} s", file=sys.stderr)
    _print(seconds)


def _print(seconds: dict[str, list[float]]) -> None:
    launcher = seconds.get("accelerate's notebook_launcher")
    print("cell to first step            median    each turn             ratio to notebook_launcher, median over turns")
    for name, turns in seconds.items():
        ratios = [mine / its for mine, its in zip(turns, launcher, strict=True)] if launcher else []
        ratio = f"{statistics.median(ratios):.2f}" if ratios else "–"
        print(f"{name:28} {statistics.median(turns):6.2f} s   {'  '.join(f'{t:5.2f}' for t in turns)}     {ratio}")
    print("limit for a warm start: 0.12\n")


@contextmanager
def _kernel(**environment: str) -> Iterator[tuple[Kernel, Path]]:
    with TemporaryDirectory() as place:
        folder = Path(place)
        kernel = Kernel(folder, CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="1", **environment)
        try:
            yield kernel, folder
        finally:
            kernel.end()


def _execute(kernel: Kernel, source: str) -> float:
    """When it was sent."""
    began = time.time()
    reply = kernel.run(source, timeout=WITHIN)
    if reply.status != "ok":
        raise SystemExit(f"{source}\n{reply.error}\n{reply.text}")
    return began


def nbddp_starts(*, warm: bool) -> float:
    """What a user does: the extension loaded first, the cells one by one, the training cell last."""
    with _kernel() as (kernel, _):
        _execute(kernel, "%load_ext nbddp")
        for cell in TRAINING[:-1]:
            _execute(kernel, cell)
        kernel.aside(READY if warm else COLD)
        began = _execute(kernel, TRAINING[-1].replace("%%ddp_train", "%%ddp_train --nproc 2 --background"))
        kernel.aside("import time\nwhile run.state.first_step is None and not run.state.over: time.sleep(0.01)")
        first = float(kernel.value("run.state.first_step"))
        assert kernel.value("run.state.start") == ("warm" if warm else "cold")
        kernel.aside("run.stop('kill')")
    return first - began


def peer_starts(module: str) -> float:
    """The kernel has imported what the tool needs; it has trained nothing, for after that both hang."""
    with TemporaryDirectory() as place, _kernel(BENCH_STAMP=str(Path(place, "first"))) as (kernel, _):
        _execute(kernel, f"from bench.{module} import launch")
        began = _execute(kernel, "launch()")
        return float(Path(place, "first").read_text()) - began


def torchrun_starts() -> float:
    """The exported script, from a cell with an exclamation mark."""
    files = {"NBDDP_EVENTS": "events.jsonl", "NBDDP_WATCH": "watch.json"}
    with (
        TemporaryDirectory() as place,
        _kernel(**{variable: str(Path(place, name)) for variable, name in files.items()}) as (kernel, folder),
    ):
        source = folder / "trained.ipynb"
        source.write_text(json.dumps(notebook(len(TRAINING))))
        script = nbddp.export(source)
        (folder / "trained_ddp.py").write_text(script.text.replace("epochs = 12", "epochs = 1"))
        Path(place, "watch.json").write_text(to_json(script.watch))
        began = _execute(kernel, "!" + TORCHRUN.format(python=sys.executable, inside=INSIDE))
        events = map(json.loads, Path(place, "events.jsonl").read_text().splitlines())
        return float(next(e["time"] for e in events if e["event"] == "step" and e["rank"] == 0)) - began


Measure = Callable[[], float]
TOOLS: tuple[tuple[str, str, Measure], ...] = (
    ("nbddp, warm", "", lambda: nbddp_starts(warm=True)),
    ("nbddp, cold", "", lambda: nbddp_starts(warm=False)),
    ("accelerate's notebook_launcher", "accelerate", lambda: peer_starts("by_accelerate")),
    ("Lightning's ddp_notebook", "lightning", lambda: peer_starts("by_lightning")),
    ("!torchrun", "", torchrun_starts),
)

if __name__ == "__main__":
    main()
