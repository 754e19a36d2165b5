"""The wheel, built and installed as a user has it: in an environment of its own, where there is no Node."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


OTHER = os.environ.get("NBDDP_TEST_LAB")  # an environment with another JupyterLab, which tests/lab/versions.sh makes


@dataclass(frozen=True)
class Installed:
    folder: Path
    wheel: Path
    complete: bool = False  # it has a JupyterLab of its own

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def labextension(self) -> Path:
        return self.folder / "share" / "jupyter" / "labextensions" / "nbddp"

    def environment(self, home: Path) -> dict[str, str]:
        """Jupyter with this environment's extension, the tests' own packages, and none of the user's settings."""
        own = {name: str(home / name.lower()) for name in DIRECTORIES}
        kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "JUPYTER_TOKEN"}}
        return kept | own | {"PATH": self._path()} | ({} if self.complete else OUTSIDE)

    def _path(self) -> str:
        """This environment's programs, and the system's: no Node comes with either that anything here would use."""
        return os.pathsep.join([str(self.folder / "bin"), os.environ["PATH"]])


OUTSIDE = {
    "JUPYTER_PATH": str(Path(sys.prefix, "share", "jupyter")),
    "JUPYTERLAB_DIR": str(Path(sys.prefix, "share", "jupyter", "lab")),
}
DIRECTORIES = (
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_DATA_DIR",
    "JUPYTER_RUNTIME_DIR",
    "JUPYTERLAB_SETTINGS_DIR",
    "JUPYTERLAB_WORKSPACES_DIR",
    "IPYTHONDIR",
)


def install(folder: Path) -> Installed:
    """The packages that nbddp needs are those of the tests' environment; nbddp itself is the wheel's."""
    wheel = _build(folder / "dist")
    if OTHER:
        _pip("--python", f"{OTHER}/bin/python", "install", "--no-deps", "--no-index", "--force-reinstall", str(wheel))
        return Installed(Path(OTHER), wheel, complete=True)
    home = folder / "environment"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    site = Path(sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)}))
    for outside in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for one in Path(
            outside
        ).iterdir():  # links, since a run starts warm from what is installed here and not elsewhere
            if "nbddp" not in one.name and one.suffix != ".pth" and not (site / one.name).exists():
                (site / one.name).symlink_to(one)
    _pip("--python", str(python), "install", "--no-deps", "--no-index", "--ignore-installed", str(wheel))
    return Installed(home, wheel)


def _build(folder: Path) -> Path:
    """One at a time: processes that test side by side share the folder of what has been built."""
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    (wheel,) = folder.glob("nbddp-*.whl")
    return wheel


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
