"""Python's own functions.

Takes a Machine, a call, and the values of its arguments.
Gives the call's Value, or None where it is about something else.
"""

from nbddp.analysis.evaluator.libraries.builtins.functions import builtin
from nbddp.analysis.evaluator.libraries.builtins.kinds import narrowed
