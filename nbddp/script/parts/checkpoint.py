"""State that outlives a process: checkpoints, the state to start from, and what goes into such files."""

# mypy: ignore-errors
# ruff: noqa: PERF203

import argparse
import collections
import copy
import os
import random
import sys

import torch
import torch.distributed as dist

from nbddp.script.parts.reporting import progress, report

command_line = argparse.Namespace(resume=None, checkpoint=None, checkpoint_every=1)  # run_rank puts the real one here


def load_states(**state):
    """Starts from what a checkpoint or the notebook has come to; returns how many epochs are done, None for all."""
    progress.loop += 1
    path = command_line.resume or os.environ.get("NBDDP_START")
    saved = read_checkpoint(path) if path else {"states": {}}
    if progress.loop < saved.get("loop", 0):  # it is of a later one of the training loops
        if dist.get_rank() == 0:
            known = "behind the checkpoint" if command_line.resume else "done in the notebook already"
            print(f"training {progress.loop} is {known} and is skipped; its numbers are not told again")
        return None
    if progress.loop > saved.get("loop", progress.loop):  # of an earlier one; this has models of its own
        own = saved.get("later", {}).get(progress.loop, {})
        for name in state.keys() & own.keys():
            state[name].load_state_dict(own[name])
        return 0
    if command_line.resume and (missing := state.keys() - saved["states"].keys()):
        raise SystemExit(f"{path} has nothing for {', '.join(sorted(missing))}")
    for name in (state.keys() & saved["states"].keys()) - progress.begun:  # a second loop goes on from the first
        state[name].load_state_dict(saved["states"][name])
    progress.begun |= state.keys()
    if dist.get_rank() < len(saved.get("random", ())):
        set_random_state(saved["random"][dist.get_rank()])
    return saved.get("epochs_done", 0)


def read_checkpoint(path):
    """Or the state that a notebook has come to; on the processor, and running no code."""
    saved = torch.load(path, map_location="cpu", weights_only=True)
    if not (isinstance(saved, dict) and "states" in saved):
        raise SystemExit(f"{path} is no checkpoint of a training: name a file that --checkpoint has written")
    return saved


def save_checkpoint(path, epochs_done, **state):
    """Rank 0 writes what a later run needs to go on, on any number of processes."""
    states = [None] * dist.get_world_size()
    dist.all_gather_object(states, random_state())
    if dist.get_rank() == 0:
        content = {"format": 1, "loop": progress.loop, "epochs_done": epochs_done, "random": states}
        content |= {"values": {}, "on_gpu": []}
        content["states"] = {name: plain(thing.state_dict()) for name, thing in state.items()}
        for name, value in progress.carried.get(progress.loop, dict)().items():
            try:
                content["values"][name] = plain(list(value) if isinstance(value, collections.deque) else value)
                content["on_gpu"] += [name] if any(tensor.is_cuda for tensor in tensors_in(value)) else []
            except (TypeError, ValueError, RecursionError) as reason:
                print(f"'{name}' is not in the checkpoint: {reason}", file=sys.stderr)
        save_whole(content, path)
        report("checkpoint", epoch=epochs_done - 1, path=path)


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
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().clone()
    if isinstance(value, dict):
        saved = copy.copy(value) if type(value) in (collections.OrderedDict, collections.Counter) else {}
        for key, item in value.items():
            saved[plain(key)] = plain(item)
        return saved
    if isinstance(value, (list, tuple)):
        return (list if isinstance(value, list) else tuple)(plain(item) for item in value)
    if hasattr(value, "dtype"):  # an array or a number of NumPy
        return {"__ndarray__": torch.from_numpy(value.copy())} if value.shape else plain(value.item())
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise TypeError(f"a {type(value).__name__} cannot be saved as plain data")


def not_plain(value, device="cpu"):
    """The value that plain() was given, with its tensors on this device."""
    if isinstance(value, dict):
        if value.keys() == {"__ndarray__"}:
            return value["__ndarray__"].numpy()
        value.update((key, not_plain(item, device)) for key, item in list(value.items()))
    elif isinstance(value, (list, tuple)):
        return type(value)(not_plain(item, device) for item in value)
    return value.to(device) if isinstance(value, torch.Tensor) else value


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (dict, list, tuple)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(item)


def save_whole(content, path):
    """Writes beside and renames, so that nobody ever reads half a file."""
    torch.save(content, f"{path}.part")
    os.replace(f"{path}.part", path)
