"""`python -m tests.corpus DIR`: each notebook of a folder, one after the other; a table, a summary and a JSON file."""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from dataclasses import asdict
from pathlib import Path

from .judge import Verdict
from .notebook import examine
from .runs import Setting
from .table import row, summary


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    parser.add_argument("folder", type=Path, help="with notebooks; what lies in NAME/ lies beside NAME.ipynb in a run")
    parser.add_argument("--only", default="", help="names without .ipynb, comma-separated")
    parser.add_argument("--path", action="append", default=[], help="a folder for PYTHONPATH, such as a stand-in's")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--beside", action="append", default=[], type=Path, help="a folder of files for all notebooks")
    parser.add_argument("--steps", type=int, default=16, help="calls of backward() after which a run is cut")
    parser.add_argument("--seconds", type=float, default=90.0, help="after which a run is ended")
    parser.add_argument("--as-it-is", action="store_true", help="with dropout and BatchNorm as the notebook has them")
    parser.add_argument("--exact", action="store_true", help="scripts whose numbers are those of one process")
    parser.add_argument("--export-only", action="store_true", help="train nothing")
    parser.add_argument("--json", type=Path, help="where results are kept, and added to")
    return parser.parse_args()


def main() -> int:
    options = parse()
    variables = tuple(tuple(pair.split("=", 1)) for pair in options.env)
    setting = Setting(tuple(str(Path(p).resolve()) for p in options.path), variables, tuple(options.beside),
                      options.steps, options.seconds, options.as_it_is, options.exact)  # fmt: skip
    only = set(options.only.split(",")) - {""}
    kept = json.loads(options.json.read_text()) if options.json and options.json.exists() else {}
    found: dict[str, Verdict] = {}
    for path in sorted(options.folder.glob("*.ipynb")):
        if not only or path.stem in only:
            found[path.stem] = _examined(path, setting, train=not options.export_only)
            print(row(path.stem, found[path.stem]), flush=True)
            if options.json:
                kept[path.stem] = asdict(found[path.stem])
                options.json.write_text(json.dumps(kept, indent=1))
    print(summary(found.values()))
    return int(any(v.outcome in ("differs", "raises", "hangs", "defect") for v in found.values()))


def _examined(path: Path, setting: Setting, *, train: bool) -> Verdict:
    """A traceback of nbddp's own is one of the outcomes that this is here to count."""
    try:
        return examine(path, setting, train=train)
    except Exception:  # noqa: BLE001
        return Verdict("defect", traceback.format_exc().strip()[-600:])


if __name__ == "__main__":
    sys.exit(main())
