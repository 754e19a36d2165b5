"""What the magics that change the program's state are in plain Python; every other line magic has no effect on it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nbddp.notebook.interpolation import filled, quoted
from nbddp.notebook.syntax import is_expression

# Magics that run Python, with those of their option letters that take a value.
RUN_STATEMENT = {
    "time": "",
    "timeit": "nrpv",
    "prun": "DlsT",
    "lprun": "fmDTu",
    "mprun": "fT",
    "memit": "rti",
    "snakeviz": "f",
    "pyinstrument": "",
}
RUN_BODY = frozenset({"time", "timeit", "prun", "memit", "snakeviz", "pyinstrument", "capture", "wandb"})


# `%cd` knows nothing of the shell's variables: a name in capitals is Python's here as well.
_OWN_NAME = re.compile(r"\$([A-Z_][A-Z0-9_]*)\b")


@dataclass(frozen=True)
class Translation:
    """Python for one magic, and the module that it uses."""

    code: str
    needs: str | None = None


NOTHING = Translation("pass")


def without_options(name: str, text: str) -> str:
    """The statement behind the options of `%timeit -n 1 -r 3 f()`; values may touch their letter or follow it."""
    valued = RUN_STATEMENT[name]
    while option := re.match(r"(?:--[a-z][\w-]*|-([A-Za-z])(\S*))(?:\s+|$)", text):
        text = text[option.end() :]
        if option[1] and option[1] in valued and not option[2]:
            text = re.sub(r"^\S+\s*", "", text, count=1)
    return text


def statement(name: str, arguments: str) -> Translation:
    """Python for a line magic that stands alone on its line."""
    if name in {"cd", "pushd", "popd"}:
        return _change_folder(name, arguments)
    if name in {"env", "set_env"}:
        return _set_variable(arguments)
    return NOTHING


def value(name: str, arguments: str) -> Translation:
    """Python for the right side of `x = %magic`; what has no such Python stays a call that only IPython can make.

    A script that gets there stops with a NameError: better than one that goes on with a made-up value.
    """
    if name == "time" and is_expression(without_options(name, arguments).strip()):
        return Translation(without_options(name, arguments))
    if name == "pwd":
        return Translation("os.getcwd()", "os")
    if name in {"sx", "system"}:
        return shell_output(arguments)
    if name == "env":
        return Translation(f"os.environ[{filled(arguments)}]" if arguments else "dict(os.environ)", "os")
    return _only_in_ipython(name, arguments)


def shell_output(command: str) -> Translation:
    run = f"subprocess.run({filled(command)}, shell=True, capture_output=True, text=True)"
    return Translation(f"{run}.stdout.splitlines()", "subprocess")


def call(lead: str, text: str) -> Translation:
    """IPython's `,f a b`, `;f a b` and `/f a b`: calls of f with both words quoted, all quoted as one, or unquoted."""
    name, _, rest = text.partition(" ")
    words = {",": [quoted(word) for word in rest.split() or [""]], ";": [quoted(rest)], "/": rest.split()}
    return Translation(f"{name}({', '.join(words[lead])})")


def _change_folder(name: str, arguments: str) -> Translation:
    folder = re.sub(r"^-q\s+", "", arguments).strip()
    if name == "popd" or folder.startswith("-"):
        return _only_in_ipython(name, arguments)
    folder = folder[1:-1] if re.fullmatch(r"([\"']).*\1", folder) else folder.replace("\\ ", " ")
    folder = _OWN_NAME.sub(r"{\1}", folder)
    if name == "pushd" and not folder:
        return NOTHING
    if not folder or folder.startswith("~"):
        return Translation(f"os.chdir(os.path.expanduser({filled(folder or '~')}))", "os")
    return Translation(f"os.chdir({filled(folder)})", "os")


def _set_variable(arguments: str) -> Translation:
    """`%env A=B` or `%env A B`; without a value it only shows the variable."""
    name, _, text = arguments.partition("=" if "=" in arguments else " ")
    if not text.strip() or re.search(r"\s", name.strip()):
        return NOTHING
    return Translation(f"os.environ[{filled(name.strip())}] = {filled(text.strip())}", "os")


def _only_in_ipython(name: str, arguments: str) -> Translation:
    return Translation(f"get_ipython().run_line_magic({quoted(name)}, {quoted(arguments)})")
