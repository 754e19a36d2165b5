"""A model of which each process keeps a part (FSDP2), and its state as one process would have it."""

# mypy: ignore-errors

from collections import Counter

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import StateDictOptions, set_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

from nbddp.script.parts.exchange import from_rank_0, sending_device
from nbddp.script.parts.gradients import broadcast_model


def shard(model):
    """Splits parameters, gradients and the optimizer's state among the processes; a block is whole while it computes.

    Outside of forward() and backward() nothing is whole, or a step would change only what no later forward() reads.
    """
    broadcast_model(model)
    mesh = init_device_mesh(sending_device().type, (dist.get_world_size(),))
    for block in blocks_of(model):
        fully_shard(block, mesh=mesh, reshard_after_forward=True)
    fully_shard(model, mesh=mesh, reshard_after_forward=True)


def blocks_of(model):
    """What its lists and sequences of layers hold, the outermost of them; not what shares parameters with others."""
    lists = (torch.nn.ModuleList, torch.nn.ModuleDict)
    uses = Counter(p for module in model.modules() for p in module.parameters(recurse=False))
    blocks, waiting = [], [model]
    while waiting:
        module = waiting.pop(0)
        for child in module.children():
            if isinstance(child, lists) or not isinstance(module, (*lists, torch.nn.Sequential)):
                waiting.append(child)
            elif child not in blocks and any(True for _ in child.parameters()):
                blocks += [child] if all(uses[p] == 1 for p in child.parameters()) else []
    return blocks


def full_state_dict(thing, everywhere=False):
    """The state of a sharded model, or of its optimizer, in whole tensors. All have to ask for it; rank 0 gets it."""
    state, kept = thing.state_dict(), everywhere or dist.get_rank() == 0
    for key, value in state.items():
        state[key] = put_together(value, kept)
    return state if kept else {}


def put_together(value, kept):
    """Of one tensor after the other, each put together where it is split, and brought to the CPU."""
    if isinstance(value, dict):
        return {key: put_together(inner, kept) for key, inner in value.items()}
    if isinstance(value, DTensor):
        value = value.full_tensor()
    return value.detach().cpu() if kept and isinstance(value, torch.Tensor) else value


def load_full_state_dict(thing, state_dict, strict=True):
    """Gives each process its part of the state that rank 0 has."""
    if isinstance(thing, torch.nn.Module):
        options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True, strict=strict)
        return set_model_state_dict(thing, dict(state_dict), options=options)
    return thing.load_state_dict(own_part(thing, state_dict))


def own_part(optimizer, state):
    """This process's part of an optimizer's state: each tensor is dealt out as its parameter is."""
    device, first = sending_device(), dist.get_rank() == 0
    outline = {n: {k: outlined(v) for k, v in values.items()} for n, values in state["state"].items()} if first else {}
    found = from_rank_0({**state, "state": outline} if first else None)
    numbers = [number for group in found["param_groups"] for number in group["params"]]
    own = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for number, parameter in zip(numbers, own, strict=False):
        for key, value in found["state"].get(number, {}).items():
            if torch.is_tensor(value) and value.is_meta:
                sent = state["state"][number][key].to(device) if first else torch.empty_like(value, device=device)
                found["state"][number][key] = distribute_tensor(sent, parameter.device_mesh, parameter.placements)
    return found


def equally_often(size, samples):
    """A batch size, this or a little more, by which all processes have equally many batches of their share."""
    each, more = divmod(samples, dist.get_world_size())
    if not each:
        raise ValueError(f"{samples} samples are too few: each process has to evaluate a sharded model equally often")
    while more and each % size == 0:
        size += 1
    return size


def outlined(value):
    """A tensor's shape in place of it; numbers stay."""
    return value.to("meta") if torch.is_tensor(value) and value.dim() else value
