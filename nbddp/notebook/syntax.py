"""Does a cell compile as Python? Asked of the running interpreter, and answered as IPython would answer."""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType

from nbddp.notebook.model import SyntaxProblem
from nbddp.sentence import sentence

# What the compiler raises for text: NUL bytes and lone surrogates are ValueError, absurd nesting the two in the middle.
_REFUSALS = (SyntaxError, RecursionError, MemoryError, ValueError, OverflowError)
UNREADABLE = sentence("the code is nested too deeply or has characters that Python cannot read")


def parse(code: str) -> ast.Module:
    """`ast.parse` without the warnings that it gives about strings like "\\d": they are not this reader's to report."""
    with _quiet():
        return ast.parse(code)


def is_expression(text: str) -> bool:
    with _quiet():
        try:
            ast.parse(text, mode="eval")
        except _REFUSALS:
            return False
    return True


def check(code: str) -> tuple[SyntaxProblem | None, bool]:
    """What is wrong with the code, and whether it awaits at top level."""
    with _quiet():
        try:
            return None, _awaits(code)
        except _REFUSALS as error:
            problem = _problem(error, code)
        try:
            # IPython compiles statement by statement: an `import` may stand before `from __future__` in a cell.
            waits = [_awaits(ast.Module(body=[node], type_ignores=[])) for node in ast.parse(code).body]
        except _REFUSALS:
            return problem, False
    return None, any(waits)


def _awaits(code: str | ast.Module) -> bool:
    compiled: CodeType = compile(code, "<cell>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    return bool(compiled.co_flags & inspect.CO_COROUTINE)


def _problem(error: BaseException, code: str) -> SyntaxProblem:
    if not isinstance(error, SyntaxError):
        return SyntaxProblem(UNREADABLE, 1, 1)
    lines = code.split("\n")
    line = min(max(error.lineno or 1, 1), len(lines))
    column = min(max(error.offset or 1, 1), len(lines[line - 1]) + 1)
    if lines[line - 1].startswith("%%"):
        magic = lines[line - 1].split()[0]
        return SyntaxProblem(sentence("%1 works only on the first line of a cell", magic), line, column)
    return SyntaxProblem(error.msg, line, column)


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
