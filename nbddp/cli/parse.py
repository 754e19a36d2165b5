"""Arguments read the same way by every verb: whole option names only, and the nearest one offered for a slip."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import takewhile
from typing import Any, NoReturn


class Refusal(Exception):
    """What was asked cannot be done; the sentence is all that the user needs to see."""


class Parser(argparse.ArgumentParser):
    """argparse, but a mistake becomes a Refusal, and options are not guessed from their first letters."""

    def __init__(self, **settings: Any) -> None:
        self.options: list[str] = []
        super().__init__(allow_abbrev=False, **settings)

    def add_argument(self, *names: Any, **settings: Any) -> argparse.Action:
        action = super().add_argument(*names, **settings)
        self.options += action.option_strings
        return action

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        for word in takewhile(lambda word: word != "--", words):
            self._refuse_unknown(word)
        return self.parse_args(words)

    def error(self, message: str) -> NoReturn:
        verb = self.prog.removeprefix("nbddp ")
        raise Refusal(f"{verb}: {message}; see `{self.prog} --help`")

    def _refuse_unknown(self, word: str) -> None:
        """argparse would first complain of whatever the misspelt option left missing."""
        name = word.partition("=")[0] if word.startswith("--") else word[:2]
        if name.startswith("-") and name != "-" and name not in self.options and not name[1:].isdigit():
            near = nearest(name, self.options) if name.startswith("--") else ""  # any letter is near any other
            self.error(f"no option {name!r}{near}")


def nearest(word: str, known: Iterable[str]) -> str:
    """ " (did you mean …?)" where something known is close, else nothing."""
    close = get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


def cell_number(word: str) -> int:
    return _positive(word, "the number of a cell")


def process_count(word: str) -> int:
    return _positive(word, "a number of processes, at least 1")


def _positive(word: str, what: str) -> int:
    if not (word.isdecimal() and int(word) > 0):
        raise argparse.ArgumentTypeError(f"it takes {what}, not {word!r}")
    return int(word)
