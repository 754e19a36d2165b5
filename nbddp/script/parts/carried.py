"""What a loop over epochs carries from one turn to the next besides the state, as a checkpoint has it."""

# mypy: ignore-errors

import collections
import contextlib
import os
import pickle

import torch

from nbddp.script.parts.checkpoint import command_line, not_plain, plain, read_checkpoint, tensors_in
from nbddp.script.parts.reporting import progress


def from_checkpoint(values):
    """What the loop that follows carries from epoch to epoch besides the state.

    As the checkpoint to resume has it, or the notebook that this run starts from. At the end of an epoch values() is
    asked again, for the next checkpoint.
    """
    progress.carried[progress.loop + 1] = values
    found, saved = values(), saved_values()
    for name in found.keys() & saved.keys():
        found[name] = in_place_of(found[name], saved[name])
    return list(found.values()) if len(found) > 1 else found.popitem()[1]


def in_place_of(value, new):
    """A list or a dictionary gets what is new: others may hold it, too."""
    if isinstance(value, dict) and isinstance(new, dict):
        value.clear()
        value.update(new)
    elif isinstance(value, (list, collections.deque)) and isinstance(new, list):
        value.clear()
        value.extend(new)
    else:
        return new
    return value


def saved_values():
    """Of the loop that follows; nothing where neither a checkpoint nor the notebook has any for it."""
    path = command_line.resume or os.environ.get("NBDDP_START")
    saved = read_checkpoint(path) if path else {}
    if saved.get("loop") != progress.loop + 1:
        return {}
    values, on_gpu = saved.get("values", {}), saved.get("on_gpu", ()) if torch.cuda.is_available() else ()
    return {name: not_plain(values[name], "cuda" if name in on_gpu else "cpu") for name in values}


def attributes_from_checkpoint(things):
    """The same for things that stay what they are: the plain values in them that have changed since the loop began."""
    saved = saved_values()
    if command_line.checkpoint:
        begun = {name: comparable(remembered(thing)) for name, thing in things.items()}
        values = progress.carried.get(progress.loop + 1, dict)
        progress.carried[progress.loop + 1] = lambda: values() | {n: changed(things[n], begun[n]) for n in things}
    for name in things.keys() & saved.keys():
        for attribute, value in saved[name].items():
            if attribute == "state_dict()":
                things[name].load_state_dict(value)
            elif attribute == "items":
                in_place_of(things[name], value)
            else:
                setattr(things[name], attribute, value)


def changed(thing, before):
    held = remembered(thing)
    return {name: held[name] for name, now in comparable(held).items() if now != before.get(name)}


def remembered(thing):
    """Its state where it knows it, what it holds; else its attributes, but for the parameters among them."""
    if isinstance(thing, (list, dict)):
        return {"items": thing}
    if hasattr(thing, "load_state_dict"):
        return {"state_dict()": thing.state_dict()}
    held = getattr(thing, "__dict__", {})
    return {name: value for name, value in held.items() if not any(t.requires_grad for t in tensors_in(value))}


def comparable(attributes):
    """Those that a file can hold, in a form in which tensors are as comparable as numbers."""
    found = {}
    for name, value in attributes.items():
        with contextlib.suppress(TypeError, ValueError, RecursionError):
            found[name] = pickle.dumps(plain(value))
    return found
