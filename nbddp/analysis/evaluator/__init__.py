"""The abstract run of statements and expressions.

Takes a Machine and a node.
Gives the node's Value, and leaves what it saw in the machine's facts; loops run twice, branches side by side.
"""

from nbddp.analysis.evaluator.attributes import MODULE_API
from nbddp.analysis.evaluator.calls import call
from nbddp.analysis.evaluator.expressions import library
from nbddp.analysis.evaluator.functions import run_function
from nbddp.analysis.evaluator.iteration import iterate
from nbddp.analysis.evaluator.loops import comprehension_loops
from nbddp.analysis.evaluator.statements import run_block, run_statement
from nbddp.analysis.evaluator.tensor_rules import contracted

__all__ = [
    "MODULE_API",
    "call",
    "comprehension_loops",
    "contracted",
    "iterate",
    "library",
    "run_block",
    "run_function",
    "run_statement",
]
