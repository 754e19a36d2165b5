"""The script's command line: the launcher's own options, and the notebook's parameters."""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

WIDTH = 120
OWN = {
    "nproc": ("type=int", "default=torch.cuda.device_count() or 2", 'help="processes on this machine"'),
    "seed": ("type=int", "default=0", 'help="with which all processes build data and weights"'),
    "snapshot": ('metavar="PATH"', 'help="what the notebook hands over"'),
}
OF_CHECKPOINTS = ("checkpoint", "checkpoint-every", "resume")


@dataclass(frozen=True)
class Argument:
    name: str  # in the notebook
    option: str  # batch-size
    kind: tuple[str, ...]  # arguments of `add_argument` that depend on the value's type
    is_literal: bool = False  # written as Python
    is_tuple: bool = False

    def added(self, parser: str, *, split: bool = False) -> str:
        """The call that adds it to the parser; the constant at the top of the script is the default."""
        note = ('help="of all processes together"',) if split else ()
        return add_argument(self.option, *self.kind, f"default={self.name}", *note, parser=parser)

    def value(self, args: str) -> str:
        """What the command line says of it."""
        read = f"{args}.{self.option.replace('-', '_')}"
        return f"tuple({read})" if self.is_tuple else read


def own_arguments(parameters: Mapping[str, object], nproc: int | None, *, seed: bool, snapshot: bool) -> str:
    """The launcher's own. A `seed` of the notebook is that of the script as well."""
    options = dict(OWN)
    if nproc is not None:
        options["nproc"] = tuple(f"default={nproc}" if k.startswith("default=") else k for k in OWN["nproc"])
    if not seed or _is_seeded(parameters):
        del options["seed"]
    if not snapshot:
        del options["snapshot"]
    return "".join(f"{add_argument(option, *kind)}\n" for option, kind in options.items())


def _is_seeded(parameters: Mapping[str, object]) -> bool:
    """Whether the notebook has a constant that says what --seed says."""
    return type(next((value for name, value in parameters.items() if name.lower() == "seed"), None)) is int


def arguments_for(
    parameters: Mapping[str, object], renames: Mapping[str, str], *, seed: bool = False, checkpoints: bool = False
) -> tuple[Argument, ...]:
    """One for each parameter; where the launcher has an option of that name, it is called --notebook-..."""
    taken = {"help", *OWN, *(OF_CHECKPOINTS if checkpoints else ())}
    if not seed or _is_seeded(parameters):
        taken.remove("seed")
    arguments = []
    for name, value in parameters.items():
        option = next(option for option in _options(name) if option not in taken)
        taken.add(option)
        arguments.append(_argument(name, option, value, renames))
    return tuple(arguments)


def _options(name: str) -> Iterator[str]:
    """--batch-size for batch_size and for BATCH_SIZE; what `args.` cannot be followed by is no option."""
    for spelling in (name.lower(), name, f"notebook_{name.lower()}", f"notebook_{name}"):
        if (stripped := spelling.lstrip("_")).isidentifier() and not keyword.iskeyword(stripped):
            yield stripped.replace("_", "-")


def _argument(name: str, option: str, value: object, renames: Mapping[str, str]) -> Argument:
    if isinstance(value, bool):
        return Argument(name, option, (f"action={renames.get('argparse', 'argparse')}.BooleanOptionalAction",))
    if isinstance(value, str):
        return Argument(name, option, ())
    if isinstance(value, int | float):
        return Argument(name, option, (f"type={type(value).__name__}",))
    if items := _type_of_items(value):
        return Argument(name, option, (f"type={items}", 'nargs="*"'), is_tuple=isinstance(value, tuple))
    return Argument(name, option, (f"type={renames.get('literal', 'literal')}",), is_literal=True)


def _type_of_items(value: object) -> str | None:
    """The type that the elements of a list have in common, if it is one that the command line can say."""
    kinds = {type(item) for item in value} if isinstance(value, list | tuple) else set()
    if kinds == {int, float}:
        return "float"
    return next((kind.__name__ for kind in (int, float, str) if kinds == {kind}), None)


def add_argument(option: str, *arguments: str, parser: str = "parser") -> str:
    return call(f"{parser}.add_argument", [f'"--{option}"', *arguments], indent=4)


def call(function: str, arguments: Sequence[str], indent: int) -> str:
    """A call as ruff lays it out: on one line, else its arguments on one, else each of them on a line."""
    space, inner = " " * indent, " " * (indent + 4)
    one_line = f"{space}{function}({', '.join(arguments)})"
    if len(one_line) <= WIDTH:
        return one_line
    together = f"{inner}{', '.join(arguments)}"
    body = together if len(together) <= WIDTH else "\n".join(f"{inner}{argument}," for argument in arguments)
    return f"{space}{function}(\n{body}\n{space})"
