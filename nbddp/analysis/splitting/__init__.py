"""Batches that do not come from a loader: all ranks draw them alike, and each takes its own samples.

Takes a Reading.
Gives the Splits of its steps, or why there are none; which means a rank has of its samples alone.
"""

from nbddp.analysis.splitting.find import chain_of, first_split, unshared
from nbddp.analysis.splitting.fit import is_unclear, unfit
from nbddp.analysis.splitting.means import Means, means_of
from nbddp.analysis.splitting.meeting import with_what_meets
from nbddp.analysis.splitting.own_parameters import learned
from nbddp.analysis.splitting.positions import numbered
from nbddp.analysis.splitting.regions import region_at

__all__ = [
    "Means",
    "chain_of",
    "first_split",
    "is_unclear",
    "learned",
    "means_of",
    "numbered",
    "region_at",
    "unfit",
    "unshared",
    "with_what_meets",
]
