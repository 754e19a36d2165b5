"""What is hung into a script's tree, by running it: the script itself prints what it would, on the same lines."""

from __future__ import annotations

import ast
import builtins
import traceback
from typing import Any

import pytest

from nbddp.run.watching.carried import NOTHING, known
from nbddp.run.watching.tree import watched
from nbddp.run.watching.written import NAME
from nbddp.watch_points import Watch, WatchPoint, at_statements, from_json, placed, to_json


class Listener:
    """In place of a watcher: writes down what it is told."""

    def __init__(self, stop_after: int = 99) -> None:
        self.told: list[Any] = []
        self.stop_after, self.ended = stop_after, 0

    def over(self, epochs: Any, state: Any, *_: Any) -> Any:
        self.told.append(("over", state))
        for epoch in epochs:
            if self.ended == self.stop_after:
                return
            yield epoch

    def counted(self, epochs: Any) -> Any:
        return (epoch for epoch in list(epochs)[: self.stop_after])

    def epoch_ends(self, values: Any, carried: Any, left: bool = False) -> bool:
        self.told.append(("ends", values, carried, left))
        self.ended += 1
        return self.ended == self.stop_after

    def epochs_before(self, *_: Any) -> int:
        return 1

    def carry(self, values: Any, _: Any) -> list[Any]:
        return [f"saved {name}" for name in values]

    known = staticmethod(known)
    nothing = NOTHING

    def rest(self, loader: Any, so_far: Any) -> Any:
        for batch in loader:
            yield batch
            self.told.append(so_far())

    def numbered(self, first: int) -> int:
        return first + 10

    def so_far(self, _: str, value: Any, how: Any) -> Any:
        return value + (100 if how == "sum" else 0)

    def step(self) -> bool:
        return True

    def report_step(self, batches: Any, values: Any, batch: Any) -> None:
        self.told.append(("step", batches, values, *batch))

    def __getattr__(self, name: str) -> Any:
        return lambda *values: self.told.append((name, *values))


def at(text: str, source: str, watch: Watch) -> WatchPoint:
    lines = text.split("\n")
    number = next(i for i, line in enumerate(lines) if line.strip() == source)
    return placed(lines, [(number, len(lines[number]) - len(lines[number].lstrip()), watch)])[0]


class Skips(Listener):
    """Of a run that skips what came before its training."""

    def has_left(self, _: str) -> bool:
        return True

    def left(self, name: str, _: Any) -> str:
        return f"{name}, before"


@pytest.fixture
def run(monkeypatch):
    def run(
        text: str, *watches: tuple[str, Watch], listener: Listener | None = None
    ) -> tuple[Listener, dict[str, Any]]:
        listener = listener or Listener()
        tree, lost = watched(text, "script.py", [at(text, source, watch) for source, watch in watches])
        assert lost == 0
        monkeypatch.setattr(builtins, NAME, listener, raising=False)
        scope: dict[str, Any] = {}
        exec(compile(tree, "script.py", "exec"), scope)
        return listener, scope

    return run


EPOCHS = """\
seen, best = [], 0
for epoch in range(4):
    loss = 0.5 + epoch
    if epoch == 1:
        continue
    for batch in range(3):
        if batch == 2:
            break
    accuracy = 0.25
    seen.append(epoch)
    if len(seen) == 2:
        break
"""
WATCH = Watch("epochs", state=(("seen", "seen"),), carried=("best",))
NUMBERS = Watch("numbers", values=(("loss", "loss"), ("accuracy", "accuracy")))


def test_each_epoch_has_an_end_also_one_that_is_left(run):
    listener, scope = run(EPOCHS, ("for epoch in range(4):", WATCH), ("for epoch in range(4):", NUMBERS))
    assert scope["seen"] == [0, 2]
    assert scope["best"] == "saved best"
    assert listener.told[1:] == [
        ("ends", {"loss": 0.5, "accuracy": 0.25}, {"best": "saved best"}, False),
        ("ends", {"loss": 1.5}, {"best": "saved best"}, False),
        ("ends", {"loss": 2.5, "accuracy": 0.25}, {"best": "saved best"}, True),
    ]


def test_a_name_without_a_value_gets_the_one_that_the_loop_goes_on_with(run):
    """Where a loop before it, which binds the name in a branch, was skipped."""

    class Skipped(Listener):
        def unbound(self, name: str) -> str:
            return f"{name} of the notebook"

        def carry(self, values: Any, _: Any) -> list[Any]:
            return list(values.values())

    _, scope = run(EPOCHS.replace("seen, best", "seen, good"), ("for epoch in range(4):", WATCH), listener=Skipped())
    assert scope["best"] == "best of the notebook"


