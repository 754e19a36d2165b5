"""The search for cycles waits, and comes back however the work ends, unless nobody wanted it before."""

from __future__ import annotations

import gc

import pytest

from nbddp.uncollected import uncollected


def test_the_search_waits_for_the_outermost_end():
    assert gc.isenabled()
    with uncollected():
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_comes_back_after_an_error():
    with pytest.raises(ZeroDivisionError), uncollected():
        _ = 1 / 0
    assert gc.isenabled()


def test_who_has_turned_it_off_keeps_it_off():
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
