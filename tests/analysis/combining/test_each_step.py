"""What is combined in each step, since nothing after the loop could do it."""

from __future__ import annotations

import pytest

from nbddp.analysis import Plan
from tests.analysis.cells import BEFORE, batch, plan


def combined(made: Plan) -> dict[str, list[tuple[str, str]]]:
    return {name: [(made.program.source(node), how) for node, how in parts]
            for (_, name), parts in made.facts.at_source.items() if parts}  # fmt: skip


def left(made: Plan) -> set[str]:
    """Names that nothing combines: they are reported where they get out."""
    return {name for _, name in made.facts.unreduced}


@pytest.mark.parametrize(
    ("before", "line", "parts"),
    [
        ("kept = 1.0", "kept *= loss.item()", [("loss.item()", "mean_over_ranks")]),
        ("kept = 1.0", "kept = kept * loss.item()", [("loss.item()", "mean_over_ranks")]),
        ("kept = 5", "kept += len(x)", [("len(x)", "sum_over_ranks")]),
        ("kept = []", "kept.append((epoch, loss.item()))", [("loss.item()", "mean_over_ranks")]),
        ("kept = []", "kept.append({'epoch': epoch, 'n': len(x)})", [("len(x)", "sum_over_ranks")]),
        ("kept = torch.zeros(100)", "kept[y] = x", [("y", "gather_samples"), ("x", "gather_samples")]),
        ("kept = {'a': []}", "kept['a'].append((epoch, loss.item()))", [("loss.item()", "mean_over_ranks")]),
        ("kept = []", "kept.append(f'{loss.item():.3f}')", [("loss.item()", "mean_over_ranks")]),
        ("kept = []", "kept.append(round(loss.item(), 3))", [("loss.item()", "mean_over_ranks")]),
    ],
)
def test_what_goes_in_is_combined(before, line, parts):
    made = plan(*BEFORE, before, batch(line) + "print(kept)\n")
    assert combined(made) == {"kept": parts}
    assert not left(made)


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("kept = []", "kept.append([v for v in x.tolist() if v[0] > 0])"),
        ("kept = 1.0", "kept *= max(v.max().item() for v in x)"),
        ("kept = []", "kept.append((epoch, loss.item())) if x.max() > 1 else None"),
        ("kept = 1.0", "kept = max(kept, loss.item() if x.max() > 1 else 0)"),
        ("kept = 1.0", "kept *= loss.item()\n        seen(kept)"),
    ],
)
def test_what_is_not_understood_is_combined_nowhere(before, line):
    made = plan(*BEFORE, before, batch(*line.split("\n        ")) + "print(kept)\n")
    assert "kept" not in combined(made)


def test_what_all_ranks_keep_alike_needs_no_exchange():
    made = plan(*BEFORE, "kept = []", batch("kept.append((epoch, 1))") + "print(kept)\n")
    assert not combined(made)
    assert not left(made)


def test_under_a_condition_of_one_rank_nothing_is_exchanged():
    made = plan(*BEFORE, "kept = 1.0", batch("if x.max() > 1:", "    kept *= loss.item()") + "print(kept)\n")
    assert not combined(made)
    assert left(made) == {"kept"}


def test_under_a_condition_of_all_ranks_it_is():
    made = plan(*BEFORE, "kept = 1.0", batch("if epoch > 1:", "    kept *= loss.item()") + "print(kept)\n")
    assert combined(made) == {"kept": [("loss.item()", "mean_over_ranks")]}


def test_what_stays_right_after_the_loop_waits_for_its_end():
    made = plan(*BEFORE, "kept = 0.0", batch("kept = 0.9 * kept + 0.1 * loss.item()") + "print(kept)\n")
    assert not combined(made)
    assert {r.name: r.how for r in made.facts.reductions.values()} == {"kept": "mean"}


TRAINER = """
class Trainer:
    def __init__(self):
        self.losses = []
        self.history = {"loss": [], "size": []}

    def last(self):
        return self.losses[-1]

trainer = Trainer()
"""


def kept_by_the_trainer(*lines: str) -> dict[str, list[tuple[str, str]]]:
    return combined(plan(*BEFORE, TRAINER, batch(*lines) + "print(trainer.losses)\n"))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("trainer.losses.append(loss.item())", {"trainer.losses": [("loss.item()", "mean_over_ranks")]}),
        ("trainer.losses.append((epoch, len(x)))", {"trainer.losses": [("len(x)", "sum_over_ranks")]}),
        ("trainer.history['loss'].append(loss.item())", {"trainer.history": [("loss.item()", "mean_over_ranks")]}),
    ],
)
def test_what_an_object_collects_is_combined_as_it_goes_in(line, found):
    assert kept_by_the_trainer(line) == found


@pytest.mark.parametrize(
    "lines",
    [
        ("trainer.losses.append(epoch)",),
        ("if x.max() > 1:", "    trainer.losses.append(loss.item())"),
        ("trainer.losses.append(max(v.max().item() for v in x))",),
        ("trainer.losses.append(len(x))", "n = trainer.last()"),  # which would find the whole
        ("trainer.losses.append(loss.item())", "n = trainer.losses[-1]"),
    ],
)
def test_what_is_alike_not_understood_or_read_on_the_way_is_left_alone(lines):
    assert kept_by_the_trainer(*lines) == {}


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["row = {'loss': loss.item()}", "log.append(row)"], ["loss.item()"]),
        (["row = {}", "row['loss'] = loss.item()", "log.append(row)"], ["loss.item()"]),
        (["row = [loss.item(), 1]", "log.append(row)", "print(row)"], ["loss.item()"]),
        (["row = (loss.item(), 1)", "log.append(row)"], ["loss.item()"]),
        (["row = pair(loss)", "log.append(row)"], ["row"]),
    ],
)
def test_what_a_row_is_made_of(lines, found):
    made = plan(*BEFORE, "log = []\n\ndef pair(v):\n    return v.mean(), 2", batch(*lines) + "print(log)\n")
    assert [source for source, _ in combined(made)["log"]] == found


@pytest.mark.parametrize(
    "lines",
    [
        ["row = {'loss': loss.item(), 'n': 1}", "n = row['loss'] * 2", "log.append(row)"],
        ["row = {**{}, 'loss': loss.item(), 'n': 1}", "print(row)", "log.append(row)"],
        ["row = {'loss': loss.item()}", "if epoch:", "    row['n'] = 1", "print(row)", "log.append(row)"],
        ["row = (loss.item(), 1)", "log.append(row)", "print(row)"],
        ["row = {}", "row = {'loss': loss.item()}", "print(row)", "log.append(row)"],
    ],
)
def test_rows_that_somebody_reads_before_or_that_are_made_in_several_ways(lines):
    made = plan(*BEFORE, "log = []", batch(*lines) + "print(log)\n")
    assert "log" not in combined(made)


def test_what_a_called_function_puts_there_too_is_combined_nowhere():
    lines = ("trainer.losses.append(loss.item())", "keep(loss.item())")
    made = plan(
        *BEFORE, TRAINER + "def keep(v):\n    trainer.losses.append(v)\n", batch(*lines) + "print(trainer.losses)\n"
    )
    assert not combined(made)
