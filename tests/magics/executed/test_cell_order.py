"""Where a cell that was executed again stands in the notebook."""

from __future__ import annotations

import pytest

from nbddp.diagnostics import CannotExport, Diagnostic
from nbddp.magics.executed.cell_order import MOVED, in_order, same
from nbddp.magics.executed.record import Executed


def cells(*sources: str) -> list[Executed]:
    return [Executed(source, id=source, first=place) for place, source in enumerate(sources)]


def again(executed: list[Executed], number: int) -> list[Executed]:
    """This one executed once more, at the end."""
    return [*executed[:number], *executed[number + 1 :], executed[number]]


def sources(executed: object) -> list[str]:
    assert isinstance(executed, list)
    return [cell.source for cell in executed]


def test_it_keeps_its_place_where_nothing_reads_it():
    written = cells("epochs = 3", "rate = 0.1", "model = rate")
    assert same(written, again(written, 0))
    assert in_order(again(written, 0), list) == (written, "")


def test_what_was_bound_last_counts():
    """The kernel has the first model again, so the script must."""
    written = cells("model = 1", "model = 2", "print(model)")
    latest = again(written, 0)
    assert not same(written, latest)
    assert in_order(latest, list) == (latest, "")


def test_two_seeds_are_not_exchanged():
    written = cells("import torch\ntorch.manual_seed(0)", "torch.manual_seed(1)")
    assert not same(written, again(written, 0))


def test_what_a_function_reads_when_it_is_called():
    written = cells("rate = 1", "def f():\n    return rate", "model = f()")
    assert not same(written, again(written, 0))


def refuse(executed: list[Executed]) -> list[Executed]:
    """As the compiler does where a name is read before it is bound."""
    if executed[0].source != "rate = 1":
        raise CannotExport([Diagnostic("undefined", "error", "no cell before this one defines 'rate'")])
    return executed


def test_a_name_is_bound_before_it_is_read():
    written = cells("rate = 1", "model = rate")
    made, note = in_order(again(written, 0), lambda tried: refuse(list(tried)))
    assert (made, note) == (written, MOVED)


def test_other_refusals_are_about_the_notebook():
    def make(executed: object) -> None:
        raise CannotExport([Diagnostic("model", "error", "no model is seen to be trained")])

    written = cells("rate = 1", "model = rate")
    with pytest.raises(CannotExport, match="no model"):
        in_order(again(written, 0), make)
