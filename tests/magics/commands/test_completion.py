"""The tab key."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from nbddp.magics.commands.completion import install


class Shell:
    def __init__(self) -> None:
        self.hooks: dict[str, Any] = {}

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
        ("%ddp export --", "--", set()),
    ],
)
def test_what_is_offered(line, symbol, some):
    found = offered(line, symbol)
    assert some <= found
    assert all(option.startswith(symbol) for option in found)


@pytest.mark.parametrize(("line", "symbol"), [("%ddp nowhere ", ""), ("%%ddp_train --zz", "--zz"), ("%ddp zz", "zz")])
def test_what_there_is_not_is_not_offered(line, symbol):
    assert offered(line, symbol) == set()
