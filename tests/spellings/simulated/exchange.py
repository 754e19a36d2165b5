"""What stands for `torch.distributed` and for DDP on simulated ranks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn

from tests.spellings.simulated.ranks import Ranks


class Exchange:
    """The functions of `torch.distributed` that scripts call, among these ranks."""

    def __init__(self, ranks: Ranks) -> None:
        self.ranks = ranks

    def get_rank(self, *_: Any, **__: Any) -> int:
        return self.ranks.current

    def get_world_size(self, *_: Any, **__: Any) -> int:
        return self.ranks.number

    def get_backend(self, *_: Any, **__: Any) -> str:
        return "gloo"

    def is_initialized(self) -> bool:
        return True

    def new_group(self, *arguments: Any, **options: Any) -> None:
        """All of them together are the only group that scripts make."""

    def barrier(self, *_: Any, **__: Any) -> None:
        self.ranks.exchange("barrier", None)

    def all_reduce(self, tensor: torch.Tensor, op: Any = dist.ReduceOp.SUM, **_: Any) -> None:
        tensors = self.ranks.exchange(f"all_reduce of {tuple(tensor.shape)}", tensor.detach().clone())
        together = torch.stack(tensors)
        with torch.no_grad():
            tensor.copy_(together.amax(0) if op == dist.ReduceOp.MAX else together.sum(0))

    def broadcast(self, tensor: torch.Tensor, src: int = 0, **_: Any) -> None:
        sent = self.ranks.exchange(f"broadcast of {tuple(tensor.shape)}", tensor.detach().clone())[src]
        with torch.no_grad():
            tensor.copy_(sent)

    def broadcast_object_list(self, objects: list[Any], src: int = 0) -> None:
        objects[:] = self.ranks.exchange("broadcast_object_list", list(objects))[src]

    def all_gather_object(self, objects: list[Any], value: Any) -> None:
        objects[:] = self.ranks.exchange("all_gather_object", value)


class SimulatedDDP(nn.Module):
    """Averages the gradients over the ranks at the end of a backward pass, in the order of the parameters."""

    exchange: Exchange

    def __init__(self, module: nn.Module, **_: Any) -> None:
        super().__init__()
        self.module = module
        self.averages = True
        self.waits = False  # for the end of the pass
        for parameter in module.parameters():
            self.exchange.broadcast(parameter)
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(self.at_the_end)

    def forward(self, *arguments: Any, **options: Any) -> Any:
        return self.module(*arguments, **options)

    def at_the_end(self, _: torch.Tensor) -> None:
        if self.averages and not self.waits:
            self.waits = True
            torch.autograd.Variable._execution_engine.queue_callback(self.average)

    def average(self) -> None:
        self.waits = False
        for parameter in self.module.parameters():
            if parameter.grad is not None:
                self.exchange.all_reduce(parameter.grad)
                parameter.grad /= self.exchange.get_world_size()

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        self.averages = False
        yield
        self.averages = True


@contextlib.contextmanager
def simulated(number: int) -> Iterator[Ranks]:
    """Ranks for which torch's own functions are these."""
    ranks = Ranks(number)
    exchange = Exchange(ranks)
    with pytest.MonkeyPatch.context() as patch:
        for name in (n for n in vars(Exchange) if not n.startswith("_")):
            patch.setattr(dist, name, getattr(exchange, name))
        ddp = type("SimulatedDDP", (SimulatedDDP,), {"exchange": exchange})
        patch.setattr(torch.nn.parallel, "DistributedDataParallel", ddp)
        yield ranks
