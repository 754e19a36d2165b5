"""What a user installs."""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from collections import Counter
from pathlib import Path

LARGEST = 300_000  # bytes, of what a page may load
LARGEST_IN_WHEEL = 60_000  # the same, compressed
LARGEST_WHEEL = 1_000_000  # nine tenths of it are Python sources, which are installed as they are
LEFT_BEHIND = {".map", ".ts", ".tsbuildinfo", ".pyc", ".orig", ".ipynb", ".lock"}


def run(installed, home, module: str, *arguments: str) -> str:
    """As `jupyter labextension …` does: of this environment's own programs there are none but nbddp's."""
    command = [str(installed.python), "-c", f"from {module} import main; main()", *arguments]
    done = subprocess.run(
        command, env=installed.environment(home), capture_output=True, text=True, timeout=120, check=True
    )
    return re.sub(r"\x1b\[\d*m", "", done.stdout + done.stderr)


def test_jupyterlab_lists_it_as_enabled_and_well(installed, tmp_path):
    line = next(
        one for one in run(installed, tmp_path, "jupyterlab.labextensions", "list").splitlines() if " nbddp " in one
    )
    assert "enabled" in line
    assert "OK" in line
    assert "python, nbddp" in line


def test_the_server_extension_is_enabled(installed, tmp_path):
    listed = run(installed, tmp_path, "jupyter_server.extension.serverextension", "list")
    assert "nbddp.server enabled" in listed
    assert "nbddp.server  OK" in listed


def test_the_page_loads_little(installed):
    files = [path for path in installed.labextension.rglob("*") if path.is_file()]
    names = {path.name.split(".")[0] for path in files}
    assert {"remoteEntry", "notebook", "install", "package", "style"} <= names
    assert sum(path.stat().st_size for path in files) < LARGEST
    about = json.loads((installed.labextension / "package.json").read_text())
    assert about["version"] == installed.wheel.name.split("-")[1]


def test_the_wheel_holds_what_is_used_once_and_compressed(installed):
    with zipfile.ZipFile(installed.wheel) as wheel:
        files = [file for file in wheel.infolist() if file.file_size]
    assert {file.compress_type for file in files} == {zipfile.ZIP_DEFLATED}
    assert [file.filename for file in files if Path(file.filename).suffix in LEFT_BEHIND] == []
    assert {Path(file.filename).parts[0].split("-")[0] for file in files} == {"nbddp"}
    contents = Counter(file.CRC for file in files if file.file_size > 200)
    assert [file.filename for file in files if contents[file.CRC] > 1] == []
    page = [file for file in files if "/labextensions/" in file.filename]
    assert sum(file.compress_size for file in page) < LARGEST_IN_WHEEL
    assert installed.wheel.stat().st_size < LARGEST_WHEEL


def test_no_node_comes_with_it(installed):
    assert not list((installed.folder / "bin").glob("node*"))


def test_nothing_tells_of_the_machine_that_built_it(installed):
    """Nor of the registry that its packages came from."""
    from tests.lab.installed import ROOT

    for path in (*installed.labextension.rglob("*.js*"), ROOT / "labextension" / "yarn.lock"):
        text = path.read_text()
        assert str(ROOT) not in text, path.name
    assert "http" not in (ROOT / "labextension" / "yarn.lock").read_text()
