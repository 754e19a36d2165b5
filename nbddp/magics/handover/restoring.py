"""A run's result into the variables of a notebook."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from nbddp.analysis.reading import steps_of
from nbddp.run.folder.result import Result

PREFIXES = ("module.", "_orig_mod.")  # of DataParallel and of compiled modules
HOLDERS = ("module", "_orig_mod")


def restore(
    result: Result,
    namespace: dict[str, Any],
    anew: frozenset[str] = frozenset(),
    filled: frozenset[str] = frozenset(),
    rebound: frozenset[str] = frozenset(),
    objects: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, str]:
    """States are loaded into the objects that are there, values are bound; what could not be comes back, with why.

    What the cell builds `anew` is another object afterwards, as it would be had the cell run here: who has kept the
    earlier one under another name finds it as it was. A list or a dictionary that it only fills stays the same one.
    """
    missing = dict(result.left_out)
    built = {n: thing for n, thing in objects.items() if n in anew - rebound or n not in namespace}
    namespace.update(built)
    for name, state in result.states.items():
        if steps_of(name)[0] in rebound:
            missing[name] = f"this name now refers to something else: run.load({name!r}) returns it"
        elif steps_of(name)[0] not in built and (why := _load(_thing(namespace, name, anew), state, name)):
            missing[name] = why
    for name, value in {**result.values, **objects}.items():
        if name not in rebound | built.keys():
            namespace[name] = _filled(namespace.get(name), value) if name in filled else value
    return missing


def _filled(there: Any, new: Any) -> Any:
    """What is there with what is new in it, where both are of one kind."""
    if isinstance(there, list) and type(new) is type(there):
        there[:] = new
    elif isinstance(there, dict) and type(new) is type(there):
        there.clear()
        there.update(new)
    elif type(there) is type(new) and hasattr(new, "__dict__"):
        vars(there).clear()
        vars(there).update(vars(new))
    else:
        return new
    return there


def _thing(namespace: Mapping[str, Any], path: str, anew: frozenset[str]) -> Any:
    """`model`, `trainer.optimizer` or `optimizers["g"]`; None where the cell builds another trainer."""
    name, *steps = steps_of(path)
    thing = None if name in anew else namespace.get(name)
    for step in steps:
        thing = part_of(thing, step)
    return thing


def part_of(thing: Any, step: str) -> Any:
    """An attribute, or an item; None where there is none."""
    if not step.startswith("["):
        return getattr(thing, step, None)
    try:
        return thing[ast.literal_eval(step[1:-1])]
    except (LookupError, TypeError):
        return None


def bare(thing: Any) -> Any:
    """The module inside what DataParallel and torch.compile have put around it."""
    for holder in (*HOLDERS, *HOLDERS):
        inner = getattr(thing, "_modules", {}).get(holder) if _wraps(thing) else None
        thing = thing if inner is None else inner
    return thing


def _wraps(thing: Any) -> bool:
    return type(thing).__name__ in {"DataParallel", "DistributedDataParallel", "OptimizedModule"}


def _load(thing: Any, state: Mapping[str, Any], name: str) -> str:
    if thing is None or not hasattr(thing, "load_state_dict"):
        return f"the notebook has no object yet into which its state could be loaded: run.load({name!r}) returns it"
    target = bare(thing)
    if hasattr(target, "named_parameters"):
        state = _without_prefix(state)
        if why := _difference(target.state_dict(), state):
            return why
    try:
        target.load_state_dict(state)
    except Exception as error:  # noqa: BLE001 -- a class of the user's own may raise anything
        return f"its state does not fit: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
    return ""


def _without_prefix(state: Mapping[str, Any]) -> Mapping[str, Any]:
    for prefix in PREFIXES:
        if state and all(key.startswith(prefix) for key in state):
            state = {key.removeprefix(prefix): value for key, value in state.items()}
    return state


def _difference(own: Mapping[str, Any], state: Mapping[str, Any]) -> str:
    """Known before anything is copied: a state that fits in half must not be loaded in half."""
    if odd := sorted(own.keys() ^ state.keys()):
        return f"the notebook's object is built differently: only one of the two has {odd[0]}"
    for key, value in own.items():
        if getattr(value, "shape", None) != getattr(state[key], "shape", None):
            return f"the notebook's object is built differently: {key} has a different shape"
    return ""
