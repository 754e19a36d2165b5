"""Whether a rank can take its part of a batch: why it cannot, what goes by a size, models that split what they get."""

from nbddp.analysis.splitting.fit.behind import behind_steps
from nbddp.analysis.splitting.fit.drawing_evaluations import coin_loops, drawing_loops
from nbddp.analysis.splitting.fit.full_batches import longer_than_the_last
from nbddp.analysis.splitting.fit.joined import is_an_object, joined_calls, joins_means, to_open, unjoined
from nbddp.analysis.splitting.fit.left_whole import left_whole
from nbddp.analysis.splitting.fit.meeting import met_whole, with_what_meets
from nbddp.analysis.splitting.fit.own_draws import (
    drawn_elsewhere,
    draws_by_share,
    draws_for_all,
    draws_for_part,
    draws_in_step,
    from_its_own,
    given_whole,
)
from nbddp.analysis.splitting.fit.sizes import (
    by_longest,
    cut_by_size,
    own_size,
    padded,
    rows_of_all_else,
    squeezes,
    trimmed,
    whole_sizes,
)
from nbddp.analysis.splitting.fit.unfit import (
    goes_on_in_models,
    in_columns,
    is_unclear,
    nothing_cut,
    unclear_dim,
    unclear_loss,
    unfit,
)
from nbddp.analysis.splitting.fit.unlike_draws import drawn_unlike
