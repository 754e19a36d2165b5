"""What a value is made of.

Takes a Reading and an expression.
Gives the expressions that it comes from, unchanged or in whatever number of steps; whether it is a mask; its size; and
where a step only looks at it.
"""

from nbddp.analysis.splitting.origins.broadcasting import is_put_on_top, on_top
from nbddp.analysis.splitting.origins.elements import gives_samples, is_sample
from nbddp.analysis.splitting.origins.looked_at import looked_at
from nbddp.analysis.splitting.origins.masks import is_mask
from nbddp.analysis.splitting.origins.orders import SORTS, is_put_back
from nbddp.analysis.splitting.origins.picked import draws, is_of_library, is_table, picked_by, picks_at_random, reads_of
from nbddp.analysis.splitting.origins.settings import holds_tools, is_only_gone_through, lists_settings
from nbddp.analysis.splitting.origins.sizes import (
    STATE,
    TENSORS,
    are_drawn_by,
    begins_states,
    counted_rows,
    detached,
    entries_of_each,
    fits,
    has_size,
    is_constant,
    is_count,
    is_moved,
    is_state,
    is_unchanging,
    known_size,
    loaders_of,
    rows_of_batches,
    sizes_in,
    sizes_of_state,
    stateful,
    written_size,
    written_sizes,
)
from nbddp.analysis.splitting.origins.structures import classes_of, holds_tensors, is_of_tensors, structure_of
from nbddp.analysis.splitting.origins.strung import strung
