"""The abstract run of statements and expressions.

Takes a Machine and a node.
Gives the node's Value, and leaves what it saw in the machine's facts; loops run twice, branches side by side.
"""

from nbddp.analysis.evaluator.attributes import MODULE_API
from nbddp.analysis.evaluator.calls import call
from nbddp.analysis.evaluator.iteration import iterate
from nbddp.analysis.evaluator.operands import library
from nbddp.analysis.evaluator.statements import comprehension_loops, run_block, run_function, run_statement
from nbddp.analysis.evaluator.tensors import contracted, from_the_last
