"""What has to happen around each epoch."""

# mypy: ignore-errors

import operator
import os

import torch
import torch.distributed as dist

from nbddp.script.parts.checkpoint import command_line, load_states, save_checkpoint
from nbddp.script.parts.exchange import any_rank
from nbddp.script.parts.gradients import same_on_all_ranks
from nbddp.script.parts.reporting import epoch_begins


def resumable(epochs, /, **state):
    """Goes through the epochs that are left to do; between two of them the state is compared and saved."""
    compare_after_first_step(**state)
    done, total = load_states(**state), operator.length_hint(epochs) or None
    for number, epoch in enumerate(() if done is None else epochs):
        if number >= done:
            epoch_begins(number, total)
            yield epoch
            if epoch_done(number, **state):
                break


def epochs_before(**state):
    """How many epochs are behind the state that this run starts from; for a loop that counts them itself."""
    compare_after_first_step(**state)
    done = load_states(**state)
    if done is None:
        raise SystemExit(f"{command_line.resume} is of a later loop of this training, which this loop cannot skip to")
    return done


def epoch_done(number, /, **state):
    """Compares and saves the state; true when the training is asked to end here."""
    same_on_all_ranks(**state)
    stop = stop_asked()
    if command_line.checkpoint and (stop or (number + 1) % command_line.checkpoint_every == 0):
        save_checkpoint(command_line.checkpoint, number + 1, **state)
    return stop


def stop_asked():
    """Whether the file is there by which one asks for an end; rank 0 looks for all."""
    path = os.environ.get("NBDDP_STOP")
    return path is not None and any_rank(dist.get_rank() == 0 and os.path.exists(path))


def compare_after_first_step(**state):
    """A loss that went past DDP shows in the first step already."""
    to_do = {thing for thing in state.values() if isinstance(thing, torch.optim.Optimizer)}

    def compare(optimizer, *_):
        if optimizer in to_do:
            to_do.remove(optimizer)
            same_on_all_ranks(**state)

    for optimizer in list(to_do):
        optimizer.register_step_post_hook(compare)
