"""What the processes tell each other."""

# mypy: ignore-errors

import contextlib
import io
import os
from datetime import timedelta

import torch
import torch.distributed as dist


def sending_device():
    """Where a tensor has to lie for the processes to exchange it."""
    return torch.device("cuda" if dist.get_backend() == "nccl" else "cpu")


def from_rank_0(value):
    """The value that rank 0 has, on all processes."""
    message = [value.detach().cpu() if isinstance(value, torch.Tensor) else value]
    dist.broadcast_object_list(message)
    return message[0]


@contextlib.contextmanager
def folder_of_rank_0(folder):
    """The temporary folder that rank 0 has made, which is there until all have left it."""
    with folder as own:
        yield from_rank_0(own)
        dist.barrier()


made_to_last = []  # as long as the process: they would go with their last names, while others may still read them


def lasting(temporary):
    """A temporary folder or file that is there to the end."""
    made_to_last.append(temporary)
    return temporary


def gathered(value):
    """The values that the processes have, by rank; what lay on another's GPU comes to the GPU of this one."""
    buffer, sent = io.BytesIO(), [None] * dist.get_world_size()
    torch.save(value, buffer)
    dist.all_gather_object(sent, buffer.getvalue())
    places = {"map_location": lambda storage, place: storage if place == "cpu" else storage.cuda()}
    return [torch.load(io.BytesIO(data), weights_only=False, **places) for data in sent]


def any_rank(flag):
    """True on all processes when it is true on one."""
    flags = torch.tensor(int(bool(flag)), device=sending_device())
    dist.all_reduce(flags, dist.ReduceOp.MAX)
    return bool(flags)


def all_ranks(flag):
    """True on all processes when it is true on each of them."""
    return not any_rank(not flag)


@contextlib.contextmanager
def first_on_rank_0():
    """Has one process of each machine go first, with a download for example; the others follow when it is done."""
    patient = dist.new_group(backend="gloo", timeout=timedelta(days=1))  # a download may take longer than a step may
    first, failed = first_of_machine(), torch.ones(1)
    try:
        if first:
            yield
        failed.zero_()
    finally:
        dist.all_reduce(failed, group=patient)
    if failed:
        raise RuntimeError("the process that went first has failed")
    if not first:
        yield
    dist.barrier(patient)  # nobody reads what another may still be writing


def first_of_machine():
    """Whether this process does for its machine what has to be done once, on the disk."""
    return int(os.environ.get("LOCAL_RANK", dist.get_rank())) == 0
