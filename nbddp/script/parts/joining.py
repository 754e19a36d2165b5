"""Models that split the batches that they are given: the rest of a step has whole ones, as on one process."""

# mypy: ignore-errors

from functools import partial

import torch
import torch.distributed as dist

from nbddp.script.parts.drawing import drawn_for_all
from nbddp.script.parts.exchange import sending_device


def split_inside(model, turns=False):
    """Each process computes the model for its samples of a batch, and gets what all of them make of the whole one."""
    model.forward = by_parts(partial(type(model).forward, model), turns)
    return model


def by_parts(model, turns=False):
    """The same, of what is called here."""
    drawn_for_all.turns |= turns
    return partial(forward_by_parts, model)


def forward_by_parts(forward, *args, **kwargs):
    model = getattr(forward, "args", (forward,))[0]
    batch = [one for one in tensors_in([args, kwargs]) if one.ndim]  # `model(t, x)`, at one time for all samples
    if not torch.is_grad_enabled() or not batch or drawn_for_all.total:  # inside of one that has a part already
        return forward(*args, **kwargs)
    rank, world_size, total = dist.get_rank(), dist.get_world_size(), len(batch[0])
    begin, end = total * rank // world_size, total * (rank + 1) // world_size

    def mine(value):
        dim = dim_of(value, total, batch, (hash(model), "given")) if is_tensor(value) else None
        if dim is None:
            return value
        if isinstance(value, torch.Tensor):
            return OfMyPart.apply(value, dim, begin, end)
        return value.take(range(begin, end), dim)

    args = [parts_in(value, (begin, end, total), mine) for value in args]
    kwargs = {name: parts_in(value, (begin, end, total), mine) for name, value in kwargs.items()}
    drawn_for_all.begin(begin, end, total, 0)
    result = forward(*args, **kwargs)
    drawn_for_all.end()
    return with_parts(result, partial(of_all, tensors_in(result), model, (begin, end, total)))


def parts_in(value, part, mine):
    """Of lists with something for each sample, `[boxes of the first, boxes of the second]`, those of this process."""
    begin, end, total = part
    if type(value) is dict:
        return {key: parts_in(one, part, mine) for key, one in value.items()}
    if type(value) not in (list, tuple):
        return with_parts(value, mine)
    whole = all(is_tensor(one) and total in one.shape[: 2 if one.ndim == 3 else 1] for one in value)  # `(h, c)`
    if len(value) != total or total < 2 or whole:
        return type(value)(parts_in(one, part, mine) for one in value)
    numbers = any(isinstance(one, (int, float)) for one in value)
    if numbers and type(value) is list:
        raise RuntimeError(f"--exact: a list of {total} numbers does not show whether they are of {total} samples")
    return value if numbers else value[begin:end]


def of_all(made, model, part, value):
    """What the model makes of the whole batch, where a value is what it makes of this process's part."""
    if not is_tensor(value) or isinstance(value, torch.nn.Parameter):  # `return outputs, self.weights`
        return value
    if not isinstance(value, torch.Tensor):
        return of_all(made, model, part, torch.as_tensor(value)).numpy()
    begin, end, _ = part
    if value.dim() == 0:  # a mean over the samples
        return of_all(made, model, part, value.expand(end - begin)).mean()
    dim = dim_of(value, end - begin, made, (hash(model), "made"))
    order = sorted(range(value.dim()), key=lambda at: (-value.stride(at), value.shape[at] < 2))  # in memory
    order = fit_together([-1 if at == dim else size for at, size in enumerate(value.shape)], end - begin, order)
    whole = OfAllParts.apply(value, dim, *part)
    if order == sorted(order):
        return whole
    return whole.permute(order).contiguous().permute([order.index(at) for at in range(len(order))])


dims = {}  # where sizes have shown it


def dim_of(tensor, size, beside, place):
    """The dimension that counts the samples: the first, or that of a recurrent layer's states, behind the layers."""
    at = next((number for number, other in enumerate(beside) if other is tensor), 0)
    found = [dim for dim in range(2 if tensor.ndim == 3 else 1) if tensor.shape[dim:][:1] == (size,)]
    if found[:1] == [0] and not at and not drawn_for_all.turns:
        found = [0]
    if len(found) > 1:
        found = [dims.get((*place, at))]
    elif found:
        dims[(*place, at)] = found[0]
    if None in found:
        raise RuntimeError(f"--exact: {tuple(tensor.shape)} does not show which dimension counts the {size} samples")
    return found[0] if found else None


def fit_together(sizes, samples, order):
    """A model must not make more of one part than of another. As the largest part lies in memory, noise is drawn."""
    layout = int("".join(map(str, [samples + 1, *order])))
    ends = torch.tensor([*sizes, *(-size for size in sizes), layout], device=sending_device())
    dist.all_reduce(ends, dist.ReduceOp.MAX)
    *found, layout = ends.tolist()
    if -1 not in sizes or found != [*sizes, *(-size for size in sizes)]:
        raise RuntimeError(f"--exact: the model gives {sizes} for a part, which is not one entry for each sample")
    return [int(at) for at in str(layout)[-len(order) :]]


def is_tensor(value):
    """Also an array, but no single number."""
    return isinstance(value, torch.Tensor) or (hasattr(value, "__array__") and value.ndim > 0)


def tensors_in(value):
    found = []
    with_parts(value, found.append)
    return [part for part in found if is_tensor(part)]


def with_parts(value, function):
    """The same tuples, lists and dictionaries, of other things."""
    if isinstance(value, dict):
        made = {key: with_parts(part, function) for key, part in value.items()}
        return made if type(value) is dict else type(value)(**made)
    if isinstance(value, (list, tuple)):
        made = [with_parts(part, function) for part in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    if hasattr(value, "__dataclass_fields__"):
        made = object.__new__(type(value))
        made.__dict__.update({key: with_parts(part, function) for key, part in vars(value).items()})
        return made
    if not (isinstance(value, (bool, int, float, str, type(None))) or hasattr(value, "__array__")):
        raise TypeError(f"--exact: a {type(value).__name__} does not show which samples it holds")
    return function(value)


class OfMyPart(torch.autograd.Function):
    """Samples of this process; back go the gradients of all of them."""

    @staticmethod
    def forward(context, whole, dim, begin, end):
        context.place = dim, begin, end, whole.shape[dim]
        return whole.narrow(dim, begin, end - begin).clone()

    @staticmethod
    def backward(context, gradient):
        return OfAllParts.apply(gradient, *context.place) / dist.get_world_size(), None, None, None


class OfAllParts(torch.autograd.Function):
    """Samples of all processes; back go the gradients of this one's, of which DDP takes the mean over all of them."""

    @staticmethod
    def forward(context, part, dim, begin, end, total):
        context.place = dim, begin, end
        sizes = [total if at == dim else size for at, size in enumerate(part.shape)]
        whole = part.new_zeros(sizes, dtype=torch.uint8 if part.dtype == torch.bool else part.dtype)
        whole.narrow(dim, begin, end - begin).copy_(part)
        dist.all_reduce(whole)
        return whole.to(part.dtype)

    @staticmethod
    def backward(context, gradient):
        return OfMyPart.apply(gradient, *context.place) * dist.get_world_size(), None, None, None, None
