"""What a cell imports: the helper of warm starts imports it as well, as far as it is an installed package."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from nbddp.notebook import cell_from_source, parse

# What draws or serves a page is left out of scripts, or is quick to load there.
NOT_IN_SCRIPTS = frozenset(
    "IPython ipywidgets matplotlib seaborn plotly bokeh altair holoviews mpl_toolkits nbddp anywidget gradio".split()
)


def packages_of(source: str) -> tuple[str, ...]:
    """Full names, in the order of the cell; the standard library is there anyway."""
    if "import" not in source:
        return ()
    cell = cell_from_source(source)
    if cell.error or not cell.code.strip():
        return ()
    return tuple(dict.fromkeys(name for name in _imported(parse(cell.code)) if _worthwhile(name)))


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def _worthwhile(name: str) -> bool:
    root = name.partition(".")[0]
    return root not in NOT_IN_SCRIPTS and root not in sys.stdlib_module_names
