"""How the command line says no: all that stands in the way at once, and status 2."""

from __future__ import annotations

import json
import sys

from nbddp.cli.parse import Refusal
from nbddp.cli.show import count, show
from nbddp.diagnostics import CannotExport
from nbddp.notebook import CannotRead
from nbddp.output import CannotWrite
from nbddp.run.folder.errors import CannotVerify, LaunchFailed, NoSuchRun

REFUSALS = (Refusal, CannotRead, CannotWrite, CannotExport, CannotVerify, LaunchFailed, NoSuchRun)


def refused(error: Exception, *, as_json: bool) -> int:
    diagnostics = error.diagnostics if isinstance(error, CannotExport) else ()
    sentence = f"cannot export: {count(diagnostics)}" if diagnostics else str(error)
    if as_json:
        print(json.dumps({"error": sentence, "diagnostics": [each.as_dict() for each in diagnostics]}, indent=2))
    else:
        show(diagnostics, sys.stderr)
        print(f"nbddp: {sentence}", file=sys.stderr)
    return 2
