"""Random whole trainings, as text: batches of every kind, models of several shapes, epochs that decide by numbers."""

from __future__ import annotations

import re
from textwrap import indent

from hypothesis import strategies as st

from tests.spellings.trainings.epochs import ENDS, EVALUATIONS, LAST
from tests.spellings.trainings.kept import HELPERS, KEPT
from tests.spellings.trainings.models import MODELS, STEPS, TASKS
from tests.spellings.trainings.sources import SOURCES

CELLS = """# %%
import copy
from collections import deque
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(SEED)
x = torch.randn(24, 3) * torch.linspace(0.3, 2.5, 24)[:, None]
y = TARGET
@source@
train_loader = LOADER
test_loader = DataLoader(TensorDataset(x[:13], y[:13]), batch_size=6)
# %%
@model@
criterion = CRITERION
@optimizer@
average = copy.deepcopy(model)
scheduler = torch.optim.lr_scheduler.StepLR(base, 2, 0.5)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(base, patience=0)
@helpers@
# %%
@exact@
@training@
@last@
"""
EPOCHS = {
    "for": "for epoch in range(3):\n@epoch@",
    "while": "epoch = 0\nwhile epoch < 3:\n@epoch@\n    epoch += 1",
    "try": """try:
    for epoch in range(3):
@@epoch@
except KeyboardInterrupt:
    print('ended')
finally:
    model.eval()""",
    "function": """def train(epochs):
    GLOBAL
    for epoch in range(epochs):
@@epoch@
    return epochs
train(3)""",
    "each": """def train_epoch(epoch):
    GLOBAL
@steps@
    return LEFT
for epoch in range(3):
    left = train_epoch(epoch)
@end@""",
    "class": """class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
    def fit(self, epochs):
        GLOBAL
        for epoch in range(epochs):
@@@epoch@
trainer = Trainer(model, optimizer)
trainer.fit(3)""",
}
GLOBALS = ("epoch", "best", "best_state", "bad")


@st.composite
def programs(draw: st.DrawFn) -> str:
    source, model, task = draw(st.sampled_from(SOURCES)), draw(st.sampled_from(MODELS)), draw(st.sampled_from(TASKS))
    kept = draw(st.lists(st.sampled_from(KEPT), min_size=1, max_size=2, unique=True))
    evaluation, criterion = draw(st.sampled_from(EVALUATIONS)), draw(st.sampled_from(task.losses))
    metric = draw(st.sampled_from(task.metrics))
    first = "\n".join(part for part in (source.first, model.passed, f"loss = {_loss(criterion)}") if part)
    each = [first, draw(st.sampled_from(STEPS)), *(change for _, change, _ in kept), "step += 1"]
    steps = "\n".join([*(start for start, _, _ in kept), "step = 0", source.loop, indent("\n".join(each), "    ")])
    ends = draw(st.lists(st.sampled_from(ENDS), min_size=1, max_size=2, unique=True))
    end = "\n".join(e.replace("LEFT", kept[i % len(kept)][2]) for i, e in enumerate(ends))
    how = draw(st.sampled_from(sorted(EPOCHS)))
    left = kept[0][2]
    if how == "each":
        end = "\n".join(e.replace("LEFT", "left") for e in ends)
    training, exact = EPOCHS[how], draw(st.sampled_from(("", "", "%%ddp_train --exact")))
    epoch = f"{steps}\n{end}"
    for depth in (3, 2, 1):  # an @ more for each four blanks
        training = training.replace("@" * depth + "epoch@", indent(epoch, "    " * depth))
    training = training.replace("@steps@", indent(steps, "    ")).replace("@end@", indent(end, "    "))
    text = (
        CELLS.replace("@exact@", exact)
        .replace("@training@", training)
        .replace("@source@", source.once)
        .replace("@model@", model.made)
    )
    text = text.replace("@optimizer@", model.optimizer).replace("@helpers@", f"{HELPERS}{evaluation}")
    text = text.replace("@last@", draw(st.sampled_from(LAST)))
    loaders = ("test_loader", "test_loader", "test_loader" if "Items" in source.loader else "train_loader")
    words = {
        "LOADER": source.loader,
        "CRITERION": criterion,
        "LEFT": left,
        "TRAIN": left if how != "each" else "left",
        "VAL": f"evaluate({draw(st.sampled_from(loaders))})",
        "METRIC": metric.replace(
            "LOSS", "F.mse_loss(out, b).item()" if task.out == "1" else "F.cross_entropy(out, b).item()"
        ),
        "EVALUATED": model.evaluated,
        "TARGET": task.target,
        "GLOBAL": f"global {', '.join(GLOBALS if how != 'each' else GLOBALS[1:])}",
        "SEED": str(draw(st.integers(0, 5))),
    }
    text = re.sub(r"\b[A-Z]{3,}\b", lambda found: words.get(found[0], found[0]), text)
    text = re.sub(r"(nn\.Linear\(\w+, )OUT\b", rf"\g<1>{task.out}", text)
    return re.sub(r"\n{2,}", "\n", re.sub(r"\bOUT\b", "out", text))


def _loss(criterion: str) -> str:
    if "none" in criterion:
        return "criterion(out, b).mean()"
    return "criterion(out, b) / len(a)" if "sum" in criterion else "criterion(out, b)"
