"""Random numbers of a step that are those of one process: drawn for the whole batch, of which each keeps its rows."""

# mypy: ignore-errors
# ruff: noqa: SLF001

import sys
import zlib

import torch
import torch.distributed as dist
from torch.nn.utils.rnn import pad_packed_sequence
from torch.utils._python_dispatch import TorchDispatchMode

from nbddp.script.parts.exchange import sending_device


class DrawnForAll(TorchDispatchMode):
    """Dropout and noise for this process's samples are drawn for the whole batch, as one process does."""

    samples = None  # of the step: the first, the end, how many there are in the batch, and their dimension
    total = 0  # how many samples there are in the batch of a step, in which all processes come by equally often
    parts = ()  # the same as `samples`, of all batches of the step
    turns = False  # may the model put another dimension where the samples were?
    said = ()  # of what is drawn now: the dimension of its samples, or None where it is of no sample
    step = last = ()  # where each draw had them: in this step and in the one before

    def begin(self, first, end, total, dim):
        others, goes_on = self.parts if self.total else (), bool(self.samples)  # of a step whose end has not come
        self.end()
        states = [torch.get_rng_state(), *(torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else [])]
        drawn = zlib.crc32(torch.cat(states).numpy().tobytes())
        ends = torch.tensor([drawn, -drawn], device=sending_device())
        dist.all_reduce(ends, dist.ReduceOp.MAX)
        if ends.sum():
            raise RuntimeError(
                "--exact: the processes have drawn unlike random numbers, for what is no batch or a part"
            )
        self.total, self.parts = total, {*others, (first, end, total, dim)}
        if any(end - first < total for first, end, total, _ in self.parts):
            self.samples = (first, end, total, dim)
            if not goes_on:
                self.step, self.last = [], self.step
            self.__enter__()

    def end(self):
        if self.samples:
            self.__exit__(None, None, None)
            self.samples = None
        few = self.total and any(0 < part[2] < dist.get_world_size() for part in self.parts)
        if few:  # for no samples some functions draw nothing: as the last process
            states = [torch.get_rng_state(), torch.cuda.get_rng_state() if torch.cuda.is_initialized() else None]
            dist.broadcast_object_list(states, dist.get_world_size() - 1)
            torch.set_rng_state(states[0])
            if torch.cuda.is_initialized():
                torch.cuda.set_rng_state(states[1])
        self.total = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        draws = torch.Tag.nondeterministic_seeded in func.tags and dropout_of(func, args, kwargs) != 0
        counted = func is torch.ops.aten.multinomial.default and args[0].dim() == 1  # out of one row, so many
        sized = [*filter(is_size, args)] or [a.shape for a in args if isinstance(a, torch.Tensor)]
        sized = [args[1:2]] if counted else sized
        place = self.place(sized[0]) if draws and sized else None
        if draws:
            self.step.append(place)
        if place is None:
            return func(*args, **(kwargs or {}))
        if "attention" in str(func) or "_rnn" in str(func):
            raise RuntimeError(f"--exact: {func} draws its dropout inside, where it cannot be drawn for a whole batch")
        given = [self.whole(a, *place) for a in args]
        given = [args[0], *self.whole(args[1:2], *place), *args[2:]] if counted else given
        drawn = func(*given, **(kwargs or {}))
        if not func.name().partition(".")[0].endswith("_"):
            return tuple(self.part(d, *place) for d in drawn) if isinstance(drawn, tuple) else self.part(drawn, *place)
        return args[0].copy_(self.part(given[0], *place).reshape(args[0].shape))  # drawn in its place

    def of_no_sample(self, draw):
        """Noise for weights, whatever their size."""
        return self.along(None, draw)

    def along(self, dim, draw):
        """What has its samples in that dimension, however long the others are."""
        self.said = (dim,)
        drawn = draw()
        self.said = ()
        return drawn

    def place(self, shape):
        """The dimension of the samples, how many rows each has, and whether these lie apart; None without samples."""
        if None in self.said:
            return None
        first, end, _, _ = self.samples = self.of_batch(tuple(shape))
        for at in self.said:
            return None if shape[at] != end - first else (at, 1, False)
        return self.place_by_size(shape)

    def place_by_size(self, shape):
        first, end, total, dim = self.samples
        before = self.last[len(self.step)] if len(self.step) < len(self.last) else None  # in the last step
        if first == end and len(self.step) < len(self.last):
            return before
        if (own := place_in_layer(shape, end - first)) is not None:
            return own
        found = [at for at in range(len(shape[:2])) if shape[at] in (end - first, total)]
        side_by_side = len(shape) and end > first and shape[0] not in (end - first, total)
        rows = shape[0] // (end - first) if side_by_side and shape[0] % (end - first) == 0 else 0
        flat = rows and found and (len(shape) == 2 or (dim not in found and end - first > 1))  # words one by one
        turned = len(found) == 2 and len(shape) > 2 and (shape[dim], shape[1 - dim]) != (end - first, total)
        if flat or (self.turns and turned):
            if before and shape[before[0]] == before[1] * (end - first):
                return before
            raise RuntimeError(
                f"--exact: a draw of size {tuple(shape)} does not show which dimension counts the samples of a part of "
                f"{end - first} of {total}: take another batch size, or another number of processes"
            )
        if found:
            at = dim if dim in found else found[0]
            return None if shape[at] == total else (at, 1, False)
        return (0, rows, dim == 1 and len(shape) == 2) if rows else None

    def of_batch(self, shape):
        """Of a step with several batches of unlike sizes, the one for whose samples it is."""
        if len({part[:3] for part in self.parts}) < 2:
            return self.samples
        asked = {*self.said} or {part[3] for part in self.parts}
        fitting = {part for part in self.parts for at in asked if shape[at : at + 1] == (part[1] - part[0],)}
        if len(fitting) != 1:
            raise RuntimeError(f"--exact: a draw of size {shape} does not show for which batch of a step it is")
        return fitting.pop()

    def whole(self, value, at, rows, apart):
        """A tensor of this process's samples, or a size, as it is of the whole batch."""
        first, end, total, _ = self.samples
        if is_size(value):
            return [rows * total if dim == at else size for dim, size in enumerate(value)]
        if not isinstance(value, torch.Tensor) or value.dim() <= at or value.shape[at] != rows * (end - first):
            return value
        if apart:
            return self.whole(value.unflatten(0, (rows, -1)), 1, 1, False).flatten(0, 1)
        order = sorted(range(value.dim()), key=lambda dim: (-value.stride(dim), value.shape[dim] < 2))  # in memory
        sizes = [rows * total if dim == at else value.shape[dim] for dim in order]
        whole = value.new_ones(sizes).permute([order.index(dim) for dim in range(value.dim())])
        whole.narrow(at, rows * first, rows * (end - first)).copy_(value)
        return whole

    def part(self, value, at, rows, apart):
        first, end, total, _ = self.samples
        if not isinstance(value, torch.Tensor) or value.dim() <= at or value.shape[at] != rows * total:
            return value
        if apart:
            return self.part(value.unflatten(0, (rows, -1)), 1, 1, False).flatten(0, 1)
        part = value.narrow(at, rows * first, rows * (end - first))
        return torch.empty_like(part).copy_(part)


