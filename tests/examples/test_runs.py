"""Each example trains as its notebook does: its script on one process and on two, against the notebook by itself."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.e2e.judge import differences
from tests.e2e.oracle import oracle_of
from tests.e2e.runner import run_script

EXAMPLES = Path(__file__).parents[2] / "examples"
HEADERS = {
    "data_parallel": "equal",
    "fashion_mnist": "equal",
    "gan": "equal within 1e-4",
    "language_model": "equal within 1e-4",
    "lightning": "equal within 1e-4",
    "predictions": "equal within 1e-5",
    "quickstart": "equal",
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
    header = f"# oracle: {HEADERS[name]}\n# metrics: ^[Ee]poch [0-9]+: \n"  # and no progress bar
    path.write_text(header + "".join(cells), encoding="utf-8")
    return path


@pytest.mark.parametrize("nproc", [1, 2])
@pytest.mark.parametrize("name", HEADERS)
def test_the_script_trains_as_the_notebook_does(name: str, nproc: int, folder: Path) -> None:
    notebook = in_percent_format(name, folder)
    script = EXAMPLES / f"{name}_ddp.py"
    run = run_script(script.read_text(encoding="utf-8"), script.name, nproc)
    found = differences(notebook, oracle_of(notebook), run, nproc)
    assert not found, "\n".join(found)


def test_every_example_runs() -> None:
    assert sorted(HEADERS) == sorted(path.stem for path in EXAMPLES.glob("*.ipynb"))
