"""From a notebook to the DistributedDataParallel script that an expert would write.

script = nbddp.export("digits.ipynb")    # or nbddp.CannotExport, with all that stands in the way
print(script.text)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from nbddp._version import __version__
from nbddp.diagnostics import CannotExport, Diagnostic
from nbddp.export import Script, export
from nbddp.options import Options

if TYPE_CHECKING:
    from nbddp.checking import Report, check
    from nbddp.notebook import CannotRead
    from nbddp.run.summaries import runs

# Imported when asked for, so that `import nbddp` stays instant. `export` cannot be: the file of that name would take
# its place as soon as somebody imports it.
_LATE = {
    "CannotRead": "nbddp.notebook",
    "Report": "nbddp.checking",
    "check": "nbddp.checking",
    "runs": "nbddp.run.summaries",
}

__all__ = [
    "CannotExport",
    "CannotRead",
    "Diagnostic",
    "Options",
    "Report",
    "Script",
    "__version__",
    "check",
    "export",
    "runs",
]


def load_ipython_extension(ipython: object) -> None:
    """What `%load_ext nbddp` calls."""
    import_module("nbddp.magics.commands.extension").load(ipython)


def unload_ipython_extension(ipython: object) -> None:
    """What `%unload_ext nbddp` calls."""
    import_module("nbddp.magics.commands.extension").unload(ipython)


def __getattr__(name: str) -> object:
    if name in _LATE:
        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
