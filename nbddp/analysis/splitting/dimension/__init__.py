"""Which dimension of a batch counts its samples, and what else has them where.

Takes a Reading and a Split.
Gives the dimension or why it is not clear, the marks that say it, the split with targets and first states.
"""

from nbddp.analysis.splitting.dimension.marks import marked_dim, unused_marks
from nbddp.analysis.splitting.dimension.samples import samples_in, set_against
from nbddp.analysis.splitting.dimension.sequences import is_layer, may_turn, one_sequence, time_first
from nbddp.analysis.splitting.dimension.states import cut_short, first_states, made_for_all, with_states, without_part
from nbddp.analysis.splitting.dimension.targets import with_masks, with_places
from nbddp.analysis.splitting.dimension.turning import leaves_the_first, swaps_the_first, turns_round
