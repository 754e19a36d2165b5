"""What an expression may stand for, and how one rank's part relates to the whole.

Takes nodes and values of the abstract run.
Gives Value with its extent, the Machine that holds the state of a run, and the Facts that a run brings to light.
"""

from nbddp.analysis.values.arithmetic import (
    OPERATORS,
    UNARY,
    averaged,
    binary,
    chosen,
    elementwise,
    guarded,
    product,
    summed,
    turned,
    unary,
)
from nbddp.analysis.values.assumptions import Assumptions, Counting, Split, batch_at
from nbddp.analysis.values.branches import chosen_by, copies, decided, join_states, operands, restore, state_of
from nbddp.analysis.values.contents import (
    ITEMS,
    OPENED,
    SOURCES,
    TURNS,
    contents,
    held,
    is_of_own_choice,
    is_read,
    is_uneven,
    may_learn,
    note_size,
    sources,
    turns_of,
)
from nbddp.analysis.values.contexts import Active, Env, Frame, Left, Remembered, Trace
from nbddp.analysis.values.domain import (
    ANYTHING,
    ASSUMED,
    BY_MASK,
    EACH,
    EARLIER,
    FLAT,
    FRACTION,
    JOINED,
    KNOWN,
    LINE,
    MARKS,
    MASK,
    MOVED,
    OF_A_PART,
    OF_A_SHARE,
    OF_EACH,
    ONE,
    PICKED,
    PIECES,
    PLACED,
    PLACES,
    SEVERAL,
    SHUFFLED,
    STATISTIC,
    TURNED,
    UNLIKE,
    WEIGHTED,
    WHOLE,
    Extent,
    Literal,
    Obj,
    Several,
    Sizes,
    Value,
    alike,
    is_zero,
    join,
    join_all,
    join_extent,
    marked,
    may_be_an_array,
    of_one,
    ones,
    placed,
    single,
    some_by_place,
    spread,
    thing,
    truth,
)
from nbddp.analysis.values.facts import CallFact, Facts, Loop, LoopFact, Reduction, TestFact
from nbddp.analysis.values.foreign import (
    bound,
    foreign,
    has_parameters,
    is_foreign,
    iterated,
    optimizers_of,
    trained_on_foreign,
)
from nbddp.analysis.values.losses import (
    as_average,
    as_mean,
    as_total,
    backward_of,
    goes_along_sequences,
    loss_extent,
    note_divisor,
    note_given,
    note_of_its_batch,
    note_statistic,
    note_statistic_given,
    reduced,
    tell_unlike,
)
from nbddp.analysis.values.machine import DEPTH, FIELDS_OF, GLOBALS, HOOKS, Args, Keywords, Machine, Steps
from nbddp.analysis.values.names import from_afar
from nbddp.analysis.values.tracking import last_change, last_finding, note_change
