"""What a loop over epochs carries from one turn to the next besides the state: values, and what is in things."""

from __future__ import annotations

import collections
import contextlib
import pickle
from collections.abc import Callable, Mapping
from typing import Any

from nbddp.run.watching.plain_values import plain, tensors_in

NOTHING = object()  # in place of the value of a name that has none


def known(values: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """Those that have a value by now."""
    found = {}
    for name, value in values.items():
        with contextlib.suppress(NameError):
            found[name] = value()
    return found


def in_place_of(value: Any, new: Any) -> Any:
    """A list or a dictionary gets what is new: others may hold it, too."""
    if isinstance(value, dict) and isinstance(new, dict):
        value.clear()
        value.update(new)
    elif isinstance(value, list | collections.deque) and isinstance(new, list):
        value.clear()
        value.extend(new)
    else:
        return new
    return value


def put_back(thing: Any, saved: Mapping[str, Any]) -> None:
    """What `changed` has found, into a thing that stays what it is."""
    for attribute, value in saved.items():
        if attribute == "state_dict()":
            thing.load_state_dict(value)
        elif attribute == "items":
            in_place_of(thing, value)
        else:
            setattr(thing, attribute, value)


def changed(thing: Any, before: Mapping[str, bytes]) -> dict[str, Any]:
    """What it holds that is no longer what it was."""
    held = remembered(thing)
    return {name: held[name] for name, now in comparable(held).items() if now != before.get(name)}


def remembered(thing: Any) -> dict[str, Any]:
    """Its state where it knows it, what it holds; else its attributes, but for the parameters among them."""
    if isinstance(thing, list | dict):
        return {"items": thing}
    if hasattr(thing, "load_state_dict"):
        return {"state_dict()": thing.state_dict()}
    held = getattr(thing, "__dict__", {})
    return {name: value for name, value in held.items() if not any(t.requires_grad for t in tensors_in(value))}


def comparable(attributes: Mapping[str, Any]) -> dict[str, bytes]:
    """Those that a file can hold, in a form in which tensors are as comparable as numbers."""
    found = {}
    for name, value in attributes.items():
        with contextlib.suppress(TypeError, ValueError, RecursionError):
            found[name] = pickle.dumps(plain(value))
    return found
