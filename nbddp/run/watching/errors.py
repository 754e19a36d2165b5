"""What an event says of an error. Its words are the user's: they may be of any length, or fail to be had."""

from __future__ import annotations

import sys
import traceback

Place = tuple[str, int, str]  # file, line, function
LONGEST = 20_000  # characters of a message
LEVELS = 100  # of a traceback, from each end


def described(error: BaseException) -> dict[str, object]:
    """Its fields."""
    return {
        "type": type(error).__name__,
        "message": words_of(error),
        "text": cut("".join(traceback.format_exception(type(error), error, error.__traceback__))),
        "traceback": places(traceback.extract_tb(error.__traceback__)),
    }


def places(frames: list[traceback.FrameSummary]) -> list[dict[str, object]]:
    """For an event; of an endless recursion the first and the last."""
    shown = [*frames[:LEVELS], *frames[LEVELS:][-LEVELS:]]
    return [{"file": f.filename, "line": f.lineno, "function": f.name} for f in shown]


def place_in_script() -> Place | None:
    """The line of the script that has called, through whatever library: all that is known if it is killed later."""
    script, frame = getattr(sys.modules["__main__"], "__file__", None), sys._getframe(1)  # noqa: SLF001
    while frame.f_back is not None and frame.f_code.co_filename != script:
        frame = frame.f_back
    code = frame.f_code
    return (code.co_filename, frame.f_lineno, code.co_name) if code.co_filename == script else None


def words_of(error: BaseException) -> str:
    try:
        return cut(str(error))
    except Exception as problem:  # noqa: BLE001 -- it runs the code of the user's own class
        return f"(its message could not be had: {type(problem).__name__})"


def cut(text: str) -> str:
    """A text that a person can read, and whose event every reader takes whole: its beginning and its end."""
    left_out = len(text) - LONGEST
    return text if left_out <= 0 else f"{text[: LONGEST // 2]} … {left_out:,} characters … {text[-LONGEST // 2 :]}"
