"""Which cell trains, and by which statements.

Takes a Flow and the options.
Gives the number of the training cell and the statements that run backward and step; refuses where it is not clear.
"""

from nbddp.analysis.training.hook_cells import hook, in_hook, misused_hooks
from nbddp.analysis.training.invalid_cells import first_causes
from nbddp.analysis.training.mark_checks import misspelt
from nbddp.analysis.training.training_cell import choose_training_cell, with_line
from nbddp.analysis.training.training_statements import training_statements
from nbddp.analysis.training.unreadable_training import ALREADY, already_ddp, trains_elsewhere
