"""Models of which each process keeps a part (`--shard`): their states as one process would have them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from nbddp.run.watching.plain_values import bare


def is_sharded(thing: object) -> bool:
    """A model, or an optimizer, whose parameters are dealt out."""
    tensor = getattr(sys.modules.get("torch.distributed.tensor"), "DTensor", ())
    if hasattr(thing, "param_groups"):
        return any(isinstance(p, tensor) for group in thing.param_groups for p in group["params"])
    return hasattr(thing, "parameters") and any(isinstance(p, tensor) for p in thing.parameters())


def state_of(thing: Any) -> Mapping[str, Any]:
    """Of a sharded one on rank 0; all processes have to ask for it."""
    if not is_sharded(thing):
        return thing.state_dict()  # type: ignore[no-any-return]
    from nbddp.script.parts.sharding import full_state_dict

    return full_state_dict(thing)  # type: ignore[no-any-return, no-untyped-call]


def take_part(things: Iterable[Any]) -> None:
    """What the other processes do while rank 0 asks for the states of these."""
    for thing in map(bare, things):
        if is_sharded(thing):
            state_of(thing)


def load_state(thing: Any, state: Mapping[str, Any]) -> None:
    if not is_sharded(thing):
        thing.load_state_dict(state)
        return
    from nbddp.script.parts.sharding import load_full_state_dict

    load_full_state_dict(thing, state)  # type: ignore[no-untyped-call]


def load_fitting(model: Any, state: Mapping[str, Any]) -> None:
    """What of it the model has a place for by now; cells that follow may give it other layers."""
    if model is not None and not is_sharded(model):
        own = model.state_dict()
        state = {**own, **{n: part for n, part in state.items() if n in own and _shape(part) == _shape(own[n])}}
    if model is not None:  # a branch that was not taken here may have made none
        load_state(model, state)


def _shape(part: Any) -> Any:
    return getattr(part, "shape", None)