def test_a_name_without_a_value_stays_so_until_a_branch_gives_it_one(run):
    """As in the notebook, where a loop before it has not come to the branch either."""

    class Fresh(Listener):
        def unbound(self, _: str) -> Any:
            return NOTHING

        def carry(self, values: Any, _: Any) -> list[Any]:
            return list(values.values())

    text = "seen = []\nfor epoch in range(4):\n    if epoch == 2:\n        best = epoch"
    listener, _ = run(text, ("for epoch in range(4):", WATCH), listener=Fresh())
    assert [told[2] for told in listener.told[1:]] == [{}, {}, {"best": 2}, {"best": 2}]


def test_what_a_skipped_training_has_left_is_there_behind_it(run):
    """Also where it binds the name in a branch."""

    class Skipped(Listener):
        def has_left(self, name: str) -> bool:
            return name != "other"

        def left(self, name: str, value: Any) -> str:
            return f"{name}, {value} before"

    text = "best = 1\nother = 2\nfor epoch in []:\n    kept = 1\nseen = [best, kept, other]"
    watch = Watch("left", names=("best", "kept", "other"))
    _, scope = run(text, ("for epoch in []:", watch), listener=Skipped())
    assert scope["seen"] == ["best, 1 before", "kept, None before", 2]


def test_a_name_without_a_value_is_nothing_that_batches_go_on_with(run):
    text = "for epoch in range(4):\n    for x in [1, 2]:\n        last = x"
    watch = Watch("batches", so_far=(("x", ""), ("last", "")))
    _, scope = run(text, ("for x in [1, 2]:", watch))
    assert (scope["x"], scope["last"]) == (2, 2)


def test_a_stop_ends_the_loop_after_the_epoch(run):
    _, scope = run(EPOCHS, ("for epoch in range(4):", WATCH), listener=Listener(stop_after=1))
    assert scope["seen"] == [0]


def test_a_return_out_of_an_epoch_ends_it(run):
    lines = (
        "from contextlib import nullcontext",
        "def fit(model):",
        "    for epoch in range(3):",
        "        with nullcontext():",
        "            return epoch",
        "fit(1)",
    )
    text = "\n".join(lines)
    listener, _ = run(text, ("for epoch in range(3):", Watch("epochs", state=(("model", "model"),))))
    assert listener.told == [("over", {"model": 1}), ("ends", {}, {}, True)]


IN_A_FUNCTION = """\
def fit(net, epochs):
    for epoch in range(epochs):
        net.append(epoch)
def train():
    first, second = [], []
    fit(first, 2)
    return first
done = train()
"""


def test_a_function_sees_variables_of_train_where_it_is_watched(run):
    watch = Watch("epochs", state=(("net", "net"), ("second", "second")))
    points = (("for epoch in range(epochs):", watch), ("def train():", Watch("result", names=("first",))))
    listener, scope = run(IN_A_FUNCTION, *points)
    assert scope["done"] == [0, 1]
    assert listener.told[0] == ("over", {"net": [0, 1], "second": []})
    assert "first" not in scope


def test_a_name_of_the_module_stays_one_where_a_skipped_training_has_left_it(run):
    text = "log = [0]\ndef train():\n    log.append(1)\n    return log\ndone = train()"
    points = (("log.append(1)", Watch("left", names=("log",))), ("def train():", Watch("result")))
    _, scope = run(text, *points, listener=Skips())
    assert scope["done"] == "log, before" == scope["log"]


def test_leaving_by_an_error_is_no_end_of_an_epoch(run):
    text = "for epoch in range(3):\n    try:\n        1 / 0\n    except ZeroDivisionError:\n        break\n"
    listener, _ = run(text, ("for epoch in range(3):", Watch("epochs")))
    assert listener.told == [("over", {})]


def test_a_loop_that_counts_itself(run):
    text = "n = 0\nseen = []\nwhile n < 4:\n    n += 1\n    seen.append(n)\n"
    watch = Watch("turns", counter="n", state=(("seen", "seen"),))
    listener, scope = run(text, ("while n < 4:", watch), listener=Listener(stop_after=2))
    assert scope["seen"] == [2, 3]
    assert [told for told in listener.told if told[0] == "epoch_begins"] == [("epoch_begins", 1), ("epoch_begins", 2)]


