"""What the libraries' functions and methods are known to do.

Takes a qualified name, such as `torch.nn.functional.cross_entropy`, or that of a method, such as `.sum`.
Gives its entry: what it changes, makes, shows, draws and does to samples; and which framework trains.
"""

from nbddp.analysis.library.frameworks import (
    ACCELERATE,
    AITOOLBOX,
    CATALYST,
    FASTAI,
    HUGGING_FACE,
    LIGHTNING,
    Use,
    find_uses,
    steps_within,
)
from nbddp.analysis.library.in_place_changes import gone_through, in_place
from nbddp.analysis.library.lookup import effect_of, entry_of, filled, is_class, learns, makes
from nbddp.analysis.library.ops import MATRIX, MOVES, Effect, Gives, Op, Samples, Shape, Stream, under
from nbddp.analysis.library.star_imports import HIDES, USUAL, exports, starred_names
