"""The claim of an end-to-end run: its script does on so many processes what its notebook does."""

from __future__ import annotations

from pathlib import Path

from nbddp.export import Script
from nbddp.run.start.command import INSIDE
from nbddp.watch_points import to_json
from tests.proofs.claim import Claim

HARNESS = tuple(
    sorted(path for path in Path(__file__).parent.glob("*.py") if not path.name.startswith(("test_", "__")))
)


def training(
    name: str, script: Script | str, nproc: int, notebook: Path | None = None, *options: str | int | bool
) -> Claim:
    """Where it is watched, the points and the programs that watch them and bring its results back count as well."""
    on = f"{nproc} process{'es' if nproc > 1 else ''}"
    text, watch = (script, ()) if isinstance(script, str) else (script.text, (to_json(script.watch),))
    watching = (INSIDE, INSIDE.parents[1] / "watching") if watch else ()
    return Claim(f"{name} on {on}", text, nproc, notebook, (*HARNESS, *watching), (*options, *watch))
