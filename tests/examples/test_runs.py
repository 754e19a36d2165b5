"""Each example trains as its notebook does: its script on one process and on two, against the notebook by itself."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import nbformat
import pytest

import nbddp
from nbddp.export import Script
from tests.e2e.claims import training
from tests.e2e.judge import differences
from tests.e2e.oracle import oracle_of
from tests.e2e.outcome import Outcome
from tests.e2e.runner import run_script

EXAMPLES = Path(__file__).parents[2] / "examples"
HEADERS = {
    "data_parallel": "equal",
    "fashion_mnist": "equal",
    "gan": "equal within 1e-4",
    "gpt": "equal within 2e-3",
    "language_model": "equal within 1e-4",
    "lightning": "equal within 1e-4",
    "predictions": "equal within 1e-5",
    "quickstart": "equal within 2e-4",  # convolutions of other batch sizes round otherwise; a maximum moves
    "tracking": "equal",
    "volumes": "equal within 2e-3",  # as much as one process differs from itself, its batches reordered
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For the notebooks as the oracle reads them; MLflow's database is not among what the tests install."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_TRACKING_URI", "file:mlruns")
        patch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        yield tmp_path_factory.mktemp("examples")


def in_percent_format(name: str, folder: Path) -> Path:
    """The code cells, below the header that says how the script must compare."""
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    cells = [f"# %%\n{cell.source}\n" for cell in notebook.cells if cell.cell_type == "code"]
    path = folder / f"{name}.py"
    header = f"# oracle: {HEADERS[name]}\n# metrics: ^([Ee]poch|step) [0-9]+: \n"  # and no progress bar
    path.write_text(header + "".join(cells), encoding="utf-8")
    return path


@pytest.mark.parametrize("nproc", [1, 2])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.xdist_group(f"example {name}")) for name in HEADERS]
)
def test_the_script_trains_as_the_notebook_does(name: str, nproc: int, folder: Path, proved) -> None:
    notebook = in_percent_format(name, folder)

    def judge() -> None:
        run = watched_run(name, nproc)
        found = differences(notebook, oracle_of(notebook), run, nproc)
        assert not found, "\n".join(found)

    proved(training(f"example {name}", exported(name), nproc, notebook), judge)


@cache
def exported(name: str) -> Script:
    return nbddp.export(EXAMPLES / f"{name}.ipynb")


@cache
def watched_run(name: str, nproc: int) -> Outcome:
    """As nbddp runs it."""
    script = exported(name)
    return run_script(script.text, f"{name}_ddp.py", nproc, watch=script.watch)


def timeless(run: Outcome) -> list[str]:
    """What it printed, without the bars that tell how many steps a second it makes."""
    return [line for line in run.lines if "it/s" not in line]


@pytest.mark.parametrize("name", HEADERS)
def test_being_watched_changes_no_printed_byte(name: str, proved) -> None:
    script = (EXAMPLES / f"{name}_ddp.py").read_text(encoding="utf-8")

    def judge() -> None:
        by_hand = timeless(run_script(script, f"{name}_ddp.py", 2))
        assert by_hand
        assert by_hand == timeless(watched_run(name, 2))

    proved(training(f"example {name} by hand and watched", exported(name), 2), judge)


def test_every_example_runs() -> None:
    assert sorted(HEADERS) == sorted(path.stem for path in EXAMPLES.glob("*.ipynb"))
