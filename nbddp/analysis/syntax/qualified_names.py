"""Names that stand for something imported: match by qualified name, never by spelling."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping

BUILTINS = frozenset(dir(builtins)) | {"display", "get_ipython", "__builtins__", "__file__", "__name__"}


def bindings(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """(bound name, what it stands for); `import a.b` binds `a`."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.split(".")[0],) * 2
        return
    base = "." * node.level + (node.module or "")
    for alias in node.names:
        yield alias.asname or alias.name, canonical(f"{base}.{alias.name}")


def imported_names(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Every name that an import anywhere binds; the last one wins, as in a notebook run from top to bottom."""
    found: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.update((name, target) for name, target in bindings(node) if name != "*")
    return found


def dotted(node: ast.expr) -> str | None:
    """`a.b.c` as a string, where the expression is only names and attributes."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (base := dotted(node.value)) is not None:
        return f"{base}.{node.attr}"
    return None


def qualified(node: ast.expr, names: Mapping[str, str]) -> str | None:
    """The library's name of `a.b.c` where `a` was imported; builtins as they are; None for the notebook's own."""
    path = dotted(node)
    if path is None:
        return None
    root, _, rest = path.partition(".")
    if root in names:
        return canonical(f"{names[root]}.{rest}" if rest else names[root])
    return canonical(path) if root in BUILTINS else None


# Public names that live in two places.
_ALIASES = {
    "builtins.": "",
    "__builtins__.": "",
    "torch.utils.data.dataloader.": "torch.utils.data.",
    "torch.utils.data.dataset.": "torch.utils.data.",
    "torch.utils.data.sampler.": "torch.utils.data.",
    "torch.utils.data.distributed.": "torch.utils.data.",
    "torch.nn.modules.": "torch.nn.",
    "torch.nn.parallel.DataParallel": "torch.nn.DataParallel",
    "torch.optim.adam.": "torch.optim.",
    "torch.optim.sgd.": "torch.optim.",
    "torch.nn.utils.clip_grad.": "torch.nn.utils.",
    "torch.cuda.amp.": "torch.amp.",
    "torch.autograd.Variable": "torch.autograd.Variable",
    "tqdm.auto.": "tqdm.",
    "tqdm.notebook.": "tqdm.",
    "tqdm.autonotebook.": "tqdm.",
    "tqdm.std.": "tqdm.",
    "tqdm.tqdm_notebook": "tqdm.tqdm",
    "tqdm.tnrange": "tqdm.trange",
    "fastprogress.fastprogress.": "fastprogress.",
}


def canonical(name: str) -> str:
    for prefix, better in _ALIASES.items():
        if name.startswith(prefix) and name != better:
            name = better + name[len(prefix) :]
    if name.startswith("torch.cuda.") and name.endswith("Tensor"):
        return name.replace(".cuda", "")
    if name.startswith("torch.nn.loss."):
        return "torch.nn." + name.rsplit(".", 1)[-1]
    return name
