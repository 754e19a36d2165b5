"""Deep code is compiled with more room, or refused with a place; never with a traceback."""

from __future__ import annotations

import sys
import threading

import pytest

import nbddp
from nbddp import deep_stack
from nbddp.deep_stack import FRAMES, TooDeep, with_room
from tests.analysis.cells import BEFORE, TRAINING, notebook

LIMIT = sys.getrecursionlimit()


def down(levels: int) -> int:
    return down(levels - 1) + 1 if levels else 0


def test_what_needs_no_more_room_stays_where_it_is():
    assert with_room(threading.current_thread) is threading.current_thread()


def test_deep_work_gets_room_and_leaves_the_limits_as_they_were():
    size = threading.stack_size()
    assert with_room(lambda: with_room(lambda: down(5 * LIMIT))) == 5 * LIMIT
    assert (sys.getrecursionlimit(), threading.stack_size()) == (LIMIT, size)


def test_what_deep_work_raises_is_raised_here():
    def fails() -> None:
        down(2 * LIMIT)
        raise ValueError("at its end")

    with pytest.raises(ValueError, match="at its end"):
        with_room(fails)
    with pytest.raises(TooDeep):
        with_room(lambda: down(2 * FRAMES))
    assert sys.getrecursionlimit() == LIMIT


SHAPES = {
    "elif": "if len(images) < 0:\n    k = 0\n"
    + "".join(f"elif len(images) == {n}:\n    k = {n}\n" for n in range(330)),
    "terms": "k = " + " + ".join(["1"] * 500),
    "methods": "k = images" + ".abs()" * 300,
    "parentheses": "k = " + "(1 + " * 90 + "1" + ")" * 90,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_deep_code_gives_a_script(shape):
    cells = (
        *BEFORE,
        f"images = torch.zeros(3)\n{SHAPES[shape]}",
        TRAINING.replace("loss.back", "loss *= k\n        loss.back"),
    )
    assert SHAPES[shape].splitlines()[-1].strip() in nbddp.export(notebook(*cells)).text


def test_what_is_too_deep_all_the_same_is_refused_with_its_place(monkeypatch):
    monkeypatch.setattr(deep_stack, "FRAMES", 3 * LIMIT)
    deep = [f"def f{n}(x):\n    return {'(1 + ' * 90}f{n - 1}(x){')' * 90}\n" for n in range(1, 30)]
    before = "def f0(x):\n    return x\n" + "".join(deep)
    training = TRAINING.replace("(model(x), y)", "(f29(model(x)), y)")
    with pytest.raises(nbddp.CannotExport, match=r"nested too deeply(.|\n)* --> cell 4:4\n"):
        nbddp.export(notebook(*BEFORE, before, training))
