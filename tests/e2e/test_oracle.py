"""The oracle judges the compiler, so it is judged first: deterministic, in DistributedSampler's order, and whole."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.utils.data import DistributedSampler

from tests.e2e.expectation import HERE, expectation, notebooks
from tests.e2e.oracle import oracle_of, run_oracle
from tests.e2e.outcome import RunFailed

PLAIN = HERE / "notebooks" / "plain_loop.py"
LOADER_ORDER = """# oracle: equal
# order: 0 1 5
# %%
import torch
from torch.utils.data import DataLoader
loader = DataLoader(torch.arange(10), batch_size=5, shuffle=True)
weight = torch.zeros(1, requires_grad=True)
next(iter(loader))
for epoch in range(3):
    train = []
    for batch in loader:
        train += batch.tolist()
        weight.sum().backward()
    with torch.no_grad():
        again = [i for batch in loader for i in batch.tolist()]
    print("epoch", *train, "again", *again)
"""


@pytest.mark.parametrize("name", ["plain_loop", "random_split_unseeded", "dropout"])
def test_two_runs_leave_the_same_bits(name: str) -> None:
    first, second = (run_oracle(HERE / "notebooks" / f"{name}.py") for _ in range(2))
    assert first.lines == second.lines
    for key, state in first.states["model"].items():
        assert torch.equal(state, second.states["model"][key])


def test_it_finds_models_files_values_and_lines() -> None:
    oracle = oracle_of(PLAIN)
    assert set(oracle.states) == {"model"}
    assert set(oracle.files) == {"mlp.pt"}
    assert oracle.files["mlp.pt"].keys() == oracle.states["model"].keys()
    assert oracle.values["num_epochs"][""].item() == 4
    assert sum(line.startswith("Epoch") for line in oracle.lines) == 4


def test_training_passes_take_the_orders_named_and_other_passes_count_for_nothing(tmp_path: Path) -> None:
    notebook = tmp_path / "order.py"
    notebook.write_text(LOADER_ORDER, encoding="utf-8")
    expected = []
    for epoch in (0, 1, 5):
        sampler: DistributedSampler[int] = DistributedSampler(range(10), 1, 0, shuffle=True, seed=0)  # type: ignore[arg-type]
        sampler.set_epoch(epoch)
        numbers = " ".join(map(str, sampler))
        expected.append(f"epoch {numbers} again {numbers}")
    assert list(run_oracle(notebook).lines) == expected


def test_a_notebook_that_raises_is_no_oracle(tmp_path: Path) -> None:
    notebook = tmp_path / "broken.py"
    notebook.write_text("# oracle: equal\n# %%\nprint('so far')\n1 / 0\n", encoding="utf-8")
    with pytest.raises(RunFailed, match=r"so far(.|\n)*broken\.py\", line 4(.|\n)*ZeroDivisionError"):
        run_oracle(notebook)


@pytest.mark.parametrize("notebook", notebooks(), ids=lambda path: path.stem)
def test_every_header_is_understood(notebook: Path) -> None:
    wanted = expectation(notebook)
    assert wanted.nproc
    assert wanted.equal_on is None or 0 < wanted.tolerance < 1
