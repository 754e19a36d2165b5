"""From a notebook to the DistributedDataParallel script that an expert would write.

    script = nbddp.export("digits.ipynb")    # or nbddp.CannotExport, with all that stands in the way
    print(script.text)
"""

from nbddp._version import __version__
from nbddp.checking import Report, check
from nbddp.diagnostics import CannotExport, Diagnostic
from nbddp.export import Script, export
from nbddp.options import Options

__all__ = ["CannotExport", "Diagnostic", "Options", "Report", "Script", "__version__", "check", "export"]
