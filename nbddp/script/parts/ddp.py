"""The wrapper around a notebook's model."""

# mypy: ignore-errors
# ruff: noqa: N801

import operator
from functools import partial
from types import MethodType

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from nbddp.script.parts.drawing import drawn_for_all


def sync_batchnorm(model):
    """BatchNorm over the samples of all processes; torch has it for GPUs only."""
    return torch.nn.SyncBatchNorm.convert_sync_batchnorm(model) if torch.cuda.is_available() else model


def sync_batchnorm__exact(model):
    """BatchNorm over the samples of all processes."""
    if torch.cuda.is_available():
        return torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    for layer in model.modules():  # torch has none for CPUs
        if isinstance(layer, (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.BatchNorm3d)):
            layer.forward = partial(batchnorm_over_ranks, layer)
    return model


def sync_batchnorm__joined(model):
    """BatchNorm over the samples of all processes where each has a part of a batch; of a whole one as it is."""
    for layer in model.modules():
        if isinstance(layer, (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.BatchNorm3d)):
            layer.forward = partial(batchnorm_of_parts, layer)
    return model


def batchnorm_of_parts(layer, x):
    return batchnorm_over_ranks(layer, x) if drawn_for_all.total else type(layer).forward(layer, x)


class SumOverRanks(torch.autograd.Function):
    """A sum over all processes, through which gradients go back to each of them."""

    @staticmethod
    def forward(_context, value):
        total = value.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(_context, gradient):
        return SumOverRanks.apply(gradient)  # which gradients of gradients go through as well


def batchnorm_over_ranks(layer, x):
    """What the layer does in training, with the mean and the variance of all processes' samples."""
    if not layer.training:
        return type(layer).forward(layer, x)
    others, shape = [d for d in range(x.dim()) if d != 1], [1, -1] + [1] * (x.dim() - 2)
    count = SumOverRanks.apply(x.new_tensor(float(x.numel() // x.shape[1])))
    mean = SumOverRanks.apply(x.sum(others)) / count
    centred = x - mean.view(shape)
    variance = SumOverRanks.apply((centred * centred).sum(others)) / count
    if layer.track_running_stats:
        layer.num_batches_tracked += 1
        rate = layer.momentum if layer.momentum is not None else 1 / layer.num_batches_tracked
        with torch.no_grad():
            layer.running_mean.lerp_(mean, rate)
            layer.running_var.lerp_(variance * count / (count - 1), rate)
    out = centred * torch.rsqrt(variance + layer.eps).view(shape)
    return out * layer.weight.view(shape) + layer.bias.view(shape) if layer.affine else out


def of_the_model(name):
    """A method that the wrapped model answers; where the model returns itself, the wrapper is returned."""

    def method(self, *args, **kwargs):
        result = getattr(self.module, name)(*args, **kwargs)
        return self if result is self.module else result

    return method


class DDP(DistributedDataParallel):
    """Passes for the model that it wraps: its attributes, its checkpoint keys, its evaluation without gradients."""

    def __init__(self, module, **options):
        super().__init__(module, **options)
        for name in ("device", "dim", "training"):  # not DDP's: where read, the model's are meant
            self.__dict__.pop(name, None)
        self.own_names = frozenset(dir(self))  # all else that is set is set on the model

    def forward(self, *args, **kwargs):
        return super().forward(*args, **kwargs) if torch.is_grad_enabled() else self.module(*args, **kwargs)

    def will_sync_module_buffers(self):
        return self.module.training and super().will_sync_module_buffers()

    def __dir__(self):  # without what the model itself has under a name of torch's own: `self.type`, say
        theirs = [c for c in type(self.module).__mro__ if c.__module__.split(".")[0] not in ("torch", "builtins")]
        names = {n for n in {*vars(self.module)}.union(*map(vars, theirs)) if not n.startswith("_")}
        return {*super().__dir__()} - (names - {*vars(self), *vars(type(self)), "eval", "no_sync"})

    def __getattribute__(self, name):  # that of the model
        own = super().__getattribute__("__dict__").get("own_names", (name,))
        if name in own or not hasattr(type(self), name):
            return super().__getattribute__(name)
        found = getattr(self.module, name)
        return partial(of_the_model(name), self) if isinstance(found, MethodType) else found

    def __getattr__(self, name):  # of what is not DDP's own
        return super().__getattr__(name) if name == "module" else getattr(self.module, name)

    def __setattr__(self, name, value):
        if name in self.__dict__.get("own_names", (name,)):
            super().__setattr__(name, value)
        else:
            setattr(self.module, name, value)

    def __reduce_ex__(self, protocol):
        return operator.getitem, ((self.module,), 0)  # saved or copied, it is the bare model

    state_dict = of_the_model("state_dict")
    load_state_dict = of_the_model("load_state_dict")
    named_parameters = of_the_model("named_parameters")
    named_buffers = of_the_model("named_buffers")
    named_children = of_the_model("named_children")
    named_modules = of_the_model("named_modules")
    train = of_the_model("train")
    apply = of_the_model("apply")
    _apply = of_the_model("_apply")
    __len__ = of_the_model("__len__")
    __getitem__ = of_the_model("__getitem__")
    __iter__ = of_the_model("__iter__")
    __contains__ = of_the_model("__contains__")


class DDP__plain(DistributedDataParallel):
    """Passes for the model that it wraps: its attributes, its checkpoint keys, its evaluation without gradients."""

    def forward(self, *args, **kwargs):
        return super().forward(*args, **kwargs) if torch.is_grad_enabled() else self.module(*args, **kwargs)

    def will_sync_module_buffers(self):
        return self.module.training and super().will_sync_module_buffers()

    def __getattr__(self, name):  # of what is not DDP's own
        return super().__getattr__(name) if name == "module" else getattr(self.module, name)

    def state_dict(self, *args, **kwargs):
        return self.module.state_dict(*args, **kwargs)

    def load_state_dict(self, *args, **kwargs):
        return self.module.load_state_dict(*args, **kwargs)


class DDP__both(DistributedDataParallel):
    """Without gradients it calls the bare model, so that an evaluation may be as long as it likes on any process."""

    def forward(self, *args, **kwargs):
        return super().forward(*args, **kwargs) if torch.is_grad_enabled() else self.module(*args, **kwargs)
