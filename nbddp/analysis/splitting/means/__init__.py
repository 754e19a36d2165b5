"""Means over a rank's samples.

Takes the plan as far as it is read, and a split.
Gives its means: where each comes about, what is counted beside it, and one of which that is not seen.
"""

from nbddp.analysis.splitting.means.born import means_in
from nbddp.analysis.splitting.means.found import Means, means_of
from nbddp.analysis.splitting.means.uncounted import uncounted

__all__ = ["Means", "means_in", "means_of", "uncounted"]
