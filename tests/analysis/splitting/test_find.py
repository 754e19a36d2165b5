"""Where a batch that comes from no loader is split, and under which names."""

from __future__ import annotations

import textwrap

import pytest

from nbddp.analysis.splitting import unshared
from nbddp.options import Options
from tests.analysis.cells import plan
from tests.analysis.splitting.steps import DATA, STEP, cut, planned

LOSS = "loss = F.mse_loss(model(x), t)"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (f"x, t = draw(X, y)\n{LOSS}", ["x", "t"]),
        ("i = torch.randint(0, 100, (16,))\nloss = F.mse_loss(model(X[i]), y[i])", ["i"]),
        ("k = step * 10\nloss = F.mse_loss(model(X[k:k + 10]), y[k:k + 10])", ["X[k:k + 10]", "y[k:k + 10]"]),
        ("loss = F.mse_loss(model(X), y)", ["X", "y"]),
        ("loss = F.mse_loss(model(X), y)\nprint(X.mean(), len(y))", ["X", "y_part"]),
        ("b = draw(X)\nloss = F.mse_loss(model(b['x']), b['t'])", ["b['t']", "b['x']"]),
        ("b = {'x': X[:step + 9], 't': y[:step + 9]}\nloss = F.mse_loss(model(b['x']), b['t'])", ["b['t']", "b['x']"]),
    ],
)
def test_what_holds_the_samples(lines, expected):
    assert cut(planned(lines, before="from drawing import draw")) == expected


@pytest.mark.parametrize(
    "given", ["*draw(X, y)", "*again(X, y)", "*draw(X, y)[:2]", "*draw(data['x'], data['y'])", "*draw(held.x, held.y)"]
)
def test_what_a_call_draws_out_of_the_data_is_the_batch_and_not_the_data(given):
    before = "def draw(a, b):\n    i = torch.randint(0, 100, (16,))\n    return a[i], b[i]\n"
    before += "def again(a, b):\n    return draw(a, b)\n"
    before += "class Held:\n    pass\ndata, held = {'x': X, 'y': y}, Held()\nheld.x, held.y = X, y\n"
    before += "def loss_of(net, x, t):\n    return F.mse_loss(net(x), t)"
    assert cut(planned(f"loss = loss_of(model, {given})", before=before)) == ["x", "t"]


def test_noise_for_all_of_the_data_is_drawn_for_a_part_of_it():
    before = "def noised(a):\n    return a + torch.randn_like(a)"
    assert cut(planned("loss = F.mse_loss(model(noised(X)), y)", before=before)) == ["X", "y"]


@pytest.mark.parametrize(
    "scale", ["y.std() + 1e-6", "y.std().detach()", "2 * torch.sqrt(y.var())", "table['a'].max() - table['a'].min()"]
)
def test_a_number_of_all_the_data_is_none_of_its_samples(scale):
    before = f"table = read(X)\nscale = {scale}"
    made = planned("loss = (((model(X) - y) / scale) ** 2).mean()", before=f"from files import read\n{before}")
    assert cut(made) == ["X", "y"]


@pytest.mark.parametrize(
    "picked", ["torch.gather(table, 0, t)", "table.index_select(0, t.to(table.device))", "table[t]"]
)
def test_a_table_from_which_each_sample_has_its_entry(picked):
    before = f"table = torch.linspace(0, 1, 9).sqrt()\ndef of(table, t):\n    return {picked}.reshape(t.shape[0], 1)"
    before += "\ndef noised(x, t):\n    return x * of(table, t)"
    drawn = "t = torch.randint(0, 9, (len(x) // 2 + 1,))\nt = torch.cat([t, 9 - t - 1], dim=0)[:len(x)].long()"
    made = planned(f"x = X[step:step + 16]\n{drawn}\nloss = model(noised(x, t)).mean()", before=before)
    assert "x" in cut(made)
    assert not {*cut(made)} & {"table", "table_part"}


def test_what_a_function_of_the_step_reads_numbers_of_alone():
    physics = "def physics(table, x):\n    return (model(x) * (2 / table['a'].max()) - x[:, :1]).square().mean()"
    before = f"from files import read\ntable = read('a.csv')\n{physics}"
    assert cut(planned("x = torch.rand(16, 4)\nloss = physics(table, x)", before=before)) == ["x"]


def test_the_batch_of_an_outer_turn_is_split_there():
    inner = textwrap.indent(f"    {LOSS}\n{STEP}", "    ")
    made = plan(f"{DATA}\nfor step in range(9):\n    x, t = X[step:], y[step:]\n    for again in range(3):\n{inner}")
    (split,) = made.assumed.splits
    assert made.program.source(split.at).startswith("for again")
    assert len(made.roles.batch_loops) == 1


