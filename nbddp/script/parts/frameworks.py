"""What a training framework has to know of the processes."""

# mypy: ignore-errors

import contextlib
import os

import torch
import torch.distributed as dist


def ranks_here():
    """How many processes train on this machine."""
    return int(os.environ["LOCAL_WORLD_SIZE"])


def in_its_context(learner):
    """fastai's own context for several processes, which takes GPUs; one alone trains as the notebook does."""
    if dist.get_world_size() == 1:
        return contextlib.nullcontext()
    if not torch.cuda.is_available():
        raise SystemExit("fastai trains on several processes on GPUs only; without one, use --nproc 1")
    return learner.distrib_ctx()
