"""What a statement changes, by what it calls."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.slicing import Effects, effects
from nbddp.analysis.slicing.effects import Changes, displays_only

IMPORTS = {
    "os": "os",
    "torch": "torch",
    "np": "numpy",
    "plt": "matplotlib.pyplot",
    "random": "random",
    "tqdm": "tqdm.tqdm",
}


def of(source: str, own: dict[str, Changes] | None = None) -> Effects:
    return effects(ast.parse(source).body, IMPORTS, own)


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("model.train()", {"model"}),
        ("losses.append(x)", {"losses"}),
        ("a.b.c = 1", {"a"}),
        ("a[i] = 1", {"a"}),
        ("a[i].b += 1", {"a"}),
        ("del a[i]", {"a"}),
        ("del a", set()),
        ("trainer.fit(net)", {"trainer", "net"}),
        ("Trainer(net).run()", {"net"}),
        ("unknown(net)", {"net"}),
        ("x.mean()", set()),
        ("np.add.at(a, index, 1.0)", {"a", "index"}),
        ("total = np.add.reduce(a)", set()),
        ("np.clip(a, b)", {"a", "b"}),
        ("torch.cuda.synchronize(device)", set()),
        ("next(net.parameters()).data[0].zero_()", {"net"}),
        ("dict(net.named_parameters())['bias'].data.zero_()", {"net"}),
        ("list(map(lambda m: m.register_forward_hook(see), [a, b.layer]))", {"a", "b"}),
        ("(x + 1).zero_()", set()),
        ("torch.nn.init.zeros_(list(net.parameters())[0])", {"net"}),
        ("print(x, file=out)", {"out"}),
        ("print(x, file=os.stderr)", set()),
        ("unknown(str(x))", set()),
        ("torch._foreach_mul_([a[:5], b], 3.0)", {"a", "b"}),
        ("frame.apply(lambda row: rows.append(row.tolist()), axis=1)", {"frame", "rows"}),
        ("found = frame.map(lambda row: row + shift)", {"frame"}),
        ("torch.cat([a, b])", set()),
        ("torch.nn.init.zeros_(w)", {"w"}),
        ("random.shuffle(order)", {"order"}),
    ],
)
def test_what_is_changed(source, changed):
    assert of(source).mutates == changed


def test_a_class_that_begins_as_its_base_does_is_not_changed():
    inside = "class Net(Module):\n    def __init__(self, size):\n        super(Net, self).__init__()\n"
    assert not of(inside).deferred_mutates & {"Net", "size"}


def test_what_a_model_is_made_of_stays_as_it_is_when_that_goes_to_a_device():
    own = {"Net": Changes(("sizes",))}
    assert not of("net = Net(sizes).to('cpu')", own).mutates
    assert of("t = t.to(x.device)").mutates <= {"t"}
    assert of("Net(sizes).fit()", own).mutates == {"sizes"}


def test_a_function_of_the_notebook_changes_what_it_is_known_to_change():
    own = {"fill": Changes(("into", "value"), frozenset({"into"}))}
    assert of("fill(a, b)", own).mutates == {"a"}
    assert of("fill(value=a, into=b)", own).mutates == {"b"}


@pytest.mark.parametrize("source", ["torch.manual_seed(0)", "os.environ['A'] = 'b'", "os.chdir('x')", "tqdm.pandas()"])
def test_what_no_name_shows_is_ambient(source):
    assert of(source).ambient


@pytest.mark.parametrize("call", ["globals()['x'] = 1", "exec('x = 1')", "eval('x')", "locals()"])
def test_access_to_all_names_is_noted(call):
    assert of(call).uses_globals


@pytest.mark.parametrize(
    ("source", "shows"),
    [
        ("x.shape", True),
        ("print(len(data))", True),
        ("plt.plot(xs)\n", True),
        ("if verbose:\n    print(x)", True),
        ("x = 1", False),
        ("model.train()", False),
        ("torch.manual_seed(1)", False),
    ],
)
def test_display(source, shows):
    (node,) = ast.parse(source).body
    assert displays_only(node, of(source), IMPORTS) is shows


def test_what_a_library_computes_at_the_end_of_a_cell_is_shown():
    node = ast.parse("np.mean(a)").body[0]
    assert effects([node], IMPORTS, shown=node).mutates == set()
    assert effects([node], IMPORTS).mutates == {"a"}
