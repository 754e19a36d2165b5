"""Batches that do not come from a loader: all ranks draw them alike, and each takes its own samples.

Takes a Reading.
Gives the Splits of its steps, or why there are none; which means a rank has of its samples alone, of which batch.
"""

from nbddp.analysis.splitting.batches import Batches, batches_of
from nbddp.analysis.splitting.dimension import may_turn, samples_in, unused_marks, with_masks, with_places, with_states
from nbddp.analysis.splitting.find import chain_of, first_split, unshared
from nbddp.analysis.splitting.fit import in_columns, is_unclear, unclear_dim, unfit, whole_sizes
from nbddp.analysis.splitting.means import means_of
from nbddp.analysis.splitting.meeting import with_what_meets
from nbddp.analysis.splitting.origins import counted_rows
from nbddp.analysis.splitting.own_parameters import learned, leaves
from nbddp.analysis.splitting.regions import step_of

__all__ = [
    "Batches",
    "batches_of",
    "chain_of",
    "counted_rows",
    "first_split",
    "in_columns",
    "is_unclear",
    "learned",
    "leaves",
    "may_turn",
    "means_of",
    "samples_in",
    "step_of",
    "unclear_dim",
    "unfit",
    "unshared",
    "unused_marks",
    "whole_sizes",
    "with_masks",
    "with_places",
    "with_states",
    "with_what_meets",
]
