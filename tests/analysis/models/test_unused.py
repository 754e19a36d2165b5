"""Which models have parameters that a step may leave without a gradient."""

from __future__ import annotations

import pytest

from nbddp.analysis.models import unread_parts, unused_parameters
from tests.analysis.cells import DATA, IMPORTS, TRAINING, plan

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 4)
        self.head = nn.Linear(4, 2)
        {init}

    def forward(self, x, task=0):
        {forward}

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
PLAIN = "return F.linear(self.body(x), self.plain.weight)"
FORWARD = "return self.head(self.body(x))"
LAYERS = "for layer in self.heads:\n            x = layer(x)"
HEADS = "self.heads = nn.ModuleList([nn.Linear(4, 2) for _ in range(3)])"


@pytest.mark.parametrize(
    ("forward", "init", "unused"),
    [
        (FORWARD, "self.extra = nn.Linear(2, 2)", True),
        ("return self.head(self.body(x)) if self.training else self.body(x)", "pass", True),
        ("return self.head(self.body(x)) + self.heads[task](self.body(x))", HEADS, True),
        ("t = random.randint(0, 2)\n        return self.head(self.body(x)) + self.heads[t](self.body(x))", HEADS, True),
        ("return self.head(self.body(x)) + sum(self.heads[i](self.body(x)) for i in range(3))", HEADS, False),
        ("return self.head(self.body(x)) + self.heads[0](self.body(x))", HEADS, True),
        (FORWARD, "pass", False),
        (FORWARD, "self.shift = nn.Parameter(torch.zeros(2))", True),
        (FORWARD, "self.shift = nn.Parameter(torch.zeros(2), requires_grad=False)", False),
        (f"{FORWARD} + self.shift", "self.shift = nn.Parameter(torch.zeros(2))", False),
        (
            f"{FORWARD}\n    def penalty(self):\n        return self.shift",
            "self.shift = nn.Parameter(torch.zeros(2))",
            False,
        ),
        (FORWARD, "self.extra = nn.ReLU()", False),
        ("return self.both(x)", "self.both = nn.Sequential(self.body, self.head)", False),
        (f"print(*self.children())\n        {FORWARD}", "self.extra = nn.Linear(2, 2)", False),
        ("if not self.training: return self.body(x)\n        return self.head(self.body(x))", "pass", True),
        (f"{LAYERS}\n            if x.sum() > 9: break\n        return self.head(self.body(x))", HEADS, True),
        (f"{LAYERS}\n            if x.sum() > 9: print(x)\n        return self.head(self.body(x))", HEADS, False),
        (f"{LAYERS}\n            if x.any(): layer(x)\n        return self.head(self.body(x))", HEADS, True),
        ("return getattr(self, 'head')(self.body(x))", "pass", False),
        ("return F.linear(self.body(x), F.normalize(self.head.weight))", "pass", True),
        ("return F.linear(self.body(x), self.head.weight, self.head.bias)", "pass", False),
        (f"{PLAIN} + self.head(self.body(x))", "self.plain = nn.Linear(4, 2, bias=False)", False),
    ],
)
def test_parameters_that_a_step_may_not_reach(forward, init, unused):
    made = plan(IMPORTS, DATA, NET.format(forward=forward, init=init), TRAINING)
    (model,) = made.roles.models
    assert unused_parameters(made, model.obj) is unused


@pytest.mark.parametrize(
    ("made", "unused"),
    [
        ("blocks.Block(4)", True),
        ("nn.Sequential(nn.Linear(8, 4), blocks.Block(4))", True),
        ("blocks.make(4)", False),
        ("nn.Sequential(nn.Linear(8, 4), nn.ReLU())", False),
    ],
)
def test_code_that_is_not_read_may_leave_parameters_out(made, unused):
    text = NET.format(forward=FORWARD, init=f"self.extra = {made}").replace("self.body(x)", "self.extra(self.body(x))")
    found = plan(IMPORTS, DATA, f"import blocks\n{text}", TRAINING)
    (model,) = found.roles.models
    assert unused_parameters(found, model.obj) is unused
    assert bool([*unread_parts(found)]) is unused


@pytest.mark.parametrize(
    ("forward", "unused"),
    [
        ("return self.out(z)", True),
        ("return self.out(z) + hidden.sum()", False),
        ("z, hidden = self.out(z), z\n        return z + hidden.sum()", True),
        ("z, hidden = self.out(hidden), z\n        return z + hidden.sum()", False),
    ],
)
def test_an_output_that_the_next_model_ignores(forward, unused):
    """`out = decoder(z, hidden)`: nothing comes back through what it does not read."""
    first = NET.format(init="pass", forward="return self.body(x), self.head(self.body(x))")
    second = f"""
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 2)

    def forward(self, z, hidden):
        {forward}

decoder = Decoder()
"""
    training = TRAINING.replace("        loss =", "        z, hidden = model(x)\n        loss =", 1).replace(
        "(model(x)", "(decoder(z, hidden)"
    )
    made = plan(IMPORTS, DATA, first, second, training)
    assert unused_parameters(made, made.roles.models[0].obj) is unused
