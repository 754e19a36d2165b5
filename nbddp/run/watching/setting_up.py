"""The function in which a process sets itself up and trains: `run`."""

from __future__ import annotations

import ast

from nbddp.run.watching.written import NAME, expression, statements

SETS_UP = "init_process_group"


def watch_process(run: ast.FunctionDef) -> None:
    """Its log is a file, what it fails by is told, and other ranks than the first may speak: each has its own log."""
    rank = run.args.args[0].arg
    documented = ast.get_docstring(run) is not None
    head = [s for place, s in enumerate(run.body) if isinstance(s, ast.Global) or (documented and place == 0)]
    rest = [heard for s in run.body if s not in head for heard in _heard(s)]
    rest = [told for s in rest for told in _told_when_up(s)]
    tried = statements(f"try: pass\nexcept BaseException:\n    {NAME}.failed()\n    raise", run)
    assert isinstance(tried[0], ast.Try)
    tried[0].body = [*rest, *statements(f"{NAME}.end()", run)]
    run.body = [*head, *statements(f"{NAME}.begin({rank})", run), *tried]


def _heard(statement: ast.stmt) -> list[ast.stmt]:
    """Without what silences a process."""
    match statement:
        case ast.If(body=[ast.Expr(ast.Call(ast.Attribute(attr="dup2"))) as only], orelse=[]):
            return statements("pass", only)
        case ast.With(body=body) if any(_redirects(item.context_expr) for item in statement.items):
            return body
    return [statement]


def _redirects(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.startswith("redirect_stderr")


def _told_when_up(statement: ast.stmt) -> list[ast.stmt]:
    """Around the statement of `run` in which the processes meet; also where they have met before."""
    calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call) and _sets_up(n.func)]
    for call in calls:
        if call.args and isinstance(call.func, ast.Attribute):
            call.args[0] = expression(f"{NAME}.backend(0)", call.args[0])
    if not calls:
        return [statement]
    return [*statements(f"{NAME}.meet()", statement), statement, *statements(f"{NAME}.up()", statement)]


def _sets_up(function: ast.expr) -> bool:
    """torch's own, or the notebook's `connect(rank, world_size)`."""
    own = isinstance(function, ast.Name) and function.id == "connect"
    return own or (isinstance(function, ast.Attribute) and function.attr == SETS_UP)
