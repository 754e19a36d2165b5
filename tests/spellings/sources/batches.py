"""Where batches come from."""

from __future__ import annotations

HEAD = """# %%
import torch, random, itertools
import numpy as np
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, Dataset
torch.manual_seed(3)
np.random.seed(3)
random.seed(3)
rows = np.random.RandomState(0).randn(26, 6).astype("float32")
aims = (rows.sum(1) > 0).astype("int64")
"""

# What the data is, and the loop that gives `x`, 26 rows of six in batches, and `y`, their classes.
SOURCES = {
    "tensors": (
        "loader = DataLoader(TensorDataset(torch.tensor(rows), torch.tensor(aims)), batch_size=6, shuffle=True)",
        "for x, y in loader:",
    ),
    "own": (
        """class Rows(Dataset):
    def __init__(self, rows, aims):
        self.rows, self.aims = rows, aims
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, i):
        return torch.tensor(self.rows[i]), self.aims[i]
loader = DataLoader(Rows(rows, aims), batch_size=6, shuffle=True)""",
        "for step, (x, y) in enumerate(loader):",
    ),
    "dicts": (
        """class Rows(Dataset):
    def __len__(self):
        return len(rows)
    def __getitem__(self, i):
        return {"x": rows[i], "y": aims[i]}
loader = DataLoader(Rows(), batch_size=6)""",
        """for batch in loader:
    x, y = batch['x'], batch['y']""",
    ),
    "collate": (
        """def together(items):
    return torch.tensor(np.stack([i[0] for i in items])), torch.tensor([i[1] for i in items])
loader = DataLoader([*zip(rows, aims)], batch_size=6, shuffle=True, collate_fn=together)""",
        "for x, y in loader:",
    ),
    "slices": (
        "X, Y = torch.tensor(rows), torch.tensor(aims)",
        """for i in range(0, len(X), 6):
    x, y = X[i:i + 6], Y[i:i + 6]""",
    ),
    "perm": (
        """X, Y = torch.tensor(rows), torch.tensor(aims)
order = torch.randperm(len(X))""",
        """for i in range(0, len(X), 6):
    at = order[i:i + 6]
    x, y = X[at], Y[at]""",
    ),
    "nperm": (
        """order = np.arange(len(rows))
np.random.shuffle(order)""",
        """for i in range(0, len(rows), 6):
    at = order[i:i + 6]
    x, y = torch.from_numpy(rows[at]), torch.from_numpy(aims[at])""",
    ),
    "random": (
        """def get_batch():
    ix = torch.randint(0, len(rows), (6,))
    return torch.stack([torch.tensor(rows[i]) for i in ix]), torch.tensor([aims[i] for i in ix])""",
        """for step in range(4):
    x, y = get_batch()""",
    ),
    "generator": (
        """def batches():
    for i in range(0, len(rows), 6):
        yield torch.tensor(rows[i:i + 6]), torch.tensor(aims[i:i + 6])""",
        "for x, y in batches():",
    ),
    "class": (
        """class Batches:
    def __init__(self, size):
        self.size = size
    def __iter__(self):
        for i in range(0, len(rows), self.size):
            yield torch.as_tensor(rows[i:i + self.size]), torch.as_tensor(aims[i:i + self.size])
data = Batches(6)""",
        "for x, y in data:",
    ),
    "full": (
        "X, Y = torch.tensor(rows), torch.tensor(aims)",
        """for again in range(3):
    x, y = X, Y""",
    ),
    "next": (
        "loader = DataLoader(TensorDataset(torch.tensor(rows), torch.tensor(aims)), batch_size=6, shuffle=True)",
        """for step in range(5):
    x, y = next(feed)""",
    ),
    "list": (
        "made = [(torch.tensor(rows[i:i + 6]), torch.tensor(aims[i:i + 6])) for i in range(0, 24, 6)]",
        "for x, y in made:",
    ),
    "split": (
        "X, Y = torch.tensor(rows), torch.tensor(aims)",
        "for x, y in zip(X.split(6), Y.split(6)):",
    ),
}
