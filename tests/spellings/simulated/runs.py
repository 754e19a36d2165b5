"""A program as the notebook runs it, and as its script runs it on simulated ranks: what each shows and writes."""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.e2e.cells import plain_cells
from tests.spellings.simulated.exchange import simulated

NAME = "program_of_a_rank"


@dataclass(frozen=True)
class Shown:
    """What was printed, and what the files hold that were written."""

    printed: str
    files: dict[str, str]


class RankZero(io.StringIO):
    """Standard output: what other ranks print goes nowhere, as in scripts."""

    current = staticmethod(lambda: 0)

    def write(self, text: str) -> int:
        return super().write(text) if self.current() == 0 else len(text)


def by_itself(text: str, folder: Path) -> Shown:
    module = types.ModuleType(NAME)
    with in_folder(folder, RankZero()) as printed, pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, NAME, module)
        for start, code in plain_cells(text):
            exec(compile("\n" * (start - 1) + code, "<notebook>", "exec"), module.__dict__)
    return shown(printed, folder)


def on_ranks(script: str, number: int, folder: Path) -> Shown:
    """The function of the script that trains, called by each rank with a module of its own, as each process has one."""
    program = compile(script, "<script>", "exec")
    output, trains = RankZero(), re.findall(r"^def (\w+)\(rank, world_size, ", script, re.MULTILINE)[0]
    with simulated(number) as ranks, in_folder(folder, output), pytest.MonkeyPatch.context() as patch:
        output.current = lambda: ranks.current
        patch.setitem(sys.modules, NAME, types.ModuleType(NAME))

        def work(rank: int) -> None:
            ranks.modules[rank] = sys.modules[NAME] = types.ModuleType(NAME)
            names: dict[str, Any] = ranks.modules[rank].__dict__
            exec(program, names)
            names[trains](rank, number, torch.device("cpu"))

        ranks.run(work)
    return shown(output, folder)


@contextlib.contextmanager
def in_folder(folder: Path, output: RankZero) -> Iterator[RankZero]:
    folder.mkdir(parents=True, exist_ok=True)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(output):
        patch.chdir(folder)
        yield output
    torch.set_num_threads(threads)
    linecache.checkcache()


def shown(printed: RankZero, folder: Path) -> Shown:
    files = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir()) if path.is_file()}
    return Shown(printed.getvalue(), files)
