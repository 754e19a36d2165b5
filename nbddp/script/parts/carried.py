"""What a loop over epochs carries from one turn to the next besides the state, as a checkpoint has it."""

# mypy: ignore-errors

import contextlib
import pickle

import torch

from nbddp.script.parts.checkpoint import command_line, not_plain, plain, tensors_in
from nbddp.script.parts.reporting import progress


def from_checkpoint(values):
    """What the loop that follows carries from epoch to epoch besides the state, as the checkpoint to resume has it.

    At the end of an epoch values() is asked again, for the next checkpoint.
    """
    progress.carried[progress.loop + 1] = values
    found, saved = values(), saved_values()
    for name in found.keys() & saved.keys():
        value, new = found[name], saved[name]
        if isinstance(value, (list, dict)) and isinstance(new, type(value)):  # others may hold it, too
            value.clear()
            (value.extend if isinstance(value, list) else value.update)(new)
        else:
            found[name] = new
    return list(found.values()) if len(found) > 1 else found.popitem()[1]


def saved_values():
    """Of the loop that follows; nothing where no checkpoint is resumed, or one of another loop."""
    saved = torch.load(command_line.resume, map_location="cpu", weights_only=True) if command_line.resume else {}
    if saved.get("loop") != progress.loop + 1:
        return {}
    values, on_gpu = saved.get("values", {}), saved.get("on_gpu", ()) if torch.cuda.is_available() else ()
    return {name: not_plain(values[name], "cuda" if name in on_gpu else "cpu") for name in values}


def attributes_from_checkpoint(things):
    """The same for things of other modules: the plain values that they have changed since the loop began."""
    begun = {name: comparable(remembered(thing)) for name, thing in things.items()}
    values, saved = progress.carried.get(progress.loop + 1, dict), saved_values()

    def with_attributes():
        found = {name: remembered(thing) for name, thing in things.items()}
        now = {name: comparable(held) for name, held in found.items()}
        return values() | {n: {a: found[n][a] for a in now[n] if now[n][a] != begun[n].get(a)} for n in things}

    progress.carried[progress.loop + 1] = with_attributes
    for name in things.keys() & saved.keys():
        for attribute, value in saved[name].items():
            if attribute == "state_dict()":
                things[name].load_state_dict(value)
            else:
                setattr(things[name], attribute, value)


def remembered(thing):
    """Its state where it knows it; else its attributes, but for the parameters that it may hold."""
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