def test_steps_behind_a_statement_wherever_it_stands(run):
    text = "class A:\n    def fit(self):\n        for x in (1, 2): loss = x; print(end=''); y = 3\nA().fit()\n"
    lines = text.split("\n")
    point = placed(
        lines,
        [(2, lines[2].index("print"), Watch("step", values=(("loss", "loss"),), batches="len('ab')", batch=("x",)))],
    )
    listener = Listener()
    tree, lost = watched(text, "script.py", point)
    builtins.__dict__[NAME] = listener
    try:
        exec(compile(tree, "script.py", "exec"), {})
    finally:
        del builtins.__dict__[NAME]
    assert lost == 0
    assert listener.told == [("step", 2, {"loss": 1}, 1), ("step", 2, {"loss": 2}, 2)]


PROCESS = """\
import os, sys
def run(rank, args):
    '''Train.'''
    global lr
    lr = args
    if rank > 0:
        os.dup2(missing, 1)
    if lr:
        dist.init_process_group("gloo", rank=rank)
    train()
"""


def test_a_process_says_that_it_is_up_and_how_it_ended(run):
    listener, scope = run(PROCESS, ("def run(rank, args):", Watch("process")))
    asked = []
    scope["dist"] = type("dist", (), {"init_process_group": staticmethod(lambda _, rank: asked.append(rank))})
    scope["train"] = lambda: listener.told.append("train")
    scope["run"](1, 0.5)
    assert (scope["run"].__doc__, scope["lr"], asked) == ("Train.", 0.5, [1])
    assert listener.told == [("begin", 1), ("meet",), ("backend", "gloo"), ("up",), "train", ("end",)]


def test_an_error_has_the_lines_of_the_file_and_no_frame_of_ours(run):
    listener, scope = run(PROCESS, ("def run(rank, args):", Watch("process")))
    with pytest.raises(NameError) as raised:
        scope["run"](0, None)
    frames = traceback.extract_tb(raised.value.__traceback__)[1:]
    assert [(frame.filename, frame.lineno, frame.name) for frame in frames] == [("script.py", 10, "run")]
    assert listener.told == [("begin", 0), ("meet",), ("up",), ("failed",)]


def test_lines_and_columns_of_what_was_there_stay(run):
    points = [at(EPOCHS, "for epoch in range(4):", WATCH), at(EPOCHS, "for epoch in range(4):", NUMBERS)]
    tree, _ = watched(EPOCHS, "script.py", points)
    known = {ast.dump(n, include_attributes=True) for n in ast.walk(ast.parse(EPOCHS)) if isinstance(n, ast.Assign)}
    assert known <= {ast.dump(n, include_attributes=True) for n in ast.walk(tree)}


def test_in_a_script_that_was_changed_what_is_found_again_is_watched(run):
    points = [at(EPOCHS, "for epoch in range(4):", WATCH), at(EPOCHS, "accuracy = 0.25", Watch("step"))]
    changed = "# a line of mine\n" + EPOCHS.replace("accuracy = 0.25", "accuracy = 0.75")
    tree, lost = watched(changed, "script.py", points)
    assert lost == 1
    assert "over(" in ast.unparse(tree)
    assert "step(" not in ast.unparse(tree)


def test_a_point_whose_names_are_gone_is_not_watched():
    point = at(EPOCHS, "for epoch in range(4):", Watch("epochs", state=(("model", "model"),)))
    assert watched("\n" + EPOCHS, "script.py", [point])[1] == 1


def test_points_survive_their_file():
    points = (at(EPOCHS, "for epoch in range(4):", WATCH), at(EPOCHS, "accuracy = 0.25", NUMBERS))
    assert from_json(to_json(points)) == points
    assert from_json('{"format": 99, "points": []}') == ()


def test_places_are_those_of_statements():
    assert at_statements("é = 1; x = 2\n", placed(["é = 1; x = 2"], [(0, 7, WATCH), (0, 8, WATCH)])) == (
        WatchPoint(1, 8, "é = 1; x = 2", WATCH),
    )


@pytest.mark.parametrize(
    ("loop", "numbers"),
    [
        ("for i, b in enumerate([1, 2]):", [10, 11]),
        ("for i, b in enumerate([1, 2], 1):", [11, 12]),
        ("for i, b in enumerate(track([1, 2]), start=2):", [12, 13]),
        ("for i, b in track(enumerate([1, 2])):", [10, 11]),
        ("for b in [1, 2]:", []),
    ],
)
def test_batches_go_on_with_their_numbers_and_sums(run, loop, numbers):
    text = f"track, i, seen, n = iter, None, [], 0\n{loop}\n    n += b\n    if i is not None: seen.append(i)\n"
    listener, scope = run(text, (loop, Watch("batches", so_far=(("n", "sum"),))))
    assert (scope["seen"], scope["n"]) == (numbers, 103)
    assert [told["n"] for told in listener.told] == [101, 103]
