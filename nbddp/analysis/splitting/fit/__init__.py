"""Whether a rank can take its part of a batch: why it cannot, what goes by a size, models that split what they get."""

from nbddp.analysis.splitting.fit.joined import in_models, joined_calls, joins_means, unjoined
from nbddp.analysis.splitting.fit.sizes import own_size, padded, rows_of_all_else, whole_sizes
from nbddp.analysis.splitting.fit.unfit import in_columns, is_unclear, unclear_dim, unclear_loss, unfit

__all__ = [
    "in_columns",
    "in_models",
    "is_unclear",
    "joined_calls",
    "joins_means",
    "own_size",
    "padded",
    "rows_of_all_else",
    "unclear_dim",
    "unclear_loss",
    "unfit",
    "unjoined",
    "whole_sizes",
]
