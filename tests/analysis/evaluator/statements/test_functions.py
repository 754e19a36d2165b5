"""What functions and classes of the notebook give, by how their arguments reach them."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import DEPTH, Extent
from nbddp.diagnostics import CannotExport
from tests.analysis.cells import BEFORE, batch, evaluations, extent, nodes, plan, seen

MANY = """
def of(a, b=1, *rest, c=2, **named):
    return (a, b, rest, c, named.get("d"))
"""


@pytest.mark.parametrize(
    ("call", "place", "expected"),
    [
        ("of(loss.item())", 0, Extent.MEAN),
        ("of(loss.item())", 1, Extent.UNIFORM),
        ("of(0, loss.item())", 1, Extent.MEAN),
        ("of(0, b=loss.item())", 1, Extent.MEAN),
        ("of(0, 1, loss.item())", 2, Extent.MEAN),
        ("of(0, c=loss.item())", 3, Extent.MEAN),
        ("of(0, d=loss.item())", 4, Extent.MEAN),
        ("of(*(epoch, loss.item()))", 1, Extent.MEAN),
        ("of(*(epoch, loss.item()))", 0, Extent.UNIFORM),
        ("of(0, **{'c': loss.item()})", 3, Extent.MEAN),
        ("of(0, **{'c': loss.item()})", 1, Extent.UNIFORM),
    ],
)
def test_arguments_reach_their_parameters(call, place, expected):
    assert seen(f"{call}[{place}]", f"n = {call}[{place}]", before=MANY) is expected


def test_a_default_is_what_it_was_at_the_definition():
    assert seen("of()", "n = of()", before="k = 3\n\ndef of(v=k):\n    return v\n") is Extent.UNIFORM


def test_two_ways_to_return_are_both_seen():
    before = "def of(loss, flag):\n    if flag:\n        return 0\n    return loss\n"
    assert seen("of(loss.item(), epoch > 1)", "n = of(loss.item(), epoch > 1)", before=before) is Extent.MEAN


def test_a_nested_function_sees_the_frame_around():
    before = "def outer(v):\n    def inner():\n        return v\n    return inner()\n"
    assert seen("outer(loss.item())", "n = outer(loss.item())", before=before) is Extent.MEAN
    assert seen("outer(3)", "n = outer(3)", before=before) is Extent.UNIFORM


def test_global_and_nonlocal_bind_where_they_say():
    before = "last = 0.0\n\ndef keep(v):\n    global last\n    last = v\n\ndef drop(v):\n    last = v\n"
    assert seen("last", "keep(loss.item())", "n = (last)", before=before) is Extent.MEAN
    assert seen("last", "drop(loss.item())", "n = (last)", before=before) is Extent.UNIFORM


def test_a_function_that_calls_itself_comes_to_an_end():
    before = "def down(v, k):\n    return v if k == 0 else down(v, k - 1)\n"
    assert seen("down(3, epoch)", "n = down(3, epoch)", before=before) is Extent.UNIFORM
    assert seen("down(loss.item(), epoch)", "n = down(loss.item(), epoch)", before=before) is not Extent.UNIFORM


def test_what_a_function_that_calls_itself_makes_belongs_to_who_calls_it():
    """`hidden = repackage(hidden)` in the training, and in an evaluation of all data."""
    before = (
        "def detached(h):\n    if isinstance(h, torch.Tensor):\n        return h.detach()\n"
        "    return tuple(detached(v) for v in h)\n"
    )
    lines = ("kept = detached([x, x])", "n = torch.stack(detached([epoch, 1]))")
    assert seen("torch.stack(detached([epoch, 1]))", *lines, before=before) is Extent.UNIFORM


def test_gradients_are_off_under_the_decorator_only():
    before = "@torch.no_grad()\ndef quiet(x):\n    return model(x)\n\ndef loud(x):\n    return model(x)\n"
    made = plan(*BEFORE, before, batch("a = quiet(x)", "b = loud(x)"))
    calls = nodes(made, ast.Call, "model(x)")
    assert [made.facts.calls[c].grad for c in calls] == [False, True, True]


def test_methods_are_taken_from_the_bases_in_their_order():
    before = (
        "class A:\n    def of(self, v):\n        return v\n\n"
        "class B(A):\n    def of(self, v):\n        return super().of(v) * 2\n\nb = B()\n"
    )
    made = plan(*BEFORE, before, batch("n = b.of(loss.item())"))
    assert extent(made, "b.of(loss.item())") is Extent.MEAN
    assert {getattr(f, "name", "") for f in made.facts.reached} >= {"of"}
    assert sum(getattr(f, "name", "") == "of" for f in made.facts.reached) == 2


def calling_thrice(functions: int) -> str:
    defined = [f"def f{n}(x):\n    return f{n - 1}(x) + f{n - 1}(x) + f{n - 1}(x)\n" for n in range(1, functions)]
    return "\n".join(["def f0(x):\n    return x * 2\n", *defined, f"scale = f{functions - 1}(0.1)"])


def test_functions_that_call_each_other_several_times_do_not_multiply():
    small, large = evaluations(calling_thrice(6)), evaluations(calling_thrice(12))
    assert large < 8 * small  # and not 3 ** 6 times as many


def chain(functions: int) -> str:
    return "def f0(x):\n    return x.item()\n" + "".join(
        f"def f{n}(x):\n    return f{n - 1}(x)\n" for n in range(1, functions)
    )


def test_a_chain_of_calls_is_followed_to_its_end_or_refused():
    assert seen("f59(loss)", "n = f59(loss)", before=chain(60)) is Extent.MEAN
    with pytest.raises(CannotExport, match=r"too complex(.|\n)* --> cell 4:\d+\n"):
        plan(*BEFORE, chain(DEPTH + 10), batch(f"n = f{DEPTH + 9}(loss)"))
