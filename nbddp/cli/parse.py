"""Arguments read the same way by every verb: whole option names only, and the nearest one offered for a slip."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from functools import partial
from itertools import takewhile
from typing import Any, NoReturn


class Refusal(Exception):
    """What was asked cannot be done; the sentence is all that the user needs to see."""


Values = Callable[[], Iterable[str]]
INTERVAL = re.compile(r"0*[1-9][0-9]*[smhe]?|[0-9]*\.0*[1-9][0-9]*[smh]")  # between checkpoints


class Parser(argparse.ArgumentParser):
    """argparse, but a mistake becomes a Refusal, and options are not guessed from their first letters."""

    def __init__(self, **settings: Any) -> None:
        self.options: list[str] = []
        self.values: dict[str, Values] = {}  # to choose from: of each option that takes one, and of "", what is none
        self.rest = ""  # what may follow a `--`, where something may
        self.examples: tuple[str, ...] = ()
        super().__init__(allow_abbrev=False, **settings)

    def add_argument(self, *names: Any, values: Values = tuple, **settings: Any) -> argparse.Action:
        action = super().add_argument(*names, **settings)
        self.options += action.option_strings
        if action.nargs != 0:
            among: Values = partial(tuple, action.choices) if action.choices else values
            self.values |= dict.fromkeys(action.option_strings or ("",), among)
        return action

    def format_help(self) -> str:
        """As argparse has it, and what may follow a `--`, and examples."""
        if self.rest and self.usage is None:
            usage = self.format_usage()[len("usage: ") :].strip().replace("%", "%%")
            self.usage, self.epilog = f"{usage} [-- …]", f"After --: {self.rest}."
        examples = "".join(f"\n  {line}" for line in self.examples)
        return super().format_help() + (f"\nexamples:{examples}\n" if examples else "")

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        own = list(takewhile(lambda word: word != "--", words))
        for word in own:
            self._refuse_unknown(word)
        if not self.rest:
            return self.parse_args(words)
        return self.parse_args(own, argparse.Namespace(rest=words[len(own) + 1 :]))

    def error(self, message: str) -> NoReturn:
        verb = self.prog.removeprefix("nbddp ")
        raise Refusal(f"{verb}: {message}; see `{self.prog} --help`")

    def _refuse_unknown(self, word: str) -> None:
        """argparse would first complain of whatever the misspelt option left missing."""
        name = word.partition("=")[0] if word.startswith("--") else word[:2]
        if name.startswith("-") and name != "-" and name not in self.options and not name[1:].isdigit():
            near = nearest(name, self.options) if name.startswith("--") else ""  # any letter is near any other
            after = "; the script's own options follow a --" if self.rest and not near else ""
            self.error(f"no option {name!r}{near}{after}")


def nearest(word: str, known: Iterable[str]) -> str:
    """ " (did you mean …?)" where something known is close, else nothing. Dashes make no two options alike."""
    names = {name.lstrip("-"): name for name in known}
    close = get_close_matches(word.lstrip("-"), list(names), n=1)
    return f" (did you mean {names[close[0]]!r}?)" if close else ""


def cell_number(word: str) -> int:
    return _whole(word, 1, "the number of a cell")


def process_count(word: str) -> int:
    return _whole(word, 1, "a number of processes, at least 1")


def checkpoint_interval(word: str) -> str:
    if not INTERVAL.fullmatch(word):
        raise argparse.ArgumentTypeError(
            f"it takes a time as 90s, 10m or 2h, epochs as 2e, or batches as 500, not {word!r}"
        )
    return word


def count_of_nodes(word: str) -> int:
    return _whole(word, 1, "a number of nodes, at least 1")


def count_of_steps(word: str) -> int:
    return _whole(word, 2, "a number of steps, at least 2")


def natural(word: str) -> int:
    return _whole(word, 0, "a number, 0 or more")


def device_numbers(word: str) -> tuple[int, ...]:
    return tuple(_whole(part, 0, "numbers of GPUs such as 0,1") for part in word.split(","))


def _whole(word: str, least: int, what: str) -> int:
    if not (word.isdecimal() and int(word) >= least):
        raise argparse.ArgumentTypeError(f"it takes {what}, not {word!r}")
    return int(word)
