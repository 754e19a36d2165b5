"""A cell with words between its lines: executed as the shell would, at the lines that the user wrote."""

from __future__ import annotations

import ast
import traceback

import pytest

from nbddp.analysis.syntax.program import Program, build_program
from nbddp.edits.edit import Edit, after, first_in, wrap
from nbddp.inkernel.cell import NotAlike, edited_cell
from nbddp.notebook import Notebook, cell_from_source

CELL = '''\
text = """é
  two""" + "🙂"
for i in range(3):  # to three
    total = (i
             + 1)
    other = total

@str
def f(): pass
last = f"{total}"
'''


def program(*sources: str) -> Program:
    return build_program(Notebook("", tuple(cell_from_source(s, n) for n, s in enumerate(sources, start=1))))


def edited(source: str, shell: str | None = None, *, before: str = "first = 1") -> ast.Module:
    """Each loop watched, in the second cell of two."""
    found = program(before, source)
    edits: list[Edit] = []
    for node in ast.walk(found.tree):
        if isinstance(node, ast.For):
            edits += wrap(found, "test", node.iter, "say.epochs(", ")")
            edits += [
                first_in(found, "test", node, "say.begins(i)"),
                after(found, "test", node.body[-1], "say.ends(i)"),
            ]
    body = edited_cell(found, found.cells[1], edits, ast.parse(source if shell is None else shell).body)
    return ast.Module(body, [])


class Say:
    def __init__(self) -> None:
        self.heard: list[object] = []

    def epochs(self, values):
        self.heard.append("epochs")
        return values

    def begins(self, value):
        self.heard.append(("begins", value))

    def ends(self, value):
        self.heard.append(("ends", value))


def test_every_statement_stays_at_its_place():
    tree = edited(CELL)
    plain = {ast.dump(n): n for n in ast.walk(ast.parse(CELL)) if isinstance(n, ast.expr | ast.stmt)}
    found = [n for n in ast.walk(tree) if isinstance(n, ast.expr | ast.stmt) and ast.dump(n) in plain]
    assert len(found) > 20
    for node in found:
        if not isinstance(node, ast.Name | ast.Load):
            theirs = plain[ast.dump(node)]
            mine = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
            assert mine == (theirs.lineno, theirs.col_offset, theirs.end_lineno, theirs.end_col_offset)


def test_it_does_what_it_did_and_says_so():
    say = Say()
    names: dict[str, object] = {"say": say}
    exec(compile(edited(CELL), "<cell>", "exec"), names)
    assert (names["other"], names["last"]) == (3, "3")
    assert say.heard == ["epochs", *((word, i) for i in range(3) for word in ("begins", "ends"))]


@pytest.mark.parametrize(
    "cell", ["for i in range(3): x = 1 / (1 - i)\n", "y = 0; x = 0\nfor i in range(3):\n\n  1 / (1 - i)\n"]
)
def test_errors_name_the_line_that_was_written(cell):
    with pytest.raises(ZeroDivisionError) as caught:
        exec(compile(edited(cell), "<cell>", "exec"), {"say": Say()})
    line = traceback.extract_tb(caught.value.__traceback__)[-1].lineno
    assert "1 / (1 - i)" in cell.split("\n")[(line or 0) - 1]


def test_the_shells_magics_stay_the_shells():
    cell = "%matplotlib inline\nfor i in range(2):\n    !ls\n    done = i\n"
    shell = 'get_ipython().run("inline")\nfor i in range(2):\n    get_ipython().system("ls")\n    done = i\n'
    text = ast.unparse(edited(cell, shell))
    assert text.splitlines()[0] == "get_ipython().run('inline')"
    assert "get_ipython().system('ls')" in text
    assert "say.epochs(range(2))" in text
    assert "pass" not in text


def test_a_magic_amid_what_is_to_be_watched():
    cell, shell = "for i in range(2):\n    done = i\n", "for i in get_ipython().run():\n    done = i\n"
    with pytest.raises(NotAlike):
        edited(cell, shell)


def test_another_number_of_statements():
    with pytest.raises(NotAlike, match="a different number of statements"):
        edited("a = 1\nb = 2\n", "a = 1\n")


def test_a_loop_that_ends_the_cell_before_has_its_words_there():
    """As where a cell that trains was copied below itself."""
    loop = "for i in range(2):\n    done = i"
    assert ast.unparse(edited(loop, before=loop)) == ast.unparse(edited(loop))


def test_lines_are_the_shells():
    """Below another magic of the cell, `%%time`, the shell counts from there."""
    tree = edited("\n\nfor i in range(2):\n    done = i\n", "for i in range(2):\n    done = i\n")
    assert [node.lineno for node in tree.body] == [1]


def test_under_the_guard_of_a_script():
    cell = 'if __name__ == "__main__":\n    for i in range(2):\n        done = i\n    done\n'
    tree = edited(cell)
    assert isinstance(tree.body[0], ast.If)
    assert "say.ends(i)" in ast.unparse(tree)
    assert len(tree.body) == 1
