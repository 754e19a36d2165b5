"""The end of a script: what starts one process for each GPU, and what each of them does around `train`."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nbddp.script.command_line import Argument, arguments_for, call, own_arguments
from nbddp.script.copy_parts import called, imports_for
from nbddp.script.launcher_template import CHECK_SNAPSHOT, TEMPLATE
from nbddp.script.names import names_in
from nbddp.script.part_library import library
from nbddp.script.rename import renamed


@dataclass(frozen=True)
class Launcher:
    source: str
    parts: tuple[str, ...]  # that it uses; to be copied together with those of the rest of the script
    imports: tuple[str, ...]
    names: frozenset[str]  # that it binds at the top level of the script


def launcher(  # noqa: PLR0913 -- all but the first have defaults
    parameters: Mapping[str, object],
    *,
    checkpoints: bool = False,
    nproc: int | None = None,
    snapshot: Sequence[str] = (),
    gpu: bool = True,
    sets: bool = False,
    train: str = "train",
    renames: Mapping[str, str] | None = None,
) -> Launcher:
    """The text for these parameters; with `checkpoints` where the script uses parts that read the command line."""
    new = {"train": train, **(renames or {})}
    arguments = arguments_for(parameters, new)
    own = own_arguments(
        parameters, checkpoints=checkpoints, nproc=nproc if gpu or nproc else 2, snapshot=bool(snapshot)
    )
    template = TEMPLATE.replace("    ADD_OWN\n", own)
    template = template.replace("    CHECK_SNAPSHOT\n", CHECK_SNAPSHOT.format(", ".join(snapshot)) if snapshot else "")
    if not sets:
        template = template.replace("    hash_alike(options.seed)\n", "")
    if not gpu:  # the notebook moves nothing to a GPU, and tensors of the CPU cannot be sent with NCCL
        template = template.replace("own_device(local_rank)", 'torch.device("cpu"), "gloo"')
    extra = {name for name, needed in _extra(arguments, checkpoints, bool(snapshot)).items() if needed}
    used = names_in(template) | extra
    text = renamed(template, {name: called(name, new) for name in used | _defined(template)})
    imports = imports_for(used, renames=new)
    return Launcher(
        _with_parameters(text, [*(argument.value for argument in arguments), *_settings(extra, new)], arguments),
        tuple(name for name in library().parts if name in used),
        tuple(imports.values()),
        frozenset(imports.keys() | {called(name, new) for name in _defined(template)}),
    )


def _extra(arguments: tuple[Argument, ...], checkpoints: bool, snapshot: bool) -> dict[str, bool]:
    """Names that the parameters add to those of the template."""
    literal = any(argument.is_literal for argument in arguments)
    return {"literal": literal, "command_line": checkpoints, "snapshot_file": snapshot}


def _settings(extra: set[str], new: Mapping[str, str]) -> list[str]:
    """What parts read of the command line."""
    values = {"command_line": "options", "snapshot_file": "options.snapshot"}
    return [f"{called(name, new)}={value}" for name, value in values.items() if name in extra]


def _defined(template: str) -> set[str]:
    return {node.name for node in ast.parse(template).body if isinstance(node, ast.FunctionDef)}


def _with_parameters(text: str, values: list[str], arguments: tuple[Argument, ...]) -> str:
    """The template filled in. The parameters keep their names, also where a part has had to take another."""
    text = text.replace("    ADD_PARAMETERS\n", "".join(f"{argument.added}\n" for argument in arguments))
    return text.replace("    SET_GLOBALS\n", call("globals().update", values, indent=4) + "\n" if values else "")
