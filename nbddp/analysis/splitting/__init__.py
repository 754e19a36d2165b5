"""Batches that do not come from a loader: all ranks draw them alike, and each takes its own samples.

Takes a Reading.
Gives the Splits of its steps, or why there are none; which means a rank has of its samples alone, of which batch.
"""

from nbddp.analysis.splitting.batches import Batches, batches_of, is_starred, named_before
from nbddp.analysis.splitting.dimension import first_states, leaves_the_first, may_turn, unused_marks
from nbddp.analysis.splitting.find import chain_of, unshared
from nbddp.analysis.splitting.fit import (
    by_longest,
    coin_loops,
    drawing_loops,
    drawn_elsewhere,
    draws_by_share,
    draws_for_all,
    draws_for_part,
    draws_in_step,
    from_its_own,
    joined_calls,
    joins_means,
    own_size,
    padded,
    rows_of_all_else,
    squeezes,
    trimmed,
    whole_sizes,
)
from nbddp.analysis.splitting.means import means_in, means_of
from nbddp.analysis.splitting.origins import counted_rows, entries_of_each, is_put_back, sizes_in, stateful
from nbddp.analysis.splitting.own_parameters import learned, leaves
from nbddp.analysis.splitting.regions import step_of
from nbddp.analysis.splitting.roots import base_of
from nbddp.analysis.splitting.split_batches import counted_evenly, joined, losses_clear, split_batches, with_opened
