from __future__ import annotations

import ast

from nbddp.analysis import make_plan
from nbddp.export import export
from nbddp.notebook import read_notebook
from nbddp.options import Options
from nbddp.verify.instrument import Spec, cells_alone, probed

SPEC = Spec(20, 0, {})
NOTEBOOK = """\
# %%
from __future__ import annotations
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
unused = 5
xs = torch.randn(8, 2)
loader = DataLoader(TensorDataset(xs, xs), batch_size=4)
model = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# %%
names = !ls
for x, y in loader:
    loss = (model(x) - y).square().mean()
    loss.backward()
    optimizer.step()
print(names)
"""


def notebook(tmp_path):
    path = tmp_path / "x.py"
    path.write_text(NOTEBOOK)
    return read_notebook(path)


def test_a_script_gets_one_line_above_its_guard(tmp_path):
    text = export(notebook(tmp_path)).text
    before, after = text.split("\n"), probed(text, SPEC).split("\n")
    guard = before.index('if __name__ == "__main__":')
    assert after[:guard] == before[:guard]
    assert after[guard + 1 :] == before[guard:]
    assert "nbddp.verify.inside.install" in after[guard]
    assert "nbddp" not in text.replace("by nbddp", "")


def test_cells_are_those_that_the_training_needs_and_stay_a_program(tmp_path):
    text = cells_alone(make_plan(notebook(tmp_path), Options()))
    assert "unused" not in text
    assert "DistributedSampler" not in text
    assert text.split("\n")[1] == "import subprocess"  # for the line that starts with an exclamation mark
    lines = probed(text, Spec(20, 0, {}, alone=True)).split("\n")
    assert lines[0].startswith("from __future__")
    assert "install" in lines[1]
    ast.parse("\n".join(lines))


def test_a_script_of_another_hand_is_probed_from_its_first_line():
    text = '"""Mine."""\nimport torch\n'
    assert probed(text, SPEC).startswith("__import__('sys')")
    assert probed(text, SPEC).endswith(text)
