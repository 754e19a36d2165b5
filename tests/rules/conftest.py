from __future__ import annotations

import pytest

from tests.rules.case import files
from tests.rules.update import update


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-cases", action="store_true", help="write what the rules do now into tests/rules/*.md")


def pytest_sessionstart(session: pytest.Session) -> None:
    if session.config.getoption("--update-cases", default=False) and not hasattr(session.config, "workerinput"):
        for file in files():
            update(file)
