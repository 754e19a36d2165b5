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
    for node in (n for s in rest for n in ast.walk(s)):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                _tell_when_up(block)
    _tell_when_up(rest)
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


def _tell_when_up(block: list[ast.stmt]) -> None:
    for statement in list(block):
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == SETS_UP:
            if call.args:
                call.args[0] = expression(f"{NAME}.backend(0)", call.args[0])
            place = next(i for i, other in enumerate(block) if other is statement)
            block[place + 1 : place + 1] = statements(f"{NAME}.up()", statement)
            block[place:place] = statements(f"{NAME}.meet()", statement)
