"""Compares every script with the one that another commit exports: of rule cases, test notebooks and examples.

    python tools/same_scripts.py BASE       BASE is any commit; its compiler is read from a worktree of its own

Prints the first lines that differ, and ends with status 1 where a script has changed. The cases are those of the
working tree: both compilers read the same notebooks. Diagnostics may change; the scripts may not.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIFFERENCES = 5  # so many are shown
LINES = 40  # of each


def notebooks() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """A title, the cells in percent format or a path, and the options of the command line."""
    sys.path.insert(0, str(ROOT))
    from tests.rules.case import cases, files

    for file in files():
        for case in cases(file):
            yield f"{file.name}: {case.heading}", case.notebook, case.options
    folders = [ROOT / "tests" / "e2e", ROOT / "tests" / "verify" / "shapes", ROOT / "examples"]
    for folder in folders:
        for path in sorted([*folder.rglob("*.ipynb"), *folder.glob("notebooks/*.py"), *folder.glob("refused/*.py")]):
            yield str(path.relative_to(ROOT)), str(path), ()


def export_all() -> dict[str, str]:
    """What the compiler that is on the path makes of each."""
    from dataclasses import replace

    from nbddp import CannotExport, Options, export
    from nbddp.notebook import CannotRead, notebook_from_percent

    found = {}
    for title, source, words in notebooks():
        options, left = Options(), list(words)
        try:
            while left:
                name = left.pop(0).removeprefix("--").replace("-", "_")
                options = replace(options, **{name: int(left.pop(0)) if left and left[0].isdigit() else True})
            notebook = notebook_from_percent(source, "case.py") if "\n" in source else Path(source)
            found[title] = export(notebook, options).text
        except (CannotExport, CannotRead, TypeError) as error:
            if isinstance(error, TypeError) and "unexpected keyword" not in str(error):
                raise
            found[title] = "refused\n"  # or by an option that this commit does not know
    return found


def exported_by(tree: Path) -> dict[str, str]:
    """By the compiler of that tree, in a process that knows no other."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    command = [sys.executable, "-P", __file__, "--export"]
    done = subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout))


def exported_at(base: str) -> dict[str, str]:
    """By the compiler of that commit; kept in build/, since one commit is compared with many times."""
    commit = subprocess.check_output(["git", "rev-parse", base], cwd=ROOT, text=True).strip()
    content = [(title, source if "\n" in source else Path(source).read_text()) for title, source, _ in notebooks()]
    digest = hashlib.sha256(json.dumps([commit, content]).encode()).hexdigest()[:16]
    kept = ROOT / "build" / "same-scripts" / f"{digest}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(_exported_by_worktree(commit)))
    return dict(json.loads(kept.read_text()))


def _exported_by_worktree(commit: str) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "base"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", tree, commit], cwd=ROOT, check=True)
        try:
            return exported_by(tree)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=ROOT, check=True)


def compare(base: str) -> int:
    before, after = exported_at(base), exported_by(ROOT)
    changed = [title for title, text in after.items() if before.get(title) != text]
    for title in changed[:DIFFERENCES]:
        old, new = before.get(title, "").splitlines(), after[title].splitlines()
        lines = difflib.unified_diff(old, new, f"{base}: {title}", title, lineterm="", n=1)
        print(*list(lines)[:LINES], "", sep="\n")
    print(f"{len(after)} notebooks, {len(changed)} with another script than {base}'s")
    print(*changed, sep="\n")
    return 1 if changed else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--export"]:
        json.dump(export_all(), sys.stdout)
    elif len(sys.argv) == 2:
        sys.exit(compare(sys.argv[1]))
    else:
        sys.exit(__doc__)
