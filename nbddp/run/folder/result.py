"""What a run brings back, read without running any code that a file might hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbddp.run.folder.errors import NoResult
from nbddp.run.watching.plain_values import not_plain

FORMAT = 1


@dataclass(frozen=True)
class Result:
    """States by name, to be loaded into live objects; values by name; and what could not come back, with the reason."""

    states: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        """A state or a value."""
        if name in self.states:
            return self.states[name]
        if name in self.values:
            return self.values[name]
        if name in self.left_out:
            raise KeyError(f"{name} could not be brought back: {self.left_out[name]}")
        raise KeyError(f"the run brought back no {name!r}, only {', '.join(sorted({*self.states, *self.values}))}")


def read_result(path: Path) -> Result:
    """The result file, on the CPU whatever device it was made on."""
    if not path.exists():
        raise NoResult(f"{path} does not exist: the run has not written a result.")
    content = _load(path)
    if not isinstance(content, dict) or "format" not in content:
        raise NoResult(f"{path} is not the result of a run.")
    if content["format"] != FORMAT:
        raise NoResult(f"{path} has format {content['format']}, but this version of nbddp reads format {FORMAT}.")
    values = {name: not_plain(value) for name, value in content.get("values", {}).items()}
    return Result(content.get("states", {}), values, content.get("left_out", {}))


def drop_states(path: Path, names: Iterable[str], why: str) -> None:
    """They are in the file no more, and who asks for one is told why. The rest is written anew, whole or not at all."""
    from nbddp.run.watching.plain_values import save_whole

    content = _load(path)
    content["left_out"] = {**content.get("left_out", {}), **dict.fromkeys(names, why)}
    content["states"] = {name: state for name, state in content["states"].items() if name not in content["left_out"]}
    save_whole(content, path)


def _load(path: Path) -> Any:
    import torch

    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise NoResult(f"{path} could not be read: {str(error).splitlines()[0].partition('. ')[0]}") from error
