"""hatchling, but an editable install needs no Node: it builds no JupyterLab extension (see labextension.py)."""

from __future__ import annotations

from typing import Any

from hatchling.build import *  # noqa: F403  # the whole of PEP 517 and PEP 660
from hatchling.build import get_requires_for_build_editable as _of_hatchling

from labextension import TOOLS  # type: ignore[import-not-found]


def get_requires_for_build_editable(config_settings: dict[str, Any] | None = None) -> list[str]:
    return [need for need in _of_hatchling(config_settings) if need not in TOOLS]
