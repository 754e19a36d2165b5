"""A look at whether all processes hold the same parameters, after the first step and at the end of each epoch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nbddp.run.watching.sharded import is_sharded


def sending_device() -> Any:
    """Where a tensor has to lie for the processes to exchange it."""
    import torch
    import torch.distributed as dist

    return torch.device("cuda" if dist.get_backend() == "nccl" else "cpu")


def any_rank(flag: object) -> bool:
    """True on all processes when it is true on one."""
    import torch
    import torch.distributed as dist

    flags = torch.tensor(int(bool(flag)), device=sending_device())
    dist.all_reduce(flags, dist.ReduceOp.MAX)
    return bool(flags)


def same_on_all_ranks(state: Mapping[str, Any]) -> None:
    """Stops a training that has come apart: after each step all processes must hold the same parameters."""
    import torch

    for name, model in state.items():
        compared = isinstance(model, torch.nn.Module) and not is_sharded(model)
        named = dict(model.named_parameters()) if compared else {}
        if named and (parameter := _first_apart(named)):
            raise RuntimeError(
                f"'{name}' differs between the processes, first in its '{parameter}': gradients were not averaged. "
                f"The loss may not have gone through {name}(...), but through another method of it."
            )


def _first_apart(named: Mapping[str, Any]) -> str:
    """The name of the first parameter that is not the same everywhere."""
    import torch
    import torch.distributed as dist

    with torch.no_grad():
        values = [torch.view_as_real(p) if p.is_complex() else p for p in named.values()]
        sums = [value.sum(dtype=torch.float64) for value in values]
        sizes = [torch.linalg.vector_norm(value, 1, dtype=torch.float64) for value in values]
        found = torch.stack([number.to(sending_device()) for number in (*sums, *map(torch.neg, sums), *sizes)])
        dist.all_reduce(found.nan_to_num_(), dist.ReduceOp.MAX)
        highest, minus_lowest, size = found.chunk(3)
        apart = (highest + minus_lowest > 1e-7 * size).tolist()  # beyond what rounding on unlike devices does
    return list(named)[apart.index(True)] if any(apart) else ""


def compare_after_first_step(state: Mapping[str, Any]) -> Callable[[], None]:
    """A loss that went past DDP shows in the first step already. What comes back takes the hooks off again."""
    import torch

    optimizers = {thing for thing in state.values() if isinstance(thing, torch.optim.Optimizer)}
    to_do = set(optimizers)

    def compare(optimizer: Any, *_: object) -> None:
        if optimizer in to_do:
            to_do.remove(optimizer)
            same_on_all_ranks(state)

    handles = [optimizer.register_step_post_hook(compare) for optimizer in optimizers]

    def done() -> None:
        while handles:
            handles.pop().remove()

    return done
