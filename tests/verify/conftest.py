"""One helper for all verifications of a module: torch is imported once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nbddp.run.errors import NotWarm
from nbddp.run.launch import Helper
from nbddp.run.warm import WarmHelper


@pytest.fixture(scope="session")
def helper() -> Iterator[Helper]:
    try:
        started = WarmHelper.start()
    except NotWarm:
        yield None
        return
    yield started
    started.close()


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch) -> None:
    """What notebooks write goes to a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
