"""Magics that change the program's state, in plain Python."""

from __future__ import annotations

import pytest

from nbddp.notebook.translations import statement, without_options


@pytest.mark.parametrize(
    ("magic", "code"),
    [
        ("cd data", 'os.chdir("data")'),
        ("cd ../my data", 'os.chdir("../my data")'),
        ('cd "my data"', 'os.chdir("my data")'),
        ("cd -q data", 'os.chdir("data")'),
        ("cd ~/data", 'os.chdir(os.path.expanduser("~/data"))'),
        ("cd", 'os.chdir(os.path.expanduser("~"))'),
        ("cd {root}/x", 'os.chdir(f"{root}/x")'),
        ("cd $root", 'os.chdir(f"{root}")'),
        ("cd -", 'get_ipython().run_line_magic("cd", "-")'),
        ("pushd data", 'os.chdir("data")'),
        ("pushd", "pass"),
        ("popd", 'get_ipython().run_line_magic("popd", "")'),
        ("env A=B", 'os.environ["A"] = "B"'),
        ("env A B C", 'os.environ["A"] = "B C"'),
        ("env A = B=C", 'os.environ["A"] = "B=C"'),
        ("env CUDA_VISIBLE_DEVICES=0,1", 'os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"'),
        ("env PATH=$HOME/bin:$PATH", 'os.environ["PATH"] = "$HOME/bin:$PATH"'),
        ("set_env A {b}", 'os.environ["A"] = f"{b}"'),
        ("env A", "pass"),
        ("env", "pass"),
        ("env A=", "pass"),
        ("env A B=C", "pass"),
        ("run train.py", "pass"),
        ("pip install x", "pass"),
        ("no_such_magic", "pass"),
    ],
)
def test_statement(magic: str, code: str) -> None:
    name, _, arguments = magic.partition(" ")
    new = statement(name, arguments)
    assert new.code == code
    assert new.needs == ("os" if code.startswith("os.") else None)


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("time", "f()", "f()"),
        ("time", "--no-raise-error f()", "f()"),
        ("timeit", "-n1 -r 1 f()", "f()"),
        ("timeit", "-n 1 -q -o f()", "f()"),
        ("timeit", "-n", ""),
        ("timeit", "", ""),
        ("timeit", "x - y", "x - y"),
        ("prun", "-D out.prof f()", "f()"),
        ("lprun", "-f g -f h f()", "f()"),
        ("timeit", "-n 1 \\\n  f()", "\\\n  f()"),
    ],
)
def test_options_are_no_part_of_the_statement(name: str, text: str, code: str) -> None:
    assert without_options(name, text) == code
