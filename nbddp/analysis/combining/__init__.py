"""How numbers that each rank has for its own part become those of one process.

Takes a Machine at the end of a loop over a rank's share.
Gives a Reduction for each name that is read later: after the loop, in each step, or none, which is reported.
"""

from nbddp.analysis.combining.each_step import ROUNDING
from nbddp.analysis.combining.outputs import lets_out
from nbddp.analysis.combining.reductions import leave_loop

__all__ = ["ROUNDING", "leave_loop", "lets_out"]
