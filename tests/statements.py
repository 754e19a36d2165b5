"""A grammar of what stands in notebooks: typical statements, odd ones, comments everywhere."""

from __future__ import annotations

from textwrap import indent

from hypothesis import strategies as st

NAMES = st.sampled_from(
    "model optimizer loss x y data train_loader test_loader epoch acc net результат größe rank train main DDP dist os "
    "world_size device self i _ lr".split()
)
EXPRESSIONS = st.sampled_from(
    [
        "1", "0.5", "'text'", "None", "[]", "{}", "()", "model", "x", "data", "len(data)", "torch.randn(4, 4)",
        "[1, 2, 3]", "lambda a: a", "lambda: model", "{'a': 1, **{}}", "(yield_ := 3)",
        "[i for i in range(3) if i]", "nn.Linear(4, 2)", "nn.Sequential(nn.Linear(4, 2), nn.ReLU())",
        "DataLoader(data, batch_size=4)", "DataLoader(data, 4, True)",
        "DataLoader(dataset=data, shuffle=False, **{})", "model.state_dict()",
        "torch.optim.Adam(model.parameters(), lr=1e-3)", "next(iter(train_loader))",
        "f'{len(data)} größe {1:>3}'", '"""a\n# no comment\nb"""', "x if x else y", "not x", "1 if True else 2",
        "(1,\n    2)", "model(x)", "x @ y", "torch.device('cuda' if torch.cuda.is_available() else 'cpu')",
        "model.to('cuda')", "1 < 2 < 3", "{*[1]}", "criterion(model(x), y)", "b'bytes'", "r'\\d'", "-1", "...",
        "x[0]", "x[..., None]", "x.shape[0]",
    ]
)  # fmt: skip
COMMENTS = st.sampled_from(
    ["", "", "# a comment", "# größer → kleiner", "# fmt: off", "#", "# noqa", "# %magic", "# # twice", "#! odd"]
)
PLAIN = st.sampled_from(
    [
        "pass", "import os, sys", "from collections import *", "import numpy as np", "global_ = 1",
        "del_ = 2; del del_", "print(model)", "print('a', end='')", "model.train()", "model.eval()",
        "torch.manual_seed(0)", "optimizer.step()", "assert True, 'no'", "x = y = 3", "a, (b, *c) = 1, (2, 3)",
        "n: int = 3", "n: int", "data", "x = 1; y = 2", "x = 1;", "torch.save(model.state_dict(), 'm.pt')",
        "model = model.cuda()", "loss = criterion(model(x), y)",
        "train_loader = DataLoader(data, batch_size=8, shuffle=True)", "X = int",
        "optimizer.zero_grad(); loss.backward(); optimizer.step()", "raise_ = ValueError('x')", "epoch += 1",
        "acc = [0] * 3", "acc[0] += 1", "from torch import nn as neural", "import torch.nn.functional",
        "%matplotlib inline", "!ls -la", "files = !ls", "%time x = 3", "model?", "!pip install torch",
        "x = \\\n    3", "os = 'mine'", "def dist(): return 3", "rank = 0", "class DDP: pass", "assert model",
        "lr = 0.1",
    ]
)  # fmt: skip


@st.composite
def simple(draw: st.DrawFn) -> str:
    text = draw(st.one_of(PLAIN, st.builds(lambda n, e: f"{n} = {e}", NAMES, EXPRESSIONS), EXPRESSIONS))
    comment = draw(COMMENTS)
    escaped = text.startswith(("%", "!")) or text.endswith("?") or "!ls" in text
    return text if escaped or not comment else f"{text}  {comment}"


def _block(header: str, body: str, comment: str, tail: str) -> str:
    before = f"{comment}\n" if comment else ""
    after = f"\n    {tail}" if tail else ""
    return f"{before}{header}  {comment}".rstrip() + f"\n{indent(body, '    ', str)}{after}"


HEADERS = st.sampled_from(
    [
        "for epoch in range(2):", "for x, y in train_loader:", "for x, y in test_loader:", "if len(data):",
        "while False:", "with torch.no_grad():", "for i, (x, y) in enumerate(train_loader):",
        "def train(model, x):", "class Net(nn.Module):", "@torch.no_grad()\ndef evaluate(loader):",
        "async def later():", "def outer(a, *b, c=1, **d):", "class Größe:", "def inner() -> int:",
        "with open('f', 'w') as f:", "for x in []:", "if True:",
    ]
)  # fmt: skip
CLASS = "class Trainer:\n    def __init__(self, model): self.model = model\n    def fit(self):\n"
STEPS = (
    "for x, y in train_loader:\n    loss = criterion(model(x), y)\n    optimizer.zero_grad()\n"
    "    loss.backward(); optimizer.step()  # step\n"
)
FUNCTION = """def fit(model, loader):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()
for epoch in range(2): fit(model, train_loader)"""
EVALUATION = """correct = 0
for x, y in test_loader:
    correct += (model(x).argmax(1) == y).sum().item()  # count
print(correct)"""
BEST = "    if loss < best: best = loss; torch.save(model, 'b')"
DRAWN = """it = iter(train_loader)
while True:
    try: x, y = next(it)
    except StopIteration: break
    criterion(model(x), y).backward(); optimizer.step()"""
LOOPS = st.sampled_from(
    [
        STEPS,
        "for epoch in range(3):\n" + indent(STEPS, "    "),
        FUNCTION,
        CLASS + indent(STEPS.replace("model(", "self.model("), "        ") + "Trainer(model).fit()",
        EVALUATION,
        "losses = []\nfor x, y in train_loader:\n    losses.append(criterion(model(x), y).item())\nprint(sum(losses))",
        "best = 9\nfor epoch in range(3):\n" + indent(STEPS, "    ") + BEST,
        DRAWN,
    ]
)


NOT_IN_BLOCKS = ('"""', "\\\n", "%", "!", "?", "import *")


def statements() -> st.SearchStrategy[str]:
    bodies = st.lists(st.one_of(simple(), LOOPS), min_size=1, max_size=2).map("\n".join)
    plain = bodies.filter(lambda body: not any(mark in body for mark in NOT_IN_BLOCKS))
    deep = st.recursive(plain, lambda b: st.builds(_block, HEADERS, b, COMMENTS, COMMENTS), max_leaves=2)
    blocks = st.builds(_block, HEADERS, deep, COMMENTS, COMMENTS)
    return st.one_of(simple(), simple(), LOOPS, blocks, st.builds(_try, plain, plain))


def _try(body: str, handler: str) -> str:
    return f"try:\n{indent(body, '    ')}\nexcept Exception as e:\n{indent(handler, '    ')}"


def cells() -> st.SearchStrategy[str]:
    parts = st.lists(statements(), min_size=1, max_size=4)
    return st.builds(_cell, parts, COMMENTS, st.sampled_from(["", "", "\n", "\n\n"]))


def _cell(parts: list[str], comment: str, blank: str) -> str:
    return f"{comment}\n" * bool(comment) + f"\n{blank}".join(parts)
