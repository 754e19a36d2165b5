"""Statements: names that are bound, functions that are run, loops that run twice.

Takes a Machine and statements.
Gives whether they end by leaving, and binds what they bind.
"""

from nbddp.analysis.evaluator.statements.comprehensions import comprehension_loops
from nbddp.analysis.evaluator.statements.functions import run_function
from nbddp.analysis.evaluator.statements.statements import run_block, run_statement
