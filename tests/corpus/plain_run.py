"""Run a notebook's cells in this process, the only one: `plain_run.py NOTEBOOK WANTED RECORD`, started by runs.py.

WANTED lists the statements that the exported script keeps; where it is null, the run only shows what trains. The others
run too, but they draw no random numbers that count, print nothing and are not recorded: if the slice is right, nobody
can tell whether they ran. A statement that raises is noted, and the next one runs: what fails here (a file that is
missing, a package) may not matter.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import json
import linecache
import os
import random
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import corpus_probe as probe  # type: ignore[import-not-found]
import numpy as np
import torch

NUMBERS = (int, float, list, dict, tuple, torch.Tensor, np.ndarray, np.generic)


class Quiet:
    """What is printed aside goes nowhere."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return self.stream.write(text) if probe.run.on else len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class Shell:
    """IPython as far as a notebook that runs alone needs it: timing magics run what they time, others do nothing."""

    kernel = None

    def __init__(self, run: Any) -> None:
        self.run = run

    def run_line_magic(self, name: str, line: str, *_: Any, **__: Any) -> Any:
        if name in ("time", "timeit", "prun"):
            return self.run(re.sub(r"^(-\w+\s*\S+\s+)*", "", line))
        if name == "cd":
            with contextlib.suppress(OSError):  # which it tells, and goes on
                os.chdir(Path(line.replace("\\ ", " ").strip(" '\"")).expanduser())
        return None

    def run_cell_magic(self, name: str, _: str, body: str) -> Any:
        return self.run("\n" + body) if name in ("time", "timeit", "prun", "capture") else None

    def system(self, command: str) -> None:
        print("not run:", command)

    def getoutput(self, *_: Any, **__: Any) -> list[str]:
        return []


def transformed(source: str) -> str:
    from IPython.core.inputtransformer2 import TransformerManager

    first = source.lstrip().split("\n", 1)[0]
    if re.match(r"%%(time|timeit|prun|capture|ddp_train|dp_train|single_train)\b", first):
        source = source.replace(first, "", 1)
    blank = source[: len(source) - len(source.lstrip())].count("\n")  # dropped by IPython; places are those of the cell
    return "\n" * blank + TransformerManager().transform_cell(source)


def unguarded(statements: list[ast.stmt]) -> Iterator[tuple[ast.stmt, int]]:
    """With their columns; those under `if __name__ == "__main__":` one by one, where an export has them."""
    for node in statements:
        guard = isinstance(node, ast.If) and not node.orelse and ast.unparse(node.test) == "__name__ == '__main__'"
        inner = node.body if isinstance(node, ast.If) and guard else [node]
        yield from ((one, one.col_offset - (inner[0].col_offset if guard else 0)) for one in inner)


class Runner:
    def __init__(self, names: dict[str, Any], wanted: list[tuple[int, int, int]] | None, record: str) -> None:
        self.names, self.wanted, self.record = names, wanted, record
        self.raised: list[dict[str, Any]] = []
        self.trained: dict[int, int] = {}

    def cell(self, number: int, source: str) -> None:
        name = f"<cell {number}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        for node, column in unguarded(ast.parse(source, name).body):
            before = probe.run.total
            place = (number, node.lineno, column)
            try:
                self.statement(node, name, self.wanted is not None and place in self.wanted)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a cell may raise
                trained = probe.run.total > before
                self.raised.append(
                    {"place": place, "error": f"{type(error).__name__}: {error}"[:300], "trained": trained}
                )
                probe.put(event="raised", **self.raised[-1])
            if self.wanted and place == self.wanted[-1]:  # what the training leaves, before later cells change it
                torch.save(left(self.names), self.record)
            if did := probe.run.total - before:
                self.trained[number] = self.trained.get(number, 0) + did
                probe.put(event="trained", cell=number, steps=did)

    def statement(self, node: ast.stmt, name: str, counts: bool) -> None:
        code = compile(ast.Module([node], []), name, "exec", dont_inherit=True)
        if counts:
            probe.run.on = True
            exec(code, self.names)
            return
        before = random.getstate(), np.random.get_state(), torch.get_rng_state()
        probe.run.on, probe.run.aside = False, 0
        try:
            exec(code, self.names)
        except probe.Cut:
            pass
        finally:
            probe.run.on = True
            random.setstate(before[0])
            np.random.set_state(before[1])
            torch.set_rng_state(before[2])


def left(names: dict[str, Any]) -> dict[str, Any]:
    """Every module with a state, and every value made of numbers, by its name in the notebook."""
    from outcome import flat  # type: ignore[import-not-found]

    modules = {n: getattr(m, "module", m) for n, m in list(names.items()) if isinstance(m, torch.nn.Module)}
    values = {n: flat(v) for n, v in list(names.items()) if isinstance(v, NUMBERS) and not n.startswith("_")}
    return {"states": {n: flat(m.state_dict()) for n, m in modules.items()}, "values": values}


def main() -> None:
    notebook, wanted, record = sys.argv[1:4]
    sys.path.append(str(Path(__file__).parent.parent / "e2e"))
    places = json.loads(Path(wanted).read_text())
    module = types.ModuleType("__main__")
    runner = Runner(module.__dict__, None if places is None else [tuple(p) for p in places], record)
    shell = Shell(lambda source: exec(compile(transformed(source), "<magic>", "exec"), module.__dict__))
    module.__dict__.update(get_ipython=lambda: shell, display=lambda *_, **__: None)
    builtins.get_ipython = module.__dict__["get_ipython"]  # type: ignore[attr-defined]
    builtins.display = module.__dict__["display"]  # type: ignore[attr-defined]
    sys.modules["__main__"], sys.argv, sys.path[0] = module, [notebook], ""
    sys.stdout = Quiet(sys.stdout)
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    cells = json.loads(Path(notebook).read_text())["cells"]
    for number, cell in enumerate(cells, 1):
        if cell["cell_type"] == "code":
            source = transformed(cell["source"])
            try:
                compile(source, "<check>", "exec", dont_inherit=True)
            except SyntaxError:
                continue  # prose in a code cell: a person runs on
            runner.cell(number, source)
    probe.put(event="done")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
