"""The end of a script: what starts one process for each GPU, and what each of them does around `train`."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nbddp.script import launcher_template as texts
from nbddp.script.batch_check import batch_check
from nbddp.script.command_line import WIDTH, Argument, arguments_for, own_arguments
from nbddp.script.copy_parts import called, imports_for
from nbddp.script.names import names_in
from nbddp.script.part_library import library
from nbddp.script.rename import renamed

READ = {"snapshot_file": "snapshot"}  # by parts
LOCAL = frozenset("rank local_rank world_size args device parser method share whole met own every".split())
INIT = re.compile(r"^( +)((?:dist\.init_process_group|connect)\(.*)\n", re.MULTILINE)


@dataclass(frozen=True)
class Needs:
    """What a notebook wants of its processes besides their being there."""

    nproc: int | None = None  # the default of --nproc, where that is not every GPU
    gpu: bool = True
    seed: frozenset[str] = frozenset()  # generators that its data and weights are drawn from, and that it seeds not
    snapshot: tuple[str, ...] = ()  # names whose values the kernel hands over
    sets: bool = False  # text is hashed: all processes have to do it alike
    workers: bool = False  # it starts processes itself, those of a DataLoader
    bars: bool = False  # it draws progress bars
    place: bool = False  # something in it asks the environment which process it is
    checkpoints: bool = False  # it writes them itself, and goes on from one
    within_epochs: bool = False  # also in the middle of an epoch
    slurm: bool = False  # srun may start it
    connects: bool = False  # the notebook says how the processes meet
    inside: bool = False  # its models split what they are given
    batches: tuple[str | int, ...] = ()  # sizes that are split: names of parameters, and numbers

    @property
    def cluster(self) -> bool:
        """Others may start its processes, and start them again."""
        return self.slurm or self.checkpoints


@dataclass(frozen=True)
class Launcher:
    source: str
    parts: tuple[str, ...]  # that it uses; to be copied together with those of the rest of the script
    imports: tuple[str, ...]
    names: frozenset[str]  # that it binds at the top level of the script


def launcher(
    parameters: Mapping[str, object],
    needs: Needs | None = None,
    *,
    train: str = "train",
    renames: Mapping[str, str] | None = None,
) -> Launcher:
    """The text for these parameters. Its own variables give way to parameters of their name."""
    needs, new = needs or Needs(), {"train": train, **(renames or {})}
    arguments = arguments_for(parameters, new, seed=bool(needs.seed), checkpoints=needs.checkpoints)
    template = _filled(
        needs, own_arguments(parameters, needs.nproc, seed=bool(needs.seed), snapshot=bool(needs.snapshot))
    )
    sizes = _sizes(needs.batches, arguments)
    template = template.replace("    CHECK_BATCHES\n", batch_check(sizes))
    if sizes:
        template = template.replace('int(os.environ["WORLD_SIZE"]), args', "world_size, args")
    wanted = {"literal": any(argument.is_literal for argument in arguments), "snapshot_file": bool(needs.snapshot)}
    extra = {name for name, is_wanted in wanted.items() if is_wanted}
    used = names_in(template) | extra
    local = {name: f"{name}_" for name in LOCAL & parameters.keys()}
    text = renamed(template, {name: called(name, new) for name in used | _defined(template)} | local)
    imports = imports_for(used, renames=new)
    return Launcher(
        _with_parameters(text, arguments, local, _settings(extra, new), needs.batches),
        tuple(name for name in library().parts if name in used),
        tuple(imports.values()),
        frozenset(imports.keys() | {called(name, new) for name in _defined(template)}),
    )


def _sizes(batches: Sequence[str | int], arguments: Sequence[Argument]) -> list[str]:
    """Parameters as the command line gives them."""
    read = {a.name: f"args.{a.option.replace('-', '_')}" for a in arguments}
    return [
        str(size) if isinstance(size, int) else read[size] for size in batches if isinstance(size, int) or size in read
    ]


def _filled(needs: Needs, own: str) -> str:
    """The template with what these needs add to it."""
    snapshot = texts.CHECK_SNAPSHOT.format(", ".join(needs.snapshot)) if needs.snapshot else ""
    lines = {
        "SET_UP": _set_up(needs),
        "LET_GO": texts.LET_GO if needs.inside else "",
        "LEAVE": texts.LEAVE_MET if needs.cluster else texts.LEAVE,
        "SET_CHECKPOINTS": texts.SET_CHECKPOINTS if needs.checkpoints else "",
        "SET_EVERY": texts.SET_EVERY if needs.within_epochs else "",
        "CHECK_PLACE": texts.CHECK_PLACE if needs.cluster else "",
        "    SPAWN": texts.SPAWN_AND_JOIN if needs.checkpoints else texts.SPAWN,
        "SEED": _seed(needs.seed),
        "TRAIN": texts.TRAIN_WITH_BARS if needs.bars else texts.TRAIN,
        "SET_PLACE": texts.PLACE if needs.place else "",
        "SET_METHOD": texts.METHOD if needs.workers else "",
        "ADD_OWN": own + _checkpoint_arguments(needs),
        "FIND_PLACE": texts.FIND_PLACE if needs.slurm else "",
        "FIND_CHECKPOINT": texts.FIND_CHECKPOINT if needs.checkpoints else "",
        "CHECK_SNAPSHOT": snapshot,
        "HASH_ALIKE": texts.HASH_ALIKE if needs.sets else "",
    }
    template = texts.TEMPLATE
    for word, text in lines.items():
        template = template.replace(f"    {word}\n", text)
    template = template.replace("SPAWNED", "rank, args, method" if needs.workers else "rank, args")
    return template.replace("HANDED", "args, mp.get_start_method()" if needs.workers else "args,")


def _set_up(needs: Needs) -> str:
    """Where the processes may have a group already, it is theirs."""
    text = texts.ON_GPUS if needs.gpu else texts.ON_CPUS
    if needs.connects:
        text = INIT.sub("", text) + texts.CONNECT
    return texts.JOIN + INIT.sub(r"\1if not met:\n\1    \2\n", text) if needs.cluster else text


def _checkpoint_arguments(needs: Needs) -> str:
    text = texts.ADD_CHECKPOINTS if needs.checkpoints else ""
    return text + (texts.ADD_EVERY if needs.within_epochs else "")


def _seed(generators: frozenset[str]) -> str:
    if not generators:
        return ""
    return texts.SEED_TORCH if generators == {"torch"} else texts.SEED


def _settings(extra: set[str], new: Mapping[str, str]) -> list[tuple[str, str]]:
    """What parts read of the command line."""
    return [(called(name, new), option) for name, option in READ.items() if name in extra]


def _defined(template: str) -> set[str]:
    return {node.name for node in ast.parse(template).body if isinstance(node, ast.FunctionDef)}


def _with_parameters(
    text: str,
    arguments: tuple[Argument, ...],
    local: Mapping[str, str],
    settings: Sequence[tuple[str, str]],
    split: Sequence[str | int],
) -> str:
    """The template filled in. The parameters keep their names, also where a part has had to take another."""
    parser, args = local.get("parser", "parser"), local.get("args", "args")
    added = (f"{argument.added(parser, split=argument.name in split)}\n" for argument in arguments)
    text = text.replace("    ADD_PARAMETERS\n", "".join(added))
    pairs = [(argument.name, argument.value(args)) for argument in arguments]
    pairs += [(name, f"{args}.{option}") for name, option in settings]
    return text.replace("    SET_PARAMETERS\n", _assignment(pairs))


def _assignment(pairs: Sequence[tuple[str, str]]) -> str:
    """`global lr, epochs`, and both of them in one line, or each on a line of its own."""
    if not pairs:
        return ""
    names = [name for name, _ in pairs]
    together = f"    {', '.join(names)} = {', '.join(value for _, value in pairs)}"
    apart = [f"    {name} = {value}" for name, value in pairs]
    declared = [f"    global {', '.join(names)}"]
    if len(declared[0]) > WIDTH:
        declared = [f"    global {name}" for name in names]
    return "\n".join([*declared, *([together] if len(together) <= WIDTH else apart)]) + "\n"
