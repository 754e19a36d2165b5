"""Models that DDP cannot wrap, and a look at whether all processes hold the same one."""

# mypy: ignore-errors
# ruff: noqa: B905

import torch
import torch.distributed as dist

from nbddp.script.parts.exchange import sending_device


@torch.no_grad()
def average_gradients(*optimizers):
    """What DDP does during backward, for parameters outside it: each gradient becomes the mean over all processes."""
    groups = [group for optimizer in filter(None, optimizers) for group in optimizer.param_groups]
    parameters = [p for group in groups for p in group["params"]]
    kinds = torch.tensor([0 if p.grad is None else 2 if p.grad.is_sparse else 1 for p in parameters])
    kinds = kinds.to(sending_device())
    dist.all_reduce(kinds, dist.ReduceOp.MAX)  # a gradient may be missing on some of them
    if (kinds == 2).any():
        raise RuntimeError("sparse gradients cannot be averaged over processes")
    found = [p for p, kind in zip(parameters, kinds.tolist()) if kind]
    for dtype in dict.fromkeys(p.dtype for p in found):
        group = [p for p in found if p.dtype == dtype]
        for p in group:
            p.grad = torch.zeros_like(p) if p.grad is None else p.grad
        total = torch.cat([p.grad.flatten().to(sending_device()) for p in group])
        dist.all_reduce(total)
        for p, mean in zip(group, (total / dist.get_world_size()).split([p.numel() for p in group])):
            p.grad.copy_(mean.view_as(p))


def average_gradients_of(loss):
    """What DDP does during backward, for tensors of no model: those that the loss was computed from."""
    waiting, seen = [loss.grad_fn], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        waiting += [inner for inner, _ in node.next_functions]
        if hasattr(node, "variable"):  # where a gradient has arrived
            dist.all_reduce(node.variable.grad)
            node.variable.grad /= dist.get_world_size()


@torch.no_grad()
def broadcast_model(*models):
    """Gives all processes the parameters and buffers of rank 0, as DDP does when it wraps."""
    for model in models:
        for tensor in (*model.parameters(), *model.buffers()):
            sent = tensor.to(sending_device()).contiguous()
            dist.broadcast(sent, 0)
            tensor.copy_(sent)


@torch.no_grad()
def broadcast_buffers(*models):
    """Gives all processes rank 0's running statistics, as DDP does, so that they evaluate one and the same model."""
    buffers = [buffer for model in models for buffer in model.buffers() if buffer.is_floating_point()]
    if buffers:
        flat = torch.cat([buffer.flatten() for buffer in buffers]).to(sending_device())
        dist.broadcast(flat, 0)
        for buffer, sent in zip(buffers, flat.split([buffer.numel() for buffer in buffers])):
            buffer.data.copy_(sent.view_as(buffer))  # .data: a graph that is still to be followed may hold the buffer


@torch.no_grad()
def same_on_all_ranks(*models):
    """Stops a training that has come apart: after each step all processes must hold the same parameters."""
    for model in models:
        sizes = torch.stack([p.abs().sum(dtype=torch.float64) for p in model.parameters()])
        both = torch.cat([sizes, -sizes]).nan_to_num().to(sending_device())
        dist.all_reduce(both, dist.ReduceOp.MAX)
        highest, minus_lowest = both.chunk(2)
        if (highest + minus_lowest > 1e-7 * highest).any():  # beyond what rounding on unlike devices does
            raise RuntimeError(f"processes have unlike {type(model).__name__}s: gradients went past DDP")
