"""Entries that say more than one thing, and what is under what."""

from __future__ import annotations

import pytest

from nbddp.analysis.library.ops import Effect, Op, Samples, indexed, said_of, under


def test_an_entry_says_more_than_the_module_around():
    assert said_of(Op(Effect.READS), Op(samples=Samples.SUM)) == Op(Effect.READS, Samples.SUM)
    assert said_of(Op(Effect.READS), Op(Effect.WORLD)).effect is Effect.WORLD


def test_a_name_in_two_lines_has_what_both_say():
    assert indexed({"a b": Op(Effect.READS)}, {"b": Op(fresh=True)})["b"] == Op(Effect.READS, fresh=True)


def test_two_lines_may_not_say_two_things():
    with pytest.raises(AssertionError, match="b"):
        indexed({"a b": Op(Effect.READS), "b": Op(Effect.WORLD)})


@pytest.mark.parametrize(
    ("name", "roots", "yes"),
    [
        ("torch.nn.Linear", ("torch.nn",), True),
        ("torch.nn", ("torch.nn",), True),
        ("torch.nnx", ("torch.nn",), False),
        ("torch", ("torch.nn",), False),
    ],
)
def test_under(name, roots, yes):
    assert under(name, roots) is yes
