"""What all tests share: proofs of trainings, an end of whatever is left running, and a helper with torch imported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests import browsers, leftovers
from tests.proofs import plugin as proofs

if TYPE_CHECKING:
    from nbddp.run.start.launch import Helper


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """As early as a file of the tests can: one of them has options."""
    pluginmanager.register(browsers, "browsers")
    pluginmanager.register(leftovers, "leftovers")
    pluginmanager.register(proofs, "proofs")


@pytest.fixture(scope="session")
def helper() -> Iterator[Helper]:
    """A process that has torch imported: most tests need runs, not patience. None where a start is always cold."""
    from nbddp.run.folder.errors import NotWarm
    from nbddp.run.start.warm import WarmHelper

    try:
        started = WarmHelper.start()
    except NotWarm:
        yield None
        return
    assert started.wait_until_ready(120)
    yield started
    started.close()
