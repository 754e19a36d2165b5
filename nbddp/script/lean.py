"""Ask for the shortest parts that do for a script: what its own text surely never needs is not copied.

The text alone decides, name by name and whatever the scope: a name is a number only if all that is bound to it anywhere
is one. Where the text leaves a doubt, the whole part is copied.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from nbddp.script.bindings import Bindings
from nbddp.script.lean_ddp import ddp_requests
from nbddp.script.part_library import library

REDUCTIONS = ("sum_over_ranks", "mean_over_ranks")
ORDERLY = {"dataset", "batch_size", "num_workers", "pin_memory", "drop_last", "collate_fn", "persistent_workers"}


def lean(text: str, wanted: Collection[str], renames: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Requests for the wanted parts. `text` is the script without them; it calls them by their new names."""
    tree = ast.parse(text)
    names = {name: (renames or {}).get(name, name) for name in library().parts}
    bindings = Bindings.of(tree, {names[name] for name in REDUCTIONS})
    requests: list[str] = []
    for part in sorted(wanted):
        given = list(_arguments(tree, names[part]))
        if part == "DDP":
            requests += ddp_requests(tree, names)
        elif part in REDUCTIONS and given and all(map(bindings.is_number, given)):
            requests.append(f"{part}:number")
        elif part == "share_of" and given and all(_draws_in_order(argument, bindings) for argument in given):
            requests.append("share_of:in_order")
        else:
            requests.append(part)
    return tuple(requests)


def _arguments(tree: ast.AST, function: str) -> Iterator[ast.expr]:
    """The first argument of each call; where the function is handed on, itself: of that, nothing is known."""
    called = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function:
            called.add(node.func)
            yield node.args[0] if node.args else node.func
        elif isinstance(node, ast.Name) and node.id == function and node not in called:
            yield node


def _draws_in_order(loader: ast.expr, bindings: Bindings) -> bool:
    """A name to which only `DataLoader(data, ...)` is ever bound, without shuffling or a sampler."""
    values = bindings.values.get(loader.id, (None,)) if isinstance(loader, ast.Name) else (None,)
    return all(isinstance(value, ast.Call) and _is_orderly_loader(value) for value in values)


def _is_orderly_loader(call: ast.Call) -> bool:
    given = {keyword.arg for keyword in call.keywords if not _is_no_shuffling(keyword)}
    positional = len(call.args) <= 2 and not any(isinstance(argument, ast.Starred) for argument in call.args)
    return ast.unparse(call.func).rpartition(".")[2] == "DataLoader" and positional and given <= ORDERLY


def _is_no_shuffling(keyword: ast.keyword) -> bool:
    return keyword.arg == "shuffle" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False
