"""Verdicts on runs: what must be equal, what may differ, and what is never overlooked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.corpus.judge import Verdict, differences
from tests.corpus.runs import Run
from tests.corpus.table import summary


def run(*losses: float, ended: str = "done", lines: tuple[str, ...] = (), ranks: int = 1, drew: bool = False) -> Run:
    events: list[dict[str, Any]] = [{"event": "backward", "loss": loss, "drew": drew} for loss in losses]
    return Run(ended, 1.0, dict.fromkeys(range(ranks), events), lines)


def test_equal_losses_and_lines_agree() -> None:
    assert differences(run(1.0, 0.5, lines=("loss 0.5",)), run(1.0, 0.5, lines=("loss 0.5",)), 2) == ("agrees", [])


def test_another_loss_is_told_with_its_step() -> None:
    word, found = differences(run(1.0, 0.5), run(1.0, 0.6), 2)
    assert word == "differs"
    assert found == ["loss of step 2 is 0.6, in one process 0.5"]


def test_random_draws_excuse_numbers_on_several_processes_only() -> None:
    one, other = run(1.0, 0.5, drew=True), run(1.0, 0.55, drew=True)
    assert differences(one, other, 2)[0] == "alike"
    assert differences(one, other, 1)[0] == "differs"


def test_random_draws_excuse_no_other_course_and_no_missing_step() -> None:
    assert differences(run(1.0, 0.5, drew=True), run(9.0, 9.5), 2)[0] == "differs"
    assert differences(run(1.0, 0.5, drew=True), run(1.0), 2)[0] == "differs"


def test_a_line_that_is_not_printed_is_seen() -> None:
    assert differences(run(1.0, lines=("a 1", "b 2")), run(1.0, lines=("a 1",)), 2)[0] == "differs"


def test_a_number_of_which_the_export_has_told_may_differ() -> None:
    one, two = run(1.0, lines=("accuracy 20.8",)), run(1.0, lines=("accuracy 22.9",))
    assert differences(one, two, 2)[0] == "differs"
    assert differences(one, two, 2, ("'accuracy' covers only rank 0's part of the data",))[0] == "agrees"


def test_times_are_no_numbers_of_the_training() -> None:
    for words in ("took %s s", "Duration %s"):
        one, two = (run(1.0, lines=(words % number,)) for number in (3.1, 9.4))
        assert differences(one, two, 2)[0] == "agrees"


def test_the_summary_counts_both_errors_of_the_check() -> None:
    can, cannot = ({"trains": True, "checked": word} for word in ("can export", "cannot export"))
    verdicts = [
        Verdict("agrees", details=can),
        Verdict("differs", details=can),
        Verdict("refused", "undefined: no cell before this one defines 'x'", details=cannot),
        Verdict("refused", "shard: whole tensors", details=cannot),
    ]
    text = summary(verdicts)
    assert "1 of 3 (33%) train the same on two" in text
    assert "check said fine and it went wrong: 1; refused with something to share: 1" in text


def test_what_ranks_print_differently_is_no_matter_of_random_draws() -> None:
    def printed(*texts: str) -> Run:
        events = {
            rank: [{"event": "backward", "loss": 1.0, "drew": True}, {"event": "print", "text": text}]
            for rank, text in enumerate(texts)
        }
        return Run("done", 1.0, events)

    plain = run(1.0, drew=True)
    assert differences(plain, printed("3 hits, 1.2 seconds", "3 hits, 1.4 seconds"), 2)[0] == "agrees"
    word, found = differences(plain, printed("hits 3", "hits 4"), 2)
    assert word == "differs"
    assert found[-1] == "rank 1 prints 'hits 4', rank 0 'hits 3'"
    assert differences(plain, printed("hits 3", "hits 4"), 2, told=("only rank 0's part",))[0] == "agrees"


def test_what_ranks_leave_differently_is_seen() -> None:
    left = [{"states": {}, "values": {"hits": hits, "elapsed": hits}} for hits in (3, 4)]
    found = differences(run(1.0), replace(run(1.0, ranks=2), left=left[0], others=(left[1],)), 2)[1]
    assert [text.partition(":")[0] for text in found] == ["hits of rank 1 is another than that of rank 0"]
