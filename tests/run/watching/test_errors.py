"""What an event says of an error."""

from __future__ import annotations

from nbddp.run.watching.errors import LEVELS, LONGEST, cut, described


class Speechless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def raised(error: Exception) -> dict[str, object]:
    try:
        raise error
    except Exception as caught:  # noqa: BLE001
        return described(caught)


def deep(levels: int) -> int:
    return deep(levels - 1) if levels else 1 // 0


def test_an_error_in_words():
    told = raised(ValueError("bad label"))
    assert (told["type"], told["message"]) == ("ValueError", "bad label")
    assert str(told["text"]).endswith("ValueError: bad label\n")


def test_a_message_that_fails_is_no_failure_of_ours():
    assert raised(Speechless())["message"] == "(its message could not be had: RuntimeError)"


def test_of_a_long_message_the_beginning_and_the_end():
    message = str(raised(ValueError("a" * 10_000_000 + "b"))["message"])
    assert len(message) < LONGEST + 100
    assert message.startswith("aaa")
    assert message.endswith("aab")
    assert "9,980,001 characters" in message
    assert cut("short") == "short"


def test_of_a_deep_recursion_the_first_and_the_last():
    try:
        deep(500)
    except ZeroDivisionError as error:
        told = described(error)["traceback"]
    assert isinstance(told, list)
    assert (len(told), told[0]["function"], told[-1]["function"]) == (
        2 * LEVELS,
        "test_of_a_deep_recursion_the_first_and_the_last",
        "deep",
    )
