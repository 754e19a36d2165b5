"""Numbers of all processes made one."""

# mypy: ignore-errors
# ruff: noqa: B905

import torch
import torch.distributed as dist

from nbddp.script.parts.exchange import gathered


def sum_over_ranks(value):
    """The sum over all processes of a number, an array or a tensor; in lists, tuples and dicts of each for itself."""
    return combined(gathered(value))


def mean_over_ranks(value):
    """The mean over all processes of a number, an array or a tensor; in lists, tuples and dicts of each for itself."""
    return combined(gathered(value), dist.get_world_size())


def combined(values, divisor=None):
    """The processes' values added up place by place, and divided where a divisor is given."""
    first = values[0]
    if isinstance(first, dict) and (divisor is None or all(first.keys() == value.keys() for value in values)):
        total = first.copy()  # of its own kind: one that makes what it lacks goes on doing so
        for key in dict.fromkeys(key for value in values for key in value):  # not all shares may have all classes
            total[key] = combined([value[key] for value in values if key in value], divisor)
        return total
    if isinstance(first, (list, tuple)) and all(len(first) == len(value) for value in values):
        return type(first)(combined(place, divisor) for place in zip(*values))
    shapes = {value.shape for value in values if hasattr(value, "shape")}
    if isinstance(first, (dict, list, tuple)) or len(shapes) > 1:
        raise ValueError(f"these values of the processes differ in shape and cannot be added up: {values}")
    if not (hasattr(first, "shape") or isinstance(first, (int, float, complex))):
        return first
    return added(values, divisor)


def added(values, divisor):
    """Numbers, arrays or tensors of one shape added up, tensors in double precision."""
    total = sum(values) / divisor if divisor else sum(values)
    if isinstance(total, torch.Tensor) and total.is_floating_point():
        doubles = sum(torch.as_tensor(value, dtype=torch.float64).detach() for value in values)
        total = (doubles / divisor if divisor else doubles).to(total.dtype)
    return total


def mean_over_samples(losses, weights=None):
    """The mean over the losses on all processes, of which one may have more; DDP takes the mean of its gradients."""
    total = (torch.ones_like(losses) if weights is None else weights).detach().sum()
    dist.all_reduce(total)
    return losses.sum() * dist.get_world_size() / total


def mean_over_trained_samples(losses, weights=None):
    """The mean over the losses on all processes, of which one may have more; DDP takes the mean of its gradients."""
    total = (torch.ones_like(losses) if weights is None else weights).detach().sum()
    if not torch.is_grad_enabled():
        return losses.sum() / total  # in an evaluation, of which each process has batches of its own
    dist.all_reduce(total)
    return losses.sum() * dist.get_world_size() / total


def mean_of_batch(mean):
    """The mean over all processes; its gradient is that of this process's samples, of which DDP takes the mean."""
    if not torch.is_grad_enabled():
        return mean  # in an evaluation, of which each process has batches of its own
    number = not isinstance(mean, torch.Tensor)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    total = torch.tensor(mean, dtype=torch.float64, device=device) if number else mean.detach().clone()
    dist.all_reduce(total)
    total /= dist.get_world_size()
    return total.item() if number else mean + (total - mean.detach())


def sum_over_ranks__floats(value):
    """The sum of a number over all processes."""
    total = torch.tensor(value, dtype=torch.float64, device="cuda" if torch.cuda.is_available() else "cpu")
    dist.all_reduce(total)
    return total.item()


def sum_over_ranks__numbers(value):
    """The sum of a number over all processes; of whole numbers it is one."""
    total = torch.tensor(value, dtype=torch.float64, device="cuda" if torch.cuda.is_available() else "cpu")
    dist.all_reduce(total)
    return int(total) if isinstance(value, int) and total.item().is_integer() else total.item()


def sum_over_ranks__tensors(value):
    """The sum over all processes of a number, or of a tensor that holds one."""
    device, here = "cuda" if torch.cuda.is_available() else "cpu", isinstance(value, torch.Tensor)
    total = torch.tensor([value.item() if here else value, here], dtype=torch.float64, device=device)
    dist.all_reduce(total)
    if here:
        return torch.full_like(value, total[0].item(), requires_grad=False)
    if total[1]:
        return total[0].float()  # of a process that had no batch to begin with
    return int(total[0]) if isinstance(value, int) and total[0].item().is_integer() else total[0].item()


def mean_over_ranks__lists(values):
    """The mean over all processes of each number in a list."""
    total = torch.tensor(values, dtype=torch.float64, device="cuda" if torch.cuda.is_available() else "cpu")
    dist.all_reduce(total)
    return (total / dist.get_world_size()).tolist()
