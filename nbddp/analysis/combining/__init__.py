"""How numbers that each rank has for its own part become those of one process.

Takes a Machine at the end of a loop over a rank's share.
Gives a Reduction for each name that is read later: after the loop, in each step, or none, which is reported.
"""

from nbddp.analysis.combining.each_step import straight
from nbddp.analysis.combining.outputs import lets_out
from nbddp.analysis.combining.parts import WAYS, Part, Place, Written, as_a_whole, is_leaf, parts
from nbddp.analysis.combining.records import is_shown, is_text, written_with
from nbddp.analysis.combining.reductions import leave_loop
from nbddp.analysis.combining.split_evaluations import splits_inside
from nbddp.analysis.combining.writes import Uses, fillings, uses
