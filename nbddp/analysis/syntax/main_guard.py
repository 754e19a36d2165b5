"""`if __name__ == "__main__":` in a cell: it always holds there, and not in the processes that a script starts."""

from __future__ import annotations

import ast

from nbddp.analysis.syntax.multiline_strings import lines_in_strings
from nbddp.notebook import parse


def without_guard(code: str) -> str:
    """The same code on the same lines, with what stands under the guard at the top level of the cell."""
    if "__main__" not in code:
        return code
    lines = code.split("\n")
    for node in parse(code).body:
        if isinstance(node, ast.If) and not node.orelse and asks_for_main(node.test):
            _take_out(lines, node, lines_in_strings(code))
    return "\n".join(lines)


def asks_for_main(node: ast.expr) -> bool:
    return ast.unparse(node) in ("__name__ == '__main__'", "'__main__' == __name__")


def _take_out(lines: list[str], node: ast.If, held: set[int]) -> None:
    """The header goes, all but a comment; what is below moves out by one step, the insides of strings excepted."""
    first = node.body[0]
    header = node.test.end_lineno or node.lineno
    if first.lineno == header:
        lines[header - 1] = lines[header - 1].encode()[first.col_offset :].decode()
        return
    comment = lines[header - 1].encode()[node.test.end_col_offset :].decode().lstrip(" ):")
    for number in range(node.lineno, header + 1):
        lines[number - 1] = comment if number == header else ""
    for number in range(header + 1, (node.end_lineno or header) + 1):
        line = lines[number - 1]
        if number not in held:
            indent = len(line) - len(line.lstrip())
            lines[number - 1] = line[min(indent, first.col_offset) :]
