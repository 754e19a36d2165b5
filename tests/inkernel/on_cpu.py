"""nn.DataParallel on a machine without a GPU: it splits, replicates and joins on the CPU, one part after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from nbddp.inkernel import layout, parallel

CPU = torch.device("cpu")


class OnCpu(parallel.Split):
    def __init__(self, model: nn.Module, devices: Sequence[Any], method: str, say: Any) -> None:
        super().__init__(model, devices, method, say)
        self.device_ids = [CPU for _ in devices]  # type: ignore[misc]
        self.output_device, self.src_device_obj = CPU, CPU  # type: ignore[assignment]

    def replicate(self, module: Any, device_ids: Any) -> Any:
        return [replica(module) for _ in device_ids]

    def parallel_apply(self, replicas: Any, inputs: Any, kwargs: Any) -> list[Any]:
        parts = zip(self.functions(replicas), inputs, kwargs, strict=True)
        return [function(*given, **named) for function, given, named in parts]


def replica(model: nn.Module) -> nn.Module:
    """Shares parameters and buffers, and is in the mode that the model is in."""
    copy = layout.shadow(model)
    for own, made in zip(model.modules(), copy.modules(), strict=True):
        made.training = own.training
        made._buffers = dict(own._buffers)
    return copy
