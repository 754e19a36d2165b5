"""Which changes of the environment a process that has loaded its libraries cannot follow."""

import json
import os
import subprocess
import sys

import pytest

from nbddp.run.processes.at_import import changed_between

IMPORT_ALL = "import json, os, sklearn, torch; print(json.dumps(dict(os.environ)))"


@pytest.mark.thorough
def test_what_libraries_set_when_they_are_imported_is_no_change():
    """A notebook that imports scikit-learn after nbddp starts as warm as any other."""
    before = {name: value for name, value in os.environ.items() if not name.startswith("KMP_")}
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL], env=before, capture_output=True, text=True, timeout=120, check=True
    )
    after = json.loads(done.stdout)
    assert "KMP_INIT_AT_FORK" in after
    assert changed_between(before, after) == []


def test_what_a_person_sets_is():
    assert changed_between({"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "2", "HOME": "/"}) == ["OMP_NUM_THREADS"]
    assert changed_between({"KMP_BLOCKTIME": "0"}, {}) == ["KMP_BLOCKTIME"]
