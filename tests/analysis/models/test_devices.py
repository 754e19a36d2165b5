"""Where the notebook says which device to use."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.models import chosen, indexed_name, numbers, uses_gpu
from tests.analysis.cells import BEFORE, TRAINING, node, plan


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("'cuda'", "string"),
        ("'cuda:1'", "string"),
        ("'mps'", "string"),
        ("torch.device('cuda')", "device"),
        ("torch.device('cuda' if torch.cuda.is_available() else 'cpu')", "device"),
        ("'cuda' if torch.cuda.is_available() else 'cpu'", "string"),
        ("'cpu' if not usable else 'cuda:0'", "string"),
        ("f'cuda:{number}'", "string"),
        ("'cuda:%d' % number", "string"),
        ("'cuda:' + str(number)", "string"),
        ("torch.device(0)", "device"),
        ("str('cuda')", "string"),
        ("'cpu'", None),
        ("'cuda is fast'", None),
        ("torch.device('cpu')", None),
        ("'cuda' if number else 'cpu'", None),
        ("f'{number}'", None),
    ],
)
def test_a_gpu_by_the_notebooks_words(text, how):
    made = plan(
        *BEFORE, "number = 0\nusable = torch.cuda.is_available()", f"device = {text}\nmodel.to(device)", TRAINING
    )
    found = next(n.value for n in ast.walk(made.program.tree)
                 if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "device")  # fmt: skip
    assert chosen(made, found) == how


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("'cuda:0'", "cuda"),
        ("f'xpu:{i}'", "xpu"),
        ("'cuda:{}'.format(i)", "cuda"),
        ("'cuda:'", None),
        ("'cuda'", None),
        ("'cpu:%d' % i", None),
        ("name", None),
    ],
)
def test_the_kind_of_an_indexed_device(text, kind):
    assert indexed_name(expression(text)) == kind


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("model.to(0)", ["0"]),
        ("model.cuda(number)", ["number"]),
        ("z = torch.zeros(3, device=1)", ["1"]),
        ("model.to(torch.float16)", []),
        ("model.to(-1)", []),
        ("model.to(True)", []),
        ("z = torch.zeros(3)", []),
    ],
)
def test_numbers_of_gpus(line, found):
    made = plan(*BEFORE, "number = 1", TRAINING.replace("loss.backward()", f"loss.backward()\n        {line}"))
    call = node(made, ast.Call, line.removeprefix("z = "))
    assert [ast.unparse(n) for n in numbers(made, call)] == found


@pytest.mark.parametrize(
    ("line", "gpu"),
    [
        ("model.cuda()", True),
        ("model.to('cuda')", True),
        ("model.to(0)", True),
        ("model.to('cpu')", False),
        ("pass", False),
        ("torch.cuda.manual_seed_all(0)", False),
        ("use = torch.cuda.is_available()\nprint('cuda:', use)", False),
        ("device = 'cuda' if torch.cuda.is_available() else 'cpu'\nprint(device)", False),
        ("scaler = torch.amp.GradScaler('cuda')", False),
        ("class Config:\n    device = 'cuda'\nmodel.to(Config.device)", True),
        ("kind = torch.cuda.FloatTensor\nmodel.type(kind)", True),
        ("torch.set_default_device('cuda')", True),
        ("here = torch.accelerator.current_accelerator()\nmodel.to(here)", True),
    ],
)
def test_whether_the_notebook_uses_one(line, gpu):
    assert uses_gpu(plan(*BEFORE, line, TRAINING)) is gpu
