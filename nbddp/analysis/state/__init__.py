"""What a training carries from epoch to epoch, and from the kernel into a run.

Takes a Reading.
Gives the names and plain values that a checkpoint needs besides the states of models and optimizers.
"""

from nbddp.analysis.state.batches_done import BatchLoop
from nbddp.analysis.state.cell_names import name_in_cells
from nbddp.analysis.state.checkpointed_loop import CheckpointedLoop, checkpointed, watched_within
from nbddp.analysis.state.iteration_effects import turn_of
from nbddp.analysis.state.live_names import are_many, is_untouched, made_here, names_holding, only_filled, rebound
from nbddp.analysis.state.loop_carried import Carried, carried
from nbddp.analysis.state.names_left import NameLeft, names_left
from nbddp.analysis.state.training_passes import (
    Passage,
    is_conditional,
    is_repeated,
    meaning,
    passages,
    passages_before,
)
