"""What a cell prints, overheard: its numbers become curves, as those of any run do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

MOST_PIECES = 1000  # of one line: dots that are printed for hours say nothing


def overhear(say: Callable[[str], object]) -> Callable[[], object]:
    """Lines of standard output from here on; what is returned ends it. A stream that takes no attributes is left."""
    stream = sys.stdout
    own = stream.write
    begun: list[str] = []

    def write(text: str) -> Any:
        if "\n" in text:
            *lines, rest = "".join((*begun, text)).split("\n")
            begun[:] = [rest] if rest else []
            for line in lines:
                say(line)
        elif text and len(begun) < MOST_PIECES:
            begun.append(text)
        return own(text)

    try:
        stream.write = write  # type: ignore[method-assign]
    except AttributeError:
        return lambda: None
    return lambda: vars(stream).pop("write", None)
