"""Models that split the batches that they are given, where no step can."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.splitting import joined_calls
from nbddp.options import Options
from tests.analysis.splitting.steps import planned

EXACT = Options(exact=True)
LOADER = "import random\nrows = list(zip(X, y))\nloader = DataLoader(TensorDataset(X, y), batch_size=32)"
HEAD = "for xb, yb in loader:"
MEET = "z = model(xb)\nloss = (z @ z.T).logsumexp(1).mean()"
TOP = "out, more = model(xb)\nloss = out.topk(3, dim=0).values.mean() + more"
NET = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 1)
    def forward(self, x):
        {}
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


@pytest.mark.parametrize(
    ("lines", "forward", "joined"),
    [
        (MEET, "", True),
        (MEET, "return self.out(x).tanh()", True),
        ("loss = (model(xb) - yb).abs().topk(3, dim=0).values.mean()", "", True),
        (TOP, "return self.out(x), self.out(x).mean()", True),
        (f"{MEET}\ng = torch.autograd.grad(loss, list(model.parameters()), create_graph=True)", "", False),
    ],
    ids=str,
)
def test_a_model_gives_something_for_every_sample(lines, forward, joined):
    before = f"{NET.format(forward) if forward else ''}{LOADER}"
    made = planned(lines, head=HEAD, before=before, options=EXACT)
    assert bool(made.assumed.joined) is joined
    assert bool(made.assumed.unsplit) is not joined
    assert not made.assumed.splits


@pytest.mark.parametrize(
    ("lines", "forward"),
    [
        (MEET, "return self.out(x).sum(0)"),
        (MEET, "return self.out(x) * (x @ x.T)"),
        (MEET, "return self.out(x).T"),
        (TOP, "return self.out(x), self.out(x).sum()"),
        (
            "z = model(torch.cat((xb, xb)))\nloss = (z @ z.T).logsumexp(1).mean()",
            "first, second = x[: len(x) // 2], x[len(x) // 2 :]\n        return self.out(torch.cat((second, first)))",
        ),
        ("loss = model(xb)", "z = self.out(x)\n        return (z @ z.T).logsumexp(1).mean()"),
        ("loss = -model(xb).log_prob(yb).mean()", "return torch.distributions.Normal(self.out(x), 1.0)"),
        (
            "given, value = model(xb)\nloss = -given.log_prob(yb).mean() + value.mean()",
            "given = torch.distributions.Normal(self.out(x), 1.0)\n        return given, self.out(x)",
        ),
    ],
    ids=str,
)
def test_where_samples_meet_inside_of_a_model_those_in_it_split(lines, forward):
    before = f"{NET.format(forward)}{LOADER}"
    made = planned(lines, head=HEAD, before=before, options=EXACT)
    assert made.assumed.joined
    assert {model.name for model in made.assumed.opened} == {"Net"}
    assert [ast.unparse(call.func) for call in joined_calls(made)][:1] == ["self.out"]


def test_a_model_that_gives_something_for_every_sample_is_not_opened():
    before = f"{NET.format('return self.out(x).tanh()')}{LOADER}"
    assert not planned(MEET, head=HEAD, before=before, options=EXACT).assumed.opened


def test_a_step_that_can_be_split_is():
    made = planned("loss = F.mse_loss(model(xb), yb)", head=HEAD, before=LOADER, options=EXACT)
    assert made.assumed.splits
    assert not made.assumed.joined


def test_without_exact_a_loader_is_dealt_out():
    assert not planned(MEET, head=HEAD, before=LOADER).assumed.joined


@pytest.mark.parametrize(
    ("forward", "read"),
    [
        ("h = self.out(x)\n        self.h = h.tanh()\n        return h", "model.h.mean()"),
        ("h = self.out(x)\n        kept.append(h.tanh())\n        return h", "kept[-1].mean()"),
    ],
)
def test_what_a_model_leaves_besides_is_made_of_whole_batches(forward, read):
    before = f"kept = []\n{NET.format(forward)}{LOADER}"
    made = planned(f"{MEET} + {read}", head=HEAD, before=before, options=EXACT)
    assert {model.name for model in made.assumed.opened} == {"Net"}


@pytest.mark.parametrize("forward", ["return self.out(x)", "h = self.out(x)\n        self.h = h\n        return h"])
def test_what_nothing_reads_does_not_matter(forward):
    made = planned(MEET, head=HEAD, before=f"{NET.format(forward)}{LOADER}", options=EXACT)
    assert made.assumed.joined
    assert not made.assumed.opened


def test_a_function_that_an_evaluation_calls_too_says_nothing_of_the_steps():
    before = (
        "test = DataLoader(TensorDataset(X, y), batch_size=32)\ndef near(out, y):\n    return (out - y).abs().mean()\n"
    )
    lines = f"{MEET} + near(z, yb)\nfor a, b in test:\n    with torch.no_grad():\n        print(near(model(a), b))"
    made = planned(lines, head=HEAD, before=f"{NET.format('return self.out(x)')}{before}{LOADER}", options=EXACT)
    assert made.assumed.joined
    assert not made.assumed.opened


def test_a_model_that_is_given_one_sample_after_the_other_has_nothing_to_split():
    lines = "batch = random.sample(rows, 8)\nloss = 0\nfor a, b in batch:\n    loss += (model(a) - b).abs().sum()"
    made = planned(f"{lines}\nloss = loss / 8", before=LOADER, options=EXACT)
    assert not made.assumed.joined
    assert made.assumed.unsplit


@pytest.mark.parametrize("collate", ["Rows", "lambda rows: Rows(rows)"])
@pytest.mark.parametrize(("given", "opened"), [("rows", True), ("rows.x", False)])
def test_a_batch_of_a_class_of_its_own_shows_no_samples(collate, given, opened):
    own = "class Rows:\n    def __init__(self, rows):\n        self.x = torch.stack([x for x, _ in rows])\n"
    loader = f"loader = DataLoader(TensorDataset(X, y), batch_size=32, collate_fn={collate})"
    lines = f"out = model({given})\nloss = (out @ out.T).logsumexp(1).mean()"
    net = NET.format("x = getattr(x, 'x', x)\n        return self.out(x)")
    made = planned(lines, head="for rows in loader:", before=f"{net}{own}{loader}", options=EXACT)
    assert made.assumed.joined
    assert bool(made.assumed.opened) is opened
