"""Strings over several lines, whose insides no indentation may touch."""

from __future__ import annotations

import io
import tokenize


def lines_in_strings(text: str) -> set[int]:
    """Numbers of the lines of a text that begin inside of a string."""
    held: set[int] = set()
    starts: list[int] = []
    begin, end = getattr(tokenize, "FSTRING_START", -1), getattr(tokenize, "FSTRING_END", -1)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING:
                held.update(range(token.start[0] + 1, token.end[0] + 1))
            elif token.type == begin:
                starts.append(token.start[0])
            elif token.type == end:
                held.update(range(starts.pop() + 1, token.end[0] + 1))
    except (tokenize.TokenError, IndentationError):
        return held
    return held
