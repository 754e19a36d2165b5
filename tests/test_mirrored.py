"""Tests stand where the code stands: `nbddp/run/log/reading.py` is tested in `tests/run/log/test_reading.py`.

What follows are the modules that have no such test, and why. A module that is neither mirrored nor listed fails here,
and so does one that is listed and mirrored.
"""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "nbddp"

# Names, numbers, sentences and fields, with nothing that could go wrong by itself.
TABLES = {
    "_version",
    "analysis/library/others",
    "analysis/values/assumptions",
    "analysis/values/contexts",
    "notebook/magicnames",
    "notebook/model",
    "options",
    "run/engines/protocol",
    "run/folder/errors",
    "run/supervision/around",
    "script/launcher_template",
    "widget/subject",
}
# A few lines that hand on what they are given; the tests of what they call, and of the whole, go through them.
THIN = {
    "__main__",
    "cli/arguments",
    "cli/attach",
    "cli/log",
    "cli/refuse",
    "cli/runs",
    "cli/stop",
    "export",
    "checking",
    "magics/executed/session",
    "magics/executed/to_compile",
    "run/engines/choose",
    "run/start/launch",
    "run/supervision/start_meter",
    "server/language",
    "server/worker",
}
# What only shows with real processes, devices, a kernel or a page: by the test that has them.
WITHIN = {
    "inkernel/places": "inkernel/test_parallel",
    "inkernel/placing": "inkernel/test_notebooks",
    "inkernel/training": "inkernel/test_notebooks",
    "magics/handover/restoring": "magics/handover/test_wanted",
    "magics/runs/compiled": "magics/runs/test_in_kernel",
    "magics/runs/kernel_run": "magics/runs/test_in_kernel",
    "magics/runs/waiting": "magics/test_interrupts",
    "notebook/escaping": "notebook/test_cells",
    "notebook/percentheader": "notebook/test_percent",
    "run/engines/ray/checks": "cluster/test_ray",
    "run/engines/ray/engine": "cluster/test_ray",
    "run/engines/ray/in_job": "cluster/test_ray",
    "run/engines/ray/machines": "cluster/test_ray",
    "run/engines/ray/room": "cluster/test_ray",
    "run/engines/slurm/engine": "cluster/test_slurm",
    "run/engines/slurm/in_job": "cluster/test_slurm",
    "run/engines/this_machine": "run/test_prune",
    "run/watching/pausing": "cluster/test_slurm",
    "run/doctor": "run/start/test_command",
    "run/processes/fresh": "run/start/test_warm",
    "run/processes/session": "run/processes/test_process",
    "run/run": "run/test_faults",
    "run/start/cold": "run/test_faults",
    "run/start/installed": "run/start/test_warm",
    "run/start/warm_ranks": "run/start/test_warm",
    "run/start/warm_script": "run/start/test_warm",
    "run/start/warm_server": "run/start/test_warm",
    "run/supervision/stacks": "run/supervision/test_hang",
    "run/supervision/supervise": "run/test_faults",
    "run/supervision/warden": "run/test_faults",
    "run/verbs": "cli/test_run",
    "run/watch": "run/test_floods",
    "run/watching/carried": "run/watching/test_runs",
    "run/watching/checkpoints": "run/watching/test_runs",
    "run/watching/exits": "run/watching/test_runs",
    "run/watching/frameworks": "run/watching/test_runs",
    "run/watching/gradients": "run/watching/test_runs",
    "run/watching/places": "run/watching/test_runs",
    "run/watching/random_numbers": "run/watching/test_runs",
    "run/watching/reports": "run/watching/test_runs",
    "run/watching/scopes": "run/watching/test_runs",
    "run/watching/setting_up": "run/watching/test_runs",
    "run/watching/settings": "run/watching/test_runs",
    "run/watching/start": "run/watching/test_runs",
    "run/watching/watcher": "run/watching/test_runs",
    "run/watching/written": "run/watching/test_runs",
    "script/parts/frameworks": "e2e/test_frameworks",
    "script/parts/silent": "e2e/test_notebooks",
    "script/parts/snapshot": "e2e/test_notebooks",
    "verify/bench": "verify/test_shapes",
    "verify/experiments": "verify/test_shapes",
    "verify/inside/batches": "verify/test_planted",
    "verify/inside/draws": "verify/test_shapes",
    "verify/inside/files": "verify/test_shapes",
    "verify/inside/install": "verify/test_shapes",
    "verify/inside/layers": "verify/test_shapes",
    "verify/inside/noise": "verify/test_shapes",
    "verify/inside/record": "verify/test_planted",
    "verify/inside/seeds": "verify/test_shapes",
    "verify/page": "verify/test_report",
    "verify/proof": "verify/test_shapes",
    "verify/steady": "verify/test_shapes",
    "verify/table": "verify/test_report",
    "widget/surface": "widget/test_live",
    "widget/svg": "widget/test_saved",
}
LISTED = {*TABLES, *THIN, *WITHIN}
MODULES = sorted(
    str(path.relative_to(PACKAGE).with_suffix("")) for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"
)


def mirror(module: str) -> Path:
    """A rule's tests are its cases; those of what stands beside it are the rule's."""
    folder, _, name = module.rpartition("/")
    if folder.split("/")[0] == "rules":
        rule = module.split("/")[1]
        return next((TESTS / "rules").glob(f"{rule}*"), TESTS / "rules" / f"{rule}.md")
    return TESTS / folder / f"test_{name}.py"


@pytest.mark.parametrize("module", MODULES)
def test_a_module_has_its_test_or_a_reason_to_have_none(module):
    assert mirror(module).exists() is (module not in LISTED)


def test_what_is_listed_is_there_once():
    assert set(MODULES) >= LISTED
    assert len(LISTED) == len(TABLES) + len(THIN) + len(WITHIN)


@pytest.mark.parametrize(("module", "test"), sorted(WITHIN.items()))
def test_what_has_them_is_a_test(module, test):
    assert (TESTS / f"{test}.py").exists(), module


@pytest.mark.parametrize("path", sorted(p for p in TESTS.glob("analysis/**/test_*.py")), ids=lambda p: p.stem)
def test_of_the_analysis_no_test_is_left_behind_by_its_module(path):
    relative = path.relative_to(TESTS)
    assert (PACKAGE / relative.parent / f"{path.stem.removeprefix('test_')}.py").exists()
