"""Whether the notebook trains on a GPU at all."""

from __future__ import annotations

import ast
import re

from nbddp.analysis.plan import Plan


def uses_gpu(plan: Plan) -> bool:
    """Does the notebook move anything to a GPU? One that never does trains on the CPU, in processes too."""
    for node in plan.nodes():
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.match(r"(cuda|mps)(:|$)", node.value):
            return True
        if isinstance(node, ast.Attribute) and node.attr == "cuda":
            return True
    return False
