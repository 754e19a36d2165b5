"""State that outlives a process: checkpoints, the state to start from, the result."""

# mypy: ignore-errors

import argparse
import collections
import copy
import os
import random
import sys

import torch
import torch.distributed as dist

from nbddp.script.parts.reporting import report

command_line = argparse.Namespace(resume=None, checkpoint=None, checkpoint_every=1)  # run_rank puts the real one here


def load_states(**state):
    """Starts from where a checkpoint or the notebook has come to; returns the number of epochs behind that."""
    path = command_line.resume or os.environ.get("NBDDP_START")
    if path is None:
        return 0
    saved = torch.load(path, map_location="cpu", weights_only=True)
    if command_line.resume and (missing := state.keys() - saved["states"].keys()):
        raise SystemExit(f"{path} has nothing for {', '.join(sorted(missing))}")
    for name in state.keys() & saved["states"].keys():
        set_state(state[name], saved["states"][name])
    if dist.get_rank() < len(saved.get("random", ())):
        set_random_state(saved["random"][dist.get_rank()])
    return saved.get("epochs_done", 0)


def save_checkpoint(path, epochs_done, **state):
    """Rank 0 writes what a later run needs to go on, on any number of processes."""
    states_of_random = [None] * dist.get_world_size()
    dist.all_gather_object(states_of_random, random_state())
    if dist.get_rank() == 0:
        states = {name: get_state(thing) for name, thing in state.items()}
        save_whole({"format": 1, "epochs_done": epochs_done, "states": states, "random": states_of_random}, path)
        report("checkpoint", epoch=epochs_done - 1, path=path)


def get_state(thing):
    """Of a model, an optimizer and the like; lists and dicts are their own state."""
    return plain(thing.state_dict() if hasattr(thing, "state_dict") else thing)


def set_state(thing, state):
    if hasattr(thing, "load_state_dict"):
        thing.load_state_dict(state)
    elif isinstance(thing, dict):
        thing.update(state)
    else:
        thing[:] = state


def random_state():
    """Where the random numbers of this process have come to."""
    state = {"python": random.getstate(), "torch": torch.get_rng_state()}
    if "numpy" in sys.modules:
        kind, keys, *rest = sys.modules["numpy"].random.get_state()
        state["numpy"] = (kind, keys.tolist(), *rest)
    if torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state()
    return state


def set_random_state(state):
    random.setstate(state["python"])
    torch.set_rng_state(state["torch"])
    if "numpy" in state and "numpy" in sys.modules:
        sys.modules["numpy"].random.set_state(state["numpy"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])


def plain(value):
    """The value as a file can hold it that runs no code when it is read; a TypeError where none can."""
    numpy = sys.modules.get("numpy")
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().clone()
    if numpy and isinstance(value, numpy.ndarray):
        return {"__ndarray__": torch.from_numpy(value.copy())}
    if isinstance(value, dict):
        saved = copy.copy(value) if type(value) in (collections.OrderedDict, collections.Counter) else {}
        for key, item in value.items():
            saved[plain(key)] = plain(item)
        return saved
    if isinstance(value, (list, tuple)):
        return (list if isinstance(value, list) else tuple)(plain(item) for item in value)
    if numpy and isinstance(value, numpy.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise TypeError(f"a {type(value).__name__} cannot be saved as plain data")


def save_whole(content, path):
    """Writes beside and renames, so that nobody ever reads half a file."""
    torch.save(content, f"{path}.part")
    os.replace(f"{path}.part", path)
