"""Names in a text: one that is missed is an import that a script lacks."""

from __future__ import annotations

import pytest

from nbddp.script.names import names_in, words_of


def test_names_are_read_or_bound():
    assert names_in("a = b.c(d=e)\ndef f(g): return g") == {"a", "b", "e", "g"}
    assert names_in("'a'  # b") == set()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("a = b.c(d=e)", {"a", "b", "c", "d", "e"}),
        ("f'{a.b} c'", {"a"}),
        ("rf'{a}' + F'{b}'", {"a", "b"}),
        ("'a'  # b", set()),
        ("b'a'", set()),
    ],
)
def test_words(source, words):
    assert words_of(source) >= words
    assert not {"x", "y"} & words_of(source)


def test_text_and_comments_have_none():
    assert words_of("'a'  # b") == frozenset()
