"""What a statement reads, binds and changes."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.slicing.effects import Changes, Effects, bound_names, displays_only, effects, local_names, root_name

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
    ("source", "reads", "binds"),
    [
        ("a = b", {"b"}, {"a"}),
        ("a += b", {"a", "b"}, {"a"}),
        ("a = 1\nb = a", set(), {"a", "b"}),
        ("(a, [b, *c]) = d", {"d"}, {"a", "b", "c"}),
        ("a: int = b", {"b", "int"}, {"a"}),
        ("a: int", {"int"}, set()),
        ("print(n := f(x))", {"print", "f", "x"}, {"n"}),
        ("[i + k for i in range(n)]", {"range", "n", "k"}, set()),
        ("[y := f(i) for i in xs]", {"f", "xs"}, {"y"}),
        ("{k: v for k, v in pairs if k != skip}", {"pairs", "skip"}, set()),
        ("with open(p) as f:\n    data = f.read()", {"open", "p"}, {"f", "data"}),
        ("for i in xs:\n    last = i", {"xs"}, {"i", "last"}),
        ("import os.path as p, sys", set(), {"p", "sys"}),
        ("from a.b import c as d", set(), {"d"}),
        ("class A(B):\n    n = 3\n    m = n", {"B"}, {"A"}),
        ("match a:\n    case [x, *rest]:\n        b = x", {"a"}, set()),
    ],
)
def test_reads_and_binds(source, reads, binds):
    found = of(source)
    assert (found.reads, found.binds) == (reads, binds)


def test_a_branch_binds_only_what_both_sides_bind():
    found = of("if c:\n    a = b = 1\nelse:\n    a = 2")
    assert found.binds == {"a"}
    assert found.may_bind == {"a", "b"}


def test_a_branch_that_leaves_does_not_count():
    assert of("if c:\n    raise ValueError\nelse:\n    a = 2").binds == {"a"}


def test_what_a_handler_does_not_bind_is_not_sure():
    found = of("try:\n    a = 1\n    b = 2\nexcept OSError as e:\n    a = 3")
    assert found.binds == {"a"}
    assert "b" in found.may_bind


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
        ("unknown(net)", {"net"}),
        ("x.mean()", set()),
        ("torch.cat([a, b])", set()),
        ("torch.nn.init.zeros_(w)", {"w"}),
        ("random.shuffle(order)", {"order"}),
    ],
)
def test_what_is_changed(source, changed):
    assert of(source).mutates == changed


def test_a_function_defers_what_its_body_does():
    found = of(
        "def f(x):\n    global count\n    count += 1\n    local = x\n    seen.append(local)\n    return scale * x"
    )
    assert (found.reads, found.binds) == (set(), {"f"})
    assert found.deferred >= {"scale", "seen"}
    assert found.deferred_mutates == {"count", "seen"}


def test_defaults_and_decorators_run_at_the_definition():
    found = of("@cache\ndef f(x=start):\n    return later")
    assert found.reads == {"cache", "start"}
    assert found.deferred == {"later"}


def test_names_of_a_class_body_are_not_seen_by_its_methods():
    found = of("class A:\n    size = 3\n    def f(self):\n        return size")
    assert found.deferred == {"size"}


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


@pytest.mark.parametrize(
    ("expression", "root"), [("a.b[c].d()", "a"), ("a", "a"), ("f()", None), ("(a + b).c", None), ("*a", "a")]
)
def test_root_of_a_chain(expression, root):
    node = ast.parse(f"[{expression}]", mode="eval").body
    assert isinstance(node, ast.List)
    assert root_name(node.elts[0]) == root


def test_names_of_a_scope():
    source = "def f(a, *b, c=1, **d):\n    global g\n    g = h = 1\n    def inner():\n        k = 1\n    [n for n in b]"
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.FunctionDef)
    assert local_names(node) == {"a", "b", "c", "d", "h", "inner"}
    assert bound_names([node]) == {"f"}


def test_the_names_of_a_function_are_looked_for_once():
    """They are asked for again for every name and attribute in reach: of a large model, thousands of times."""
    (function,) = ast.parse("def f(a):\n    global c\n    b = c = a").body
    assert isinstance(function, ast.FunctionDef)
    assert local_names(function) == {"a", "b"}
    assert local_names(function) is local_names(function)
