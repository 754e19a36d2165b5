from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch) -> None:
    """What notebooks write goes to a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
