"""Variables that libraries read when they are loaded: a process that has loaded them takes no notice of a change."""

from __future__ import annotations

import os
from collections.abc import Mapping

PREFIXES = (
    "PYTHON",
    "LD_",
    "OMP_",
    "MKL_",
    "KMP_",
    "GOMP_",
    "OPENBLAS_",
    "BLIS_",
    "ATEN_",
    "TORCH",
    "PYTORCH_",
    "NUMPY_",
)
EXACTLY = frozenset({"LANG", "LC_ALL", "LC_CTYPE", "MALLOC_ARENA_MAX", "VIRTUAL_ENV", "CONDA_PREFIX"})
SET_BY_LIBRARIES = {
    "TORCHINDUCTOR_CACHE_DIR",  # by torch, in every process that trains; it is read whenever something is compiled
    "KMP_DUPLICATE_LIB_OK",  # by scikit-learn, in every process that imports it; neither changes what is computed
    "KMP_INIT_AT_FORK",
}
THREADS = "OMP_NUM_THREADS"


def read_at_import(environ: Mapping[str, str]) -> dict[str, str]:
    """Those of these variables."""
    kept = (
        item for item in environ.items() if not item[0].startswith("TORCHELASTIC_") and item[0] not in SET_BY_LIBRARIES
    )
    return {name: value for name, value in kept if name.startswith(PREFIXES) or name in EXACTLY}


def changed_between(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The names of those that differ."""
    old, new = read_at_import(before), read_at_import(after)
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))


def fewer_threads(before: Mapping[str, str], most: int) -> int | None:
    """How many threads the environment now asks for, where that is a change that torch can still follow.

    Scripts share the cores out among their ranks in this way. Fewer threads are had by a call; with more, a new process
    would do what its libraries make of the number, which depends on their build.
    """
    asked = os.environ.get(THREADS, "")
    return int(asked) if asked != before.get(THREADS) and asked.isdigit() and 0 < int(asked) <= most else None
