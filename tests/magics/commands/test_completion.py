"""The tab key."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from nbddp.magics.commands.completion import install
from nbddp.run.folder.folders import create


class Shell:
    def __init__(self) -> None:
        self.hooks: dict[str, Any] = {}
        self.user_ns = {"xs": 1, "ys": 2, "_private": 3, "exit": 4}
        self.user_ns_hidden = {"exit": 4}

    def set_hook(self, _name: str, complete: Any, str_key: str) -> None:
        self.hooks[str_key] = complete


def offered(line: str, symbol: str) -> set[str]:
    shell = Shell()
    install(shell)
    return set(shell.hooks[line.split(maxsplit=1)[0]](shell, SimpleNamespace(line=line, symbol=symbol)))


@pytest.mark.parametrize(
    ("line", "symbol", "some"),
    [
        ("%%ddp_train --np", "--np", {"--nproc"}),
        ("%%ddp_train ", "", {"--nproc", "--devices"}),
        ("%%single_train --d", "--d", {"--device"}),
        ("%ddp ", "", {"export", "verify", "runs"}),
        ("%ddp ex", "ex", {"export"}),
        ("%ddp export --", "--", {"--output", "--diff"}),
        ("%ddp help ex", "ex", {"export"}),
        ("%ddp rules sam", "sam", {"sampler"}),
    ],
)
def test_what_is_offered(line, symbol, some):
    found = offered(line, symbol)
    assert some <= found
    assert all(option.startswith(symbol) for option in found)


@pytest.mark.parametrize(
    ("line", "symbol", "all_of_them"),
    [
        ("%%ddp_train --mode ", "", {"ddp", "auto", "single", "dp"}),
        ("%%ddp_train --mode=a", "a", {"auto"}),
        ("%%dp_train --devices 0,", "", {"0", "1"}),
        ("%%ddp_train --devices ", "", {"0", "1"}),
        ("%%ddp_train --nproc ", "", {"1", "2"}),
        ("%%single_train --device ", "", {"cpu", "cuda:0", "cuda:1"}),
        ("%%ddp_train --backend n", "n", {"nccl"}),
        ("%%ddp_train --snapshot xs,", "", {"xs", "ys"}),
        ("%ddp stop --grade ", "", {"epoch", "now", "kill"}),
    ],
)
def test_values_of_an_option(line, symbol, all_of_them, monkeypatch):
    monkeypatch.setattr("nbddp.magics.first_line.arguments.gpus", lambda: ("H200", "H200"))
    monkeypatch.setattr("nbddp.magics.first_line.modes.gpus", lambda: ("H200", "H200"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert offered(line, symbol) == all_of_them


def test_runs_by_their_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {create(tmp_path, name, now).name for now, name in ((0.0, "first"), (60.0, "second"))}
    assert names <= offered("%ddp attach ", "")
    assert offered("%ddp log 1970", "1970") == names


@pytest.mark.parametrize("line", ["%%ddp_train --export ", "%%ddp_train --resume ", "%ddp verify --save "])
def test_files_are_left_to_the_shell(line):
    assert offered(line, "") == set()


@pytest.mark.parametrize(("line", "symbol"), [("%ddp nowhere ", ""), ("%%ddp_train --zz", "--zz"), ("%ddp zz", "zz")])
def test_what_there_is_not_is_not_offered(line, symbol):
    assert offered(line, symbol) == set()
