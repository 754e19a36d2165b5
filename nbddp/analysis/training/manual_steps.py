"""Steps written out: where a gradient that is read goes into a parameter, and where it is only looked at."""

from __future__ import annotations

import ast

from nbddp.analysis.slicing import root_name
from nbddp.analysis.syntax import Program

LOOKS = frozenset("norm item tolist numpy zero_ print len format hist plot imshow add_histogram".split())


def steps_by_hand(program: Program) -> frozenset[ast.AST]:
    """Reads of `.grad` behind which a parameter may change: `w -= lr * w.grad`, `p.data.add_(p.grad, alpha=-lr)`."""
    return frozenset(n for n in program.nodes if _reads(n) and not _only_looks(program, n))


def gradients_taken(program: Program) -> frozenset[ast.AST]:
    """The `torch.autograd.grad` of its calls, and what is returned: a step may follow, a penalty, an attack, a plot."""
    called = {n.func for n in program.nodes if isinstance(n, ast.Call)}
    returned = (n for r in program.nodes if isinstance(r, ast.Return) for n in ast.walk(r))
    return frozenset(n for n in (*called, *returned) if _reads(n))


def gradients_kept(program: Program) -> frozenset[ast.AST]:
    """`adversarial = x + 0.1 * x.grad.sign()`, `return x.grad`: what the gradient is of stays as it is."""
    return frozenset(n for n in program.nodes if _reads(n) and _stays(program, n))


def _stays(program: Program, node: ast.AST) -> bool:
    assert isinstance(node, ast.Attribute)
    around = [*program.ancestors(node)]
    statement = next(a for a in around if isinstance(a, ast.stmt))
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    moved = any(isinstance(a, ast.BinOp) and isinstance(a.op, ast.Sub) for a in around)
    moved |= root_name(node.value) in {root_name(t) for t in targets}
    computed = any(isinstance(a, ast.BinOp) for a in around)
    return not moved and (isinstance(statement, ast.Return) or (computed and isinstance(statement, ast.Assign)))


def _reads(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "grad" and isinstance(node.ctx, ast.Load)


def _only_looks(program: Program, node: ast.AST) -> bool:
    """`p.grad.norm()`, `print(p.grad)`, `if p.grad is None`; what is taken away from something is a step."""
    if any(isinstance(a, ast.BinOp | ast.AugAssign) and isinstance(a.op, ast.Sub) for a in program.ancestors(node)):
        return False
    for around in program.ancestors(node):
        if isinstance(around, ast.Call) and getattr(around.func, "attr", getattr(around.func, "id", "")) in LOOKS:
            return True
        if isinstance(around, ast.stmt):
            return not isinstance(around, ast.Assign | ast.AugAssign | ast.Expr | ast.For | ast.Return)
        if isinstance(around, ast.Compare | ast.JoinedStr):
            return True
    return True
