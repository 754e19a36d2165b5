"""Where a notebook looks for modules: beside it, and in folders that it names, `sys.path.append("../src")`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from nbddp.analysis.syntax import imported_names, qualified, walk

HERE = ("os.getcwd", "pathlib.Path.cwd")
SAME = ("os.path.abspath", "os.path.realpath", "os.path.normpath", "os.path.expanduser", "pathlib.Path", "str")
SAME_METHODS = ("resolve", "absolute", "as_posix", "expanduser")


def folders(folder: Path, trees: Iterable[ast.Module]) -> tuple[Path, ...]:
    """Those that come first, the notebook's own, and the others; as far as they can be read off."""
    trees = list(trees)
    names = imported_names(node for tree in trees for node in walk(tree))
    named = [*_named(trees, _Texts(trees, names))]
    before = [folder / path for path, first in named if first]
    return tuple(dict.fromkeys([*reversed(before), folder, *(folder / path for path, first in named if not first)]))


def _named(trees: Iterable[ast.Module], texts: _Texts) -> Iterator[tuple[Path, bool]]:
    for call in (n for tree in trees for n in walk(tree) if isinstance(n, ast.Call) and n.args):
        name = qualified(call.func, texts.names)
        path = texts.path(call.args[-1]) if name in ("sys.path.append", "sys.path.insert", "os.chdir") else None
        if path is not None:
            yield path, name == "sys.path.insert"


class _Texts:
    """Paths that are written in a notebook."""

    def __init__(self, trees: Iterable[ast.Module], names: dict[str, str]) -> None:
        self.names = names
        self._bound: dict[str, list[ast.expr]] = {}
        for node in (n for tree in trees for n in tree.body if isinstance(n, ast.Assign)):
            for target in (t for t in node.targets if isinstance(t, ast.Name)):
                self._bound.setdefault(target.id, []).append(node.value)

    def path(self, node: ast.expr, depth: int = 0) -> Path | None:
        """What it says, relative to the notebook's folder; None where it does not show."""
        if depth > 9:
            return None
        match node:
            case ast.Constant(value=str(text)):
                return Path(text)
            case ast.Name(id=name) if len(values := self._bound.get(name, [])) == 1:
                return self.path(values[0], depth + 1)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return self._joined([left, right], depth)
            case ast.Attribute(value=of, attr="parent"):
                return self._joined([of, ast.Constant("..")], depth)
            case ast.Call(func=ast.Attribute(value=of, attr=attr), args=[]) if attr in SAME_METHODS:
                return self.path(of, depth + 1)
            case ast.Call(func=func, args=args):
                return self._of_call(qualified(func, self.names), args, depth)
        return None

    def _of_call(self, name: str | None, args: list[ast.expr], depth: int) -> Path | None:
        if name in HERE:
            return Path()
        if name == "os.path.dirname" and len(args) == 1:
            return self._joined([*args, ast.Constant("..")], depth)
        return self._joined(args, depth) if args and name in (*SAME, "os.path.join") else None

    def _joined(self, parts: list[ast.expr], depth: int) -> Path | None:
        found = [self.path(part, depth + 1) for part in parts]
        known = [part for part in found if part is not None]
        return Path(*known) if len(known) == len(found) else None
