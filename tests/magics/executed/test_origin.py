"""A notebook that changes its folder: a run does as the kernel did, and starts from where the kernel started."""

from __future__ import annotations

import pytest

from tests.magics.conftest import IMPORTS, MODEL, PARAMETERS, TAGS, TRAIN, end_runs
from tests.magics.kernel import Kernel

pytestmark = pytest.mark.thorough

LOADING = """\
from scaling import SCALE
torch.manual_seed(0)
xs = torch.load("xs.pt") * SCALE
ys = xs @ torch.tensor([[1.0], [-2.0], [0.5], [3.0]])
loader = DataLoader(TensorDataset(xs, ys), batch_size=8, shuffle=True)"""


@pytest.mark.parametrize("change", ["%cd data", "import os\nos.chdir('data')", "%cd /no/such/folder\n%cd data"])
def test_modules_and_data_of_a_folder_to_which_the_notebook_goes(tmp_path, change):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "scaling.py").write_text("SCALE = 0.5\n")
    kernel = Kernel(tmp_path)
    try:
        for name, source in {"imports": IMPORTS, "go": change, "parameters": PARAMETERS}.items():
            assert kernel.run(source, name, TAGS.get(name, ())).status == "ok"
        kernel.aside("torch.save(torch.randn(64, 4), 'xs.pt')")
        for name, source in {"data": LOADING, "model": MODEL}.items():
            assert kernel.run(source, name).status == "ok"
        reply = kernel.run(TRAIN, "train", timeout=120)
        assert reply.status == "ok", reply.error
        assert kernel.value("run.folder.path.parents[2].name") == "data"  # kept where the kernel is by now
        report = kernel.run("%ddp verify --steps 2", timeout=120)
        assert "same within rounding" in report.result, report
    finally:
        kernel.end()
        end_runs(tmp_path / "data")
