"""What the notebook means: the abstract run of what is kept, and the parts that things play in it.

Takes a Program, its Flow and its Slice.
Gives a Reading: facts, roles (models, optimizers, loaders, loops), names that are free for the script.
"""

from nbddp.analysis.reading.bindings import FAR, Binding, Scope, scope_of
from nbddp.analysis.reading.draws_left_out import draws_left_out, draws_to_keep
from nbddp.analysis.reading.file_calls import (
    fetches,
    loads,
    looks,
    makes_folders,
    opens_to_write,
    path_of,
    unpacks,
    writes,
)
from nbddp.analysis.reading.in_scope import (
    SingleStart,
    expressions_among,
    expressions_for,
    held_by,
    held_in_containers,
    items_of,
    readable,
    single_start,
    state_in_scope,
    steps_of,
)
from nbddp.analysis.reading.interpret import FOUND, Run, settled
from nbddp.analysis.reading.naming import Naming, naming_for
from nbddp.analysis.reading.random_draws import (
    TORCH,
    Definition,
    Source,
    drawn_for_items,
    draws,
    drops_asleep,
    generators,
    may_drop,
    seeds,
    surely_draws,
    with_what_it_calls,
)
from nbddp.analysis.reading.reading import Reading, may_hold_batch_norm, untrained_with_statistics, with_statistics
from nbddp.analysis.reading.roles import Model, only_shows
from nbddp.analysis.reading.snapshot_slice import Taken, take_over, training_of
from nbddp.analysis.reading.training_loops import trained_on
