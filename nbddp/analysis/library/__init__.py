"""What the libraries' functions are known to do.

Takes a qualified name, such as `torch.nn.functional.cross_entropy`.
Gives what it makes, whether it is pure, what it shows, writes or changes in place, and which framework trains.
"""

from nbddp.analysis.library.constructors import (
    MEAN_NAMES,
    is_clock,
    is_factory,
    is_mean_loss,
    is_random,
    learns,
    makes_optimizer,
)
from nbddp.analysis.library.frameworks import (
    ACCELERATE,
    AITOOLBOX,
    CATALYST,
    FASTAI,
    HUGGING_FACE,
    LIGHTNING,
    Use,
    find_uses,
)
from nbddp.analysis.library.in_place_changes import gone_through, in_place
from nbddp.analysis.library.methods import (
    AMBIENT_METHODS,
    CHANGING_CONTENT,
    CONVERSIONS,
    FRESH_METHODS,
    READING_METHODS,
    STORING_METHODS,
    SURELY_CHANGING,
    WRITING_METHODS,
    Samples,
    done_to_samples,
)
from nbddp.analysis.library.purity import (
    PURE_BUILTINS,
    PURE_MODULES,
    VIEWS,
    is_ambient,
    is_display,
    is_pure,
    under,
)
from nbddp.analysis.library.sinks import (
    BAR_METHODS,
    LOGGERS,
    LOGS,
    OPENS,
    SHOWS,
    SILENCED,
    TRACKERS,
    WRITES,
)
from nbddp.analysis.library.star_imports import USUAL, exports

__all__ = [
    "ACCELERATE",
    "AITOOLBOX",
    "AMBIENT_METHODS",
    "BAR_METHODS",
    "CATALYST",
    "CHANGING_CONTENT",
    "CONVERSIONS",
    "FASTAI",
    "FRESH_METHODS",
    "HUGGING_FACE",
    "LIGHTNING",
    "LOGGERS",
    "LOGS",
    "MEAN_NAMES",
    "OPENS",
    "PURE_BUILTINS",
    "PURE_MODULES",
    "READING_METHODS",
    "SHOWS",
    "SILENCED",
    "STORING_METHODS",
    "SURELY_CHANGING",
    "TRACKERS",
    "USUAL",
    "VIEWS",
    "WRITES",
    "WRITING_METHODS",
    "Samples",
    "Use",
    "done_to_samples",
    "exports",
    "find_uses",
    "gone_through",
    "in_place",
    "is_ambient",
    "is_clock",
    "is_display",
    "is_factory",
    "is_mean_loss",
    "is_pure",
    "is_random",
    "learns",
    "makes_optimizer",
    "under",
]
