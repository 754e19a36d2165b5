"""The shortest parts that do; in doubt, the whole ones."""

from __future__ import annotations

import textwrap

import pytest

from nbddp.script.lean import lean


def requests(text: str, *wanted: str, **renames: str) -> set[str]:
    return set(lean(textwrap.dedent(text), wanted, renames))


TRAINING = """
    def evaluate(net, loader):
        net.eval()
        return sum_over_ranks(0)

    def build():
        net = DDP(Net().to(device))
        net.train()
        return net

    model = build()
    model = model.to(device)
    optimizer = SGD(model.parameters(), lr=0.1)
    for epoch in resumable(range(3), model=model, optimizer=optimizer):
        loss = criterion(model(x), y)
        model.hidden
        evaluate(model, loader)
        evaluate(loader=loader, net=model)
    print(model, model is None)
    deliver({"model": model}, [], locals())
"""
PLAIN = {"DDP:plain", "DDP:plain.state_dict", "DDP:plain.load_state_dict"}


def test_a_model_that_is_always_in_sight_needs_the_short_wrapper():
    assert requests(TRAINING, "DDP") == PLAIN
    assert requests(TRAINING.replace("DDP", "Wrapped"), "DDP", DDP="Wrapped") == PLAIN


def test_only_the_states_that_something_calls():
    assert requests("m = DDP(net)\nm(x)", "DDP") == {"DDP:plain"}
    assert requests("m = DDP(net)\ntorch.save(m.state_dict(), p)", "DDP") == {"DDP:plain", "DDP:plain.state_dict"}
    assert requests("m = DDP(net)\nm.load_state_dict(s)", "DDP") == {"DDP:plain", "DDP:plain.load_state_dict"}


@pytest.mark.parametrize(
    "line",
    [
        "model.fc = Linear(3, 2)",
        "del model.fc",
        "model.fc += 1",
        "names = dict(model.named_parameters())",
        "model.apply(reset)",
        "width = model.dim",
        "copy.deepcopy(model)",
        "torch.save(model, path)",
        "torch.save({'model': model}, path)",
        "summary(model)",
        "other = model if x else None",
        "models = [model, model]",
        "best = {'model': model}",
        "trainer.model = model",
        "trainer.fit(model)",
        "Trainer(model)",
        "evaluate(**{'net': model})",
        "evaluate(loader, *args, model)",
        "evaluate(1, 2, model)",
        "f = lambda: model",
        "text = f'{model}'",
        "with model as m:\n        pass",
        "def g(m=model):\n        pass",
        "def save(net):\n        torch.save(net, path)\n    save(model)",
        "def same(net):\n        return net\n    torch.save(same(model), path)",
        "other = model.eval()\n    torch.save(other, path)",
        "class Net:\n        def train(self, x, y):\n            pass",
        "class T:\n        def get(self):\n            return model",
        "models = {'a': DDP(Net())}",
        "self.model = DDP(Net())",
    ],
)
def test_a_doubt_about_a_use_takes_the_whole_wrapper(line):
    assert requests(TRAINING + "    " + line + "\n", "DDP") == {"DDP"}


@pytest.mark.parametrize(
    ("line", "methods"),
    [
        ("n = len(model)", {"__len__"}),
        ("model[0](x)", {"__getitem__"}),
        ("for layer in model:\n        pass", {"__iter__"}),
        ("layers = list(model) + [l for l in model]", {"__iter__"}),
        ("evaluate(*model)", {"__iter__"}),
        ("if 'fc' in model:\n        model[-1]", {"__contains__", "__getitem__"}),
    ],
)
def test_what_makes_it_a_sequence_comes_along(line, methods):
    assert requests(TRAINING + "    " + line + "\n", "DDP") == {"DDP", *(f"DDP.{method}" for method in methods)}


NUMBERS = """
    import math

    def count(x, y):
        return (x == y).sum().item()

    def twice(n):
        return 2 * n

    correct, total = 0, 0
    loss_sum = 0.0
    best = seen = 1
    for i, (x, y) in enumerate(loader):
        for k in range(3):
            total += k
        loss_sum += loss.item() * x.size(0) / x.shape[0]
        correct += count(x, y) if y is not None else -1
        total += len(y) + i
        mixed += loss
        weight = torch.zeros(1)
        seen = sum_over_ranks(seen)
        recursive = recursive + 1
"""