def place_in_layer(shape, samples):
    """Inside of torch's own layers: in recurrent ones time comes first, and in attention each sample has its heads."""
    frame = sys._getframe() if len(shape) == 3 and samples else None
    while frame is not None:
        if frame.f_globals.get("__name__") == "torch.nn.modules.rnn" and shape[1] == samples:
            return (1, 1, False)
        if frame.f_code.co_name == "multi_head_attention_forward" and shape[0] % samples == 0:
            return (0, shape[0] // samples, False)
        frame = frame.f_back
    return None


def dropout_of(func, args, kwargs):
    """Of attention and recurrent layers, which draw nothing where it is 0; None of other functions."""
    for at, argument in enumerate(func._schema.arguments):
        if argument.name in ("dropout", "dropout_p"):
            return args[at] if at < len(args) else (kwargs or {}).get(argument.name, argument.default_value)
    return None


def padded_to_longest(packed, *args, **kwargs):
    """As torch does, but to the longest sequence of the whole batch, of which these are a part."""
    length = longest_of_all(len(packed.batch_sizes))
    return pad_packed_sequence(packed, *args, total_length=length, **kwargs)


def longest_of_all(length):
    """The longest of this process's samples: in a step, that of the whole batch."""
    longest = torch.as_tensor(length, device=sending_device()).clone()
    if drawn_for_all.total:
        dist.all_reduce(longest, dist.ReduceOp.MAX)
    return longest.item()


def is_size(value):
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(isinstance(size, int) for size in value)


drawn_for_all = DrawnForAll()
