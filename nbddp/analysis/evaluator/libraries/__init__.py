"""Functions of libraries, and Python's own.

Takes a Machine, a call, the function's name and the values of its arguments.
Gives the call's Value, and notes what was made, written or drawn.
"""

from nbddp.analysis.evaluator.libraries.builtins import narrowed
from nbddp.analysis.evaluator.libraries.library_calls import call_library, of_uneven