@pytest.mark.parametrize(
    "value", ["correct", "total", "loss_sum", "best", "seen", "correct / total", "float(loss)", "3", "k", "-i"]
)
def test_what_is_surely_a_number_needs_the_short_sum(value):
    text = NUMBERS + f"        a = sum_over_ranks({value})\n        b = mean_over_ranks({value})\n"
    assert requests(text, "sum_over_ranks", "mean_over_ranks") == {"sum_over_ranks:number", "mean_over_ranks:number"}


@pytest.mark.parametrize(
    "value",
    [
        "mixed",
        "weight",
        "x",
        "unknown",
        "correct + weight",
        "twice(1)",
        "[1]",
        "'text'",
        "loss",
        "max(1, 2)",
        "a.b",
        "math",
    ],
)
def test_what_may_be_no_number_needs_the_whole_sum(value):
    assert requests(NUMBERS + f"        a = sum_over_ranks({value})\n", "sum_over_ranks") == {"sum_over_ranks"}


@pytest.mark.parametrize(
    "line",
    [
        "def f(correct):\n        pass",
        "with f() as correct:\n        pass",
        "import correct",
        "correct: object = f()",
        "[0 for correct in xs]",
        "(correct := f())",
        "*correct, b = f()",
        "correct, b = f()",
        "def correct():\n        pass",
        "try:\n        pass\n    except E as correct:\n        pass",
        "match v:\n        case {**correct}:\n            pass",
    ],
)
def test_another_binding_of_the_name_anywhere_is_a_doubt(line):
    text = NUMBERS + f"    {line}\n    a = sum_over_ranks(correct)\n"
    assert requests(text, "sum_over_ranks") == {"sum_over_ranks"}


@pytest.mark.parametrize(
    "line",
    [
        "def count(x, y):\n        return x",
        "def len(x):\n        return x",
    ],
)
def test_another_function_of_the_name_is_a_doubt(line):
    text = NUMBERS + f"    {line}\n    a = sum_over_ranks(correct + total)\n"
    assert requests(text, "sum_over_ranks") == {"sum_over_ranks"}


def test_a_sum_that_is_handed_on_is_a_doubt():
    assert requests("totals = map(sum_over_ranks, xs)\na = sum_over_ranks(1)", "sum_over_ranks") == {"sum_over_ranks"}
    assert requests("a = total(1)", "sum_over_ranks", sum_over_ranks="total") == {"sum_over_ranks:number"}
    assert requests("a = 1", "sum_over_ranks") == {"sum_over_ranks"}


@pytest.mark.parametrize(
    ("built", "short"),
    [
        ("DataLoader(data, batch_size=4)", True),
        ("torch.utils.data.DataLoader(data, 4, shuffle=False, num_workers=2, drop_last=True)", True),
        ("DataLoader(data, 4, True)", False),
        ("DataLoader(data, shuffle=True)", False),
        ("DataLoader(data, shuffle=shuffle)", False),
        ("DataLoader(data, sampler=sampler)", False),
        ("DataLoader(data, **options)", False),
        ("DataLoader(*given)", False),
        ("DataLoader(data, generator=g)", False),
        ("make_loader(data)", False),
        ("DataLoader(data) if x else None", False),
    ],
)
def test_a_loader_that_draws_in_order_is_dealt_out_by_the_short_part(built, short):
    text = f"loader = {built}\nfor x in share_of(loader):\n    pass"
    assert requests(text, "share_of") == {"share_of:in_order" if short else "share_of"}


@pytest.mark.parametrize("text", ["def f(loader):\n    share_of(loader)", "share_of(a.loader)", "share_of(loader)"])
def test_a_loader_from_elsewhere_is_not(text):
    assert requests(text, "share_of") == {"share_of"}


def test_other_parts_are_asked_for_as_they_are():
    assert lean("x = 1", ["per_rank", "any_rank"]) == ("any_rank", "per_rank")
