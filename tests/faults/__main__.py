"""`make faults`, or `python -m tests.faults WORDS`: the scenes with one of the words in their names, as a table."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from nbddp.run.start.warm import WarmHelper
from tests.faults.scenes import SCENES
from tests.faults.stage import play

helper = WarmHelper.start()
chosen = [scene for scene in SCENES if not sys.argv[1:] or any(word in scene.name for word in sys.argv[1:])]
print(f"{'scene':46} {'seconds':>7} {'left':>4}  what is said")
wrong = 0
for scene in chosen:
    with tempfile.TemporaryDirectory(prefix="faults-") as place:
        played = play(scene, Path(place), helper)
    wrong += bool(played.wrong)
    print(f"{scene.name[:46]:46} {played.seconds:7.1f} {len(played.left):4}  {played.said[:100]}", flush=True)
    if played.wrong:
        print(f"    WRONG: {played.wrong}\n{played.output[-2000:]}", flush=True)
print(f"{len(chosen)} scenes, {wrong} wrong")
helper.close()
sys.exit(bool(wrong))
