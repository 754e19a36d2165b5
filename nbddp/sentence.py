"""Sentences that a page can say in another language: English text that knows its form and what was put in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

Words = list[Any]  # the form, with %1, %2 … in it, and the values; a value may be words itself


class Sentence(str):
    """To Python it is the English text."""

    __slots__ = ("words",)
    words: Words


def sentence(form: str, *values: object) -> Sentence:
    """The form is written out where this is called: there tools/messages finds it for the translators."""
    shown = Sentence(re.sub(r"%([1-9])", lambda found: str(values[int(found[1]) - 1]), form))
    shown.words = [form, *(words_of(value) for value in values)]
    return shown


NOTHING = Sentence()
NOTHING.words = [""]


def listed(parts: Iterable[Sentence]) -> Sentence:
    """One after the other, with commas between."""
    return reduce(lambda before, one: sentence("%1, %2", before, one), parts)


def words_of(value: object) -> object:
    """As JSON; text and numbers go as they are, and whatever else there is as its text."""
    if isinstance(value, Sentence):
        return value.words
    return value if isinstance(value, str | int | float) else str(value)


Translate = Callable[[str], str]


def said(words: object, translate: Translate) -> str:
    """In the language that `translate` knows."""
    if not isinstance(words, list):
        return str(words)
    form, *values = words
    return re.sub(r"%([1-9])", lambda found: said(values[int(found[1]) - 1], translate), translate(form))