def test_what_the_turn_before_has_drawn():
    made = planned(
        f"{LOSS}\nx, t = source.next()", before="import drawing\nsource = drawing.Source()\nx, t = source.next()"
    )
    assert cut(made) == ["x", "t"]


def test_a_function_that_trains_splits_what_it_is_given():
    trained = "def trained(a, b):\n    loss = F.mse_loss(model(a), b)\n    loss.backward()\n    return loss"
    loop = "for step in range(9):\n    loss = trained(X[step:], y[step:])\n    optimizer.step()"
    assert cut(plan(f"{DATA}\n{trained}\n{loop}")) == ["a", "b"]


def test_the_step_that_a_function_helps_comes_before_it():
    attack = "def attack(a, b):\n    F.mse_loss(model(a), b).backward()\n    return a.grad.sign()"
    lines = f"x, t = X[step:].clone().requires_grad_(), y[step:]\nx = x + attack(x, t)\n{LOSS}"
    assert cut(planned(lines, before=attack)) == ["x", "t"]


def test_a_function_that_draws_what_it_gives_the_loss_of():
    before = "def drawn(count):\n    return torch.rand(count, 4), torch.zeros(count, 1)\n"
    before += "def loss_of(net, count):\n    x, t = drawn(count)\n    return F.mse_loss(net(x), t)"
    assert cut(planned("loss = loss_of(model, 50)", before=before)) == ["x", "t"]


def test_a_function_that_computes_a_loss_of_all_of_the_data():
    before = "P = torch.rand(20, 4)\ndef total():\n    return F.mse_loss(model(X), y) + (model(P) ** 2).mean()"
    assert cut(planned("loss = total()", before=before)) == ["P", "X", "y"]


def test_a_loader_is_none_of_it():
    made = planned(LOSS, head="for x, t in DataLoader(TensorDataset(X, y), batch_size=8):")
    assert (made.assumed.splits, unshared(made)) == ((), [])


def test_a_model_that_trains_itself_in_several_methods():
    made = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, x):
        return self.layer(x)

    def loss_of(self, a, b):
        a = a.clone().requires_grad_(True)
        return F.mse_loss(self(a), b)

    def fit(self, optimizer, X, y):
        for step in range(9):
            loss = self.loss_of(X[step:], y[step:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
    assert cut(plan(f"{DATA}\n{made}\nmodel.fit(optimizer, X, y)")) == ["X[step:]", "y[step:]"]


def test_a_batch_of_another_loader_that_is_looked_at_between_the_epochs_splits_none_of_the_training():
    """It did, with --exact: each rank trained on all of every batch, drawn in an order of its own."""
    loaders = (
        "first = DataLoader(TensorDataset(X, y), batch_size=9, shuffle=True)\nother = DataLoader(TensorDataset(X, y))"
    )
    lines = ["for xb, yb in first:", "    loss = F.mse_loss(model(xb), yb)"]
    step = ["    optimizer.zero_grad()", "    loss.backward()", "    optimizer.step()", "look, _ = next(iter(other))"]
    epochs = "\n".join(["for epoch in range(3):", *(f"    {line}" for line in [*lines, *step])])
    made = plan(f"{DATA}{loaders}\n\n{epochs}\n    print(look.shape)\n", options=Options(exact=True))
    assert cut(made) == ["xb", "yb"]


def test_what_a_method_draws_in_each_turn_is_no_batch_of_all_turns():
    made = """class Trainer:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def draw(self, x, y):
        i = torch.randint(0, 100, (16,))
        return x[i], y[i]
    def loss_of(self, x, t):
        return F.mse_loss(model(x), t)
    def fit(self):
        for step in range(9):
            loss = self.loss_of(*self.draw(self.x, self.y))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

trainer = Trainer(X, y)
"""
    assert cut(plan(f"{DATA}\n{made}\ntrainer.fit()")) == ["x", "t"]


def test_one_step_of_two_trainings_is_no_batch_of_both():
    """Each goes through batches of its own: there is no place at which one of them could be cut for both."""
    step = "def step(loss):\n    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()"
    loop = "for i in range(0, 48, {n}):\n    step(F.mse_loss(model(X[i : i + {n}]), y[i : i + {n}]))"
    one, two = plan(DATA, step, loop.format(n=6)), plan(DATA, step, f"{loop.format(n=6)}\n{loop.format(n=4)}")
    assert (len(one.assumed.splits), len(two.assumed.splits)) == (1, 0)
    assert two.assumed.unsplit
