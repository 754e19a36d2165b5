"""Read by every Python of a run at its start: the plain one, the script, the ranks that it spawns."""

import importlib.machinery
import importlib.util
import os
import sys
import traceback
from pathlib import Path

HERE = str(Path(__file__).parent)


def run_the_one_behind() -> None:
    """A folder later on the path may have a sitecustomize of its own, which this one hides."""
    others = [place for place in sys.path if place and Path(place).resolve() != Path(HERE).resolve()]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


run_the_one_behind()
if "CORPUS_RECORD" in os.environ and not any("resource_tracker" in word for word in sys.orig_argv):
    import corpus_probe  # type: ignore[import-not-found]

    try:
        corpus_probe.install()
    except Exception:  # noqa: BLE001 - Python would go on without, and the runs would not be comparable
        traceback.print_exc()
        os._exit(97)
