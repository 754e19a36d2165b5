"""Where batches come from: of 24 samples in 6s, or 7s where a batch is split after it is drawn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """`loop` ends where the body of a step begins, in which `a` and `b` are a batch."""

    loop: str
    once: str = ""
    first: str = ""  # in the body
    loader: str = "DataLoader(TensorDataset(x, y), batch_size=6)"


ITEMS = """class Items(torch.utils.data.Dataset):
    def __len__(self):
        return len(x)
    def __getitem__(self, i):
        return ITEM
"""
POINT = "from collections import namedtuple\nPoint = namedtuple('Point', 'inputs target')\n"


def _of_items(item: str, first: str, once: str = "", loop: str = "for batch in train_loader:") -> Source:
    made = "DataLoader(Items(), batch_size=6)"
    return Source(loop, once + ITEMS.replace("ITEM", item), first, made)


GIVEN = """def given(loader):
    for a, b in loader:
        yield a * 1.0, b
"""
BY_SEVEN = """def by_seven(a, b):
    for i in range(0, len(a), 7):
        yield a[i : i + 7], b[i : i + 7]
"""
CYCLE = """def forever(loader):
    while True:
        for batch in loader:
            yield batch
"""
SOURCES = (
    Source("for a, b in train_loader:"),
    Source("for a, b in train_loader:"),
    Source("for i, (a, b) in enumerate(train_loader):"),
    Source("for batch in train_loader:", first="a, b = batch"),
    Source("for batch in train_loader:", first="a, b = batch[0], batch[1]"),
    Source("for a, b in train_loader:", first="a, b = a.to(device), b.to(device)", once="device = torch.device('cpu')"),
    _of_items("{'inputs': x[i], 'target': y[i]}", "a, b = batch['inputs'], batch['target']"),
    _of_items("{'inputs': x[i], 'target': y[i]}", "batch = {k: v.float() for k, v in batch.items()}\n"
              "a, b = batch['inputs'], batch['target'].to(y.dtype)"),
    _of_items("Point(x[i], y[i])", "a, b = batch.inputs, batch.target", POINT),
    _of_items("(x[i], (y[i], i))", "", loop="for a, (b, index) in train_loader:"),
    _of_items("x[i], y[i], i", "a, b, index = batch"),
    _of_items("[x[i], y[i]]", "a, *others = batch\nb = others[0]"),
    Source("batches = iter(train_loader)\nfor _ in range(len(train_loader)):", first="a, b = next(batches)"),
    Source("for a, b in given(train_loader):", GIVEN),
    Source("batches = iter(train_loader)\nwhile True:", first="try:\n    a, b = next(batches)\n"
           "except StopIteration:\n    break"),
    Source("for i in range(0, 24, 7):", first="a, b = x[i : i + 7], y[i : i + 7]"),
    Source("for i in range(4):", first="a, b = x[i * 6 : (i + 1) * 6], y[i * 6 : (i + 1) * 6]"),
    Source("i = 0\nwhile i < 24:", first="a, b = x[i : i + 7], y[i : i + 7]\ni += 7"),
    Source("for a, b in by_seven(x, y):", BY_SEVEN),
    Source("for a, b in zip(x.split(7), y.split(7)):"),
    Source("for rows in torch.arange(24).split(7):", first="a, b = x[rows], y[rows]"),
    Source("order = torch.randperm(24)\nfor i in range(0, 24, 7):",
           first="rows = order[i : i + 7]\na, b = x[rows], y[rows]"),
    Source("for _ in range(4):", first="rows = torch.randint(0, 24, (7,))\na, b = x[rows], y[rows]"),
    Source("for _ in range(4):", "def draw(size):\n    rows = torch.randint(24, (size,))\n    return x[rows], y[rows]",
           "a, b = draw(7)"),
    Source("for _ in range(3):", first="a, b = x, y"),
    Source("for _ in range(1):", first="a, b = x[:23], y[:23]"),
)  # fmt: skip
