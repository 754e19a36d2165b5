"""Special lines among Python, one by one: what they become and what is recorded."""

from __future__ import annotations

import pytest

from nbddp.notebook import Escape
from nbddp.notebook.lines import escape_lines

REPLACED = [
    ("%matplotlib inline", "pass"),
    ("    %matplotlib inline", "    pass"),
    ("\t!ls", "\tpass"),
    ("!pip install -q torch", "pass"),
    ("!!ls", "pass"),
    ("!", "pass"),
    ("?print", "pass"),
    ("??print", "pass"),
    ("?", "pass"),
    ("print?", "pass"),
    ("torch.nn.Linear??", "pass"),
    ("rows[0]?", "pass"),
    ("torch.*load*?", "pass"),
    ("%timeit?", "pass"),
    ("%%timeit?", "pass"),
    ("x = print?", "pass"),
    ("% load_ext autoreload", "pass"),
    (";", "pass"),
    (",f a b", 'f("a", "b")'),
    (",f", 'f("")'),
    (";f a b", 'f("a b")'),
    ("/f a b", "f(a, b)"),
    ("%time", "pass"),
    ("%time x = f()", "x = f()"),
    ("    %time x = f()", "    x = f()"),
    ("%time\tf()", "f()"),
    ("%time f(a, \\\n  b)", "f(a, \\\n  b)"),
    ("%time %cd data", 'os.chdir("data")'),
    ("%time !ls", "pass"),
    ("%timeit -n 1 -r3 f()", "f()"),
    ("%timeit -n 10 -o -q f(-1)", "f(-1)"),
    ("%prun -l 10 -s cumulative f()", "f()"),
    ("%lprun -f g f()", "f()"),
    ("x = %time f()", "x = f()"),
    ("x = %pwd", "x = os.getcwd()"),
    ("x = %env", "x = dict(os.environ)"),
    ("x = %env HOME", 'x = os.environ["HOME"]'),
    ("x = %who_ls str", 'x = get_ipython().run_line_magic("who_ls", "str")'),
    ("x = %timeit -o f()", 'x = get_ipython().run_line_magic("timeit", "-o f()")'),
    ("x = %time y = 1", 'x = get_ipython().run_line_magic("time", "y = 1")'),
    ('get_ipython().run_line_magic("matplotlib", "inline")', "pass"),
    ('get_ipython().magic("cd data")', 'os.chdir("data")'),
    ('    get_ipython().system("ls ()")', "    pass"),
    ('get_ipython().run_line_magic("time", "x = f()")', "x = f()"),
    ("if x:\n    !ls\nelse:\n    %cd y", 'if x:\n    pass\nelse:\n    os.chdir("y")'),
    ("!ls \\\n  -l \\\n  -a\nx = 1", "pass\n\n\nx = 1"),
    ("%matplotlib \\\n  inline\nx = 1", "pass\n\nx = 1"),
    ("!ls \\", "pass"),
    ("!echo 'it\nx = 1", "pass\nx = 1"),
    ("!echo (\n!echo '''\nx = (1)", "pass\npass\nx = (1)"),
    ("x = [\n  1,\n]\n%matplotlib inline", "x = [\n  1,\n]\npass"),
    ("\f%matplotlib inline", "\fpass"),
    ("%größe x", "pass"),
]


@pytest.mark.parametrize(("text", "code"), REPLACED)
def test_replaced(text: str, code: str) -> None:
    assert escape_lines(text).code == code


LISTING = 'subprocess.run("ls", shell=True, capture_output=True, text=True).stdout.splitlines()'


@pytest.mark.parametrize(
    ("left", "target"),
    [("x", "x"), ("a, b", "a, b"), ("self.x", "self.x"), ("x[0]", "x[0]"), ("x: list", "x"), ("x[\n0]", "x[\n0]")],
)
def test_shell_output_assigned(left: str, target: str) -> None:
    found = escape_lines(f"    {left} = !ls")
    assert found.code == f"    {left} = {LISTING}"
    assert found.escapes[0].target == target
    assert found.needs == (("subprocess", 1 + left.count("\n")),)


@pytest.mark.parametrize("text", ["x = !!ls", "x = %sx ls", "x=!ls", "x = ! ls", "x = get_ipython().getoutput('ls')"])
def test_other_spellings_of_shell_output(text: str) -> None:
    assert escape_lines(text).code.replace(" ", "").endswith(LISTING.replace(" ", ""))


def test_output_assigned_over_several_lines() -> None:
    found = escape_lines("x = !ls \\\n  -l\ny = x")
    assert found.code == f"x = {LISTING.replace('ls', 'ls    -l', 1)}\n\ny = x"


UNTOUCHED = [
    "x = (a\n % b)",
    "x = [\n%matplotlib,\n!ls\n]",
    "x = a \\\n % b",
    "x = a \\\n%b",
    "s = '''\n!pip install x\n%cd y\nz?\n'''",
    's = f"""\n!pip install {x}\n"""',
    "s = 'a \\\n!ls'",
    "x = 5 % y",
    "x = 5  # = !ls",
    "# %matplotlib inline\n# what?",
    "x = 1  # ok?",
    "print('ok?')",
    "s = 'is it?'",
    "x == y",
    "f(x=1)",
    "x = {\n'a': 1,\n}\n",
    "% b",
    "x = 1; !ls",
    "if x: !ls",
    "f(x=!ls)",
    "x += !ls",
    "x == !ls",
    "a = b = !ls",
    "%%time\nx = 1",
    "/",
    ", b",
    "foo(1)?",
    "x = (\nfoo?",
    "get_ipython()",
    "get_ipython().run_line_magic(name, value)",
    "get_ipython().system('a'); y = f('b')",
    "get_ipython().run_cell_magic('time', '', 'f()')",
    "x = get_ipython().user_ns",
]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_python_and_what_ipython_refuses_stay_as_they_are(text: str) -> None:
    assert escape_lines(text).code == text
    assert escape_lines(text).escapes == ()


@pytest.mark.parametrize("text", ["%env X=1 # why?", "%env X='what?'"])
def test_a_question_mark_in_a_comment_or_string_asks_nothing(text: str) -> None:
    assert escape_lines(text).code.startswith('os.environ["X"] = ')


@pytest.mark.parametrize(
    ("text", "escape"),
    [
        ("%matplotlib inline", Escape(1, "line magic", "matplotlib", "matplotlib inline")),
        ("x\n  !pip install a", Escape(2, "shell", "pip", "pip install a")),
        ("!  ls", Escape(1, "shell", "ls", "ls")),
        ("y = 1\n\nx = %foo 1  2", Escape(3, "line magic", "foo", "foo 1  2", "x")),
        ("x = !ls", Escape(1, "shell", "ls", "ls", "x")),
        ("?print", Escape(1, "help", "print", "print")),
        ("a.b??", Escape(1, "help", "a.b", "a.b")),
        ("%time?", Escape(1, "help", "time", "time?")),
        ("!pip install \\\n  a", Escape(1, "shell", "pip", "pip install    a")),
    ],
)
def test_recorded(text: str, escape: Escape) -> None:
    assert escape_lines(text).escapes == (escape,)


def test_a_magic_that_runs_a_magic_records_both() -> None:
    assert [e.name for e in escape_lines("%time %cd x").escapes] == ["time", "cd"]


def test_lines_of_a_part_count_from_its_first_line() -> None:
    found = escape_lines("'''\n'''\n!a\n%cd b", first_line=5)
    assert [e.line for e in found.escapes] == [7, 8]
    assert found.needs == (("os", 8),)
