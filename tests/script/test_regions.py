"""Which lines belong to which statement: a comment that goes to another one says something wrong."""

from __future__ import annotations

from nbddp.script.regions import regions
from tests.analysis.cells import BEFORE, TRAINING, plan


def texts(*cells: str) -> list[tuple[str, str]]:
    """The comments above, and the statement with what stands behind it, of all statements of these cells."""
    made = plan(*BEFORE, *cells, TRAINING)
    found = regions(made)
    own = [s for s in made.program.statements if len(BEFORE) < s.cell.number <= len(BEFORE) + len(cells)]
    places = [found[s.index] for s in own]
    return [(made.program.text[r.lead : r.start], made.program.text[r.start : r.end].rstrip("\n")) for r in places]


def test_comments_above_belong_to_what_stands_below():
    assert texts("# one\na = 1\n\n# two\n# three\nb = 2") == [("# one\n", "a = 1"), ("\n# two\n# three\n", "b = 2")]


def test_comments_behind_belong_to_their_line():
    assert texts("a = 1  # why\nb = 2") == [("", "a = 1  # why"), ("", "b = 2")]


def test_comments_at_the_end_of_a_cell_belong_to_its_last_statement():
    assert texts("a = 1\n# end", "b = 2") == [("", "a = 1\n# end"), ("", "b = 2")]


def test_decorators_are_part_of_their_function():
    assert texts("# why\n@c\ndef f():\n    pass") == [("# why\n", "@c\ndef f():\n    pass")]


def test_of_two_statements_on_a_line_each_has_its_own():
    assert texts("a = 1; b = 2") == [("", "a = 1"), ("", "b = 2")]
