"""`losses.pairs`, where the module is read: in the tree the name that `pairs` has in its cell; the text stays."""

from __future__ import annotations

import ast
from collections.abc import Mapping


def with_names(tree: ast.Module, fields: Mapping[str, Mapping[str, str]], first: int) -> ast.Module:
    """From a line on, before which the modules stand. Nothing else may have walked the tree."""
    if fields:
        tree.body = [_Named(fields).visit(s) if s.lineno >= first else s for s in tree.body]
    return tree


class _Named(ast.NodeTransformer):
    def __init__(self, fields: Mapping[str, Mapping[str, str]]) -> None:
        self._fields = fields

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        match node.value:
            case ast.Name(id=base) if node.attr in self._fields.get(base, {}):
                return ast.copy_location(ast.Name(self._fields[base][node.attr], node.ctx), node)
        self.generic_visit(node)
        return node
