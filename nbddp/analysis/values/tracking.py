"""Whether anything changed: a call or a turn of a loop that changes nothing need not be run again.

What is found is only ever added to; what things are (`TrackedState`) may change and change back within a turn.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")
_MISSING = object()


class _Last:
    """Each change is an object of its own: of exports side by side, none takes another's change for no change."""

    change: object = object()
    finding: object = object()


def note_change() -> None:
    """Of what is found, or of what a later turn may come to by another way."""
    _Last.change = _Last.finding = object()


def note_state() -> None:
    _Last.change = object()


def last_change() -> object:
    """The same object as long as nothing that is tracked has changed."""
    return _Last.change


def last_finding() -> object:
    """The same object as long as only the state has changed, which may have come back to what it was."""
    return _Last.finding


class Tracked:
    """A record whose fields are tracked."""

    def __setattr__(self, name: str, value: Any) -> None:
        fields = self.__dict__
        old = fields.get(name, value)
        if old is not value and old != value:
            note_change()  # but not where a record is made: it is found nowhere until it is put somewhere
        fields[name] = value


class TrackedDict(dict[K, V]):
    note = staticmethod(note_change)

    def __setitem__(self, key: K, value: V) -> None:
        old = self.get(key, _MISSING)
        if old is not value and old != value:
            self.note()
        super().__setitem__(key, value)

    def __delitem__(self, key: K) -> None:
        self.note()
        super().__delitem__(key)

    def __ior__(self, other: Any) -> TrackedDict[K, V]:  # type: ignore[override, misc]
        for key, value in dict(other).items():
            self[key] = value
        return self

    def update(self, *args: Any, **kwargs: Any) -> None:
        self.note()
        super().update(*args, **kwargs)

    def setdefault(self, key: K, default: V) -> V:
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: K, default: Any = None) -> Any:
        if key in self:
            self.note()
        return super().pop(key, default)


class TrackedState(TrackedDict[K, V]):
    note = staticmethod(note_state)


class TrackedSet(set[V]):
    def add(self, element: V) -> None:
        if element not in self:
            note_change()
        super().add(element)

    def update(self, *others: Iterable[V]) -> None:
        size = len(self)
        super().update(*others)
        if len(self) != size:
            note_change()

    def __ior__(self, other: Iterable[V]) -> TrackedSet[V]:  # type: ignore[override, misc]
        self.update(other)
        return self


class TrackedSets(TrackedDict[K, set[V]]):
    """A set for each key; the first thing that is put in makes it."""

    def __missing__(self, key: K) -> set[V]:
        self[key] = TrackedSet()
        return self[key]
