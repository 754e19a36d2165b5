"""What stands in an expression: literals, names, and what an operator or a comparison makes of values.

Takes a Machine, a node and the values of its parts.
Gives the node's Value.
"""

from nbddp.analysis.evaluator.operands.comparisons import compared
from nbddp.analysis.evaluator.operands.names import constant, library, named
from nbddp.analysis.evaluator.operands.operators import computed, with_contents
from nbddp.analysis.evaluator.operands.own_backward import APPLY, applied, keeps_proportion
