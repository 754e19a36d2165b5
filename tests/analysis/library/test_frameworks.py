"""Frameworks that train, by what the code calls."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.library import Use, find_uses, steps_within
from tests.analysis.cells import flow


def uses(text: str) -> tuple[Use, ...]:
    made = flow(text)
    return find_uses(made.program.nodes, made.imports)


@pytest.mark.parametrize(
    ("text", "name", "trained"),
    [
        ("import lightning as L\ntrainer = L.Trainer()\ntrainer.fit(model)", "Lightning", "trainer.fit(model)"),
        ("from lightning.pytorch import Trainer\nTrainer().fit(m)", "Lightning", "Trainer().fit(m)"),
        ("from transformers import Trainer\nclass Mine(Trainer): pass\nt = Mine()\nt.train()",
         "the Hugging Face Trainer", "t.train()"),
        ("from accelerate import Accelerator\na = Accelerator()\na.backward(loss)", "Accelerate", "a.backward(loss)"),
        ("from fastai.vision.all import *\nlearn = vision_learner(d).to_fp16()\nlearn.fine_tune(3)", "fastai",
         "learn.fine_tune(3)"),
        ("import lightning as L\nself.trainer = L.Trainer()\nself.trainer.fit(m)", "Lightning", "self.trainer.fit(m)"),
    ],
)  # fmt: skip
def test_a_framework_that_trains(text, name, trained):
    (use,) = uses(text)
    assert use.framework.name == name
    assert [ast.unparse(c) for c in use.trained] == [trained]


@pytest.mark.parametrize(
    "text",
    [
        "import lightning as L\ntrainer = L.Trainer()\ntrainer.test(model)",
        "import lightning as L\nmodel.fit(3)",
        "from helpers import Trainer\ntrainer = Trainer()\ntrainer.fit(model)",
        "from transformers import AutoModel\nmodel.train()",
        "loss.backward()",
        "from accelerate import Accelerator\na = Accelerator()\nloss.backward()",
    ],
)
def test_others_do_not(text):
    assert uses(text) == ()


def test_what_a_trainer_calls_with_each_batch():
    assert steps_within("fit") == ("training_step",)
    assert steps_within("backward") == ()
