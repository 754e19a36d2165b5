"""A process that compiles: questions come in as lines of JSON, answers go out as lines of JSON.

Started by its path, so that no folder but nbddp's own is where its imports are looked for.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path


def main() -> None:
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever prints must not come between the answers
    sys.path[0] = str(Path(__file__).parents[2])
    from nbddp.server.answers import answer

    for line in sys.stdin.buffer:
        try:
            said = answer(**json.loads(line))
        except Exception:  # noqa: BLE001  a defect shows in the server's log, and the next question is answered
            traceback.print_exc()
            said = {"defect": "nbddp could not read this notebook; the server's log shows why. Please report it."}
        answers.write(json.dumps(said) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
