"""What a loop gets at each turn, one sample of a batch among it.

Takes a Machine, the Value that is gone through, and the loop.
Gives the Value of a turn, and the loaders that it draws from.
"""

from nbddp.analysis.evaluator.iteration.batches import may_be_no_batch
from nbddp.analysis.evaluator.iteration.by_place import hangs_on_place
from nbddp.analysis.evaluator.iteration.one_sample import (
    goes_through_samples,
    leave_samples,
    may_be_a_tuple,
    of_this_turn,
    place_of_sample,
)
from nbddp.analysis.evaluator.iteration.turns import (
    BATCHES,
    DEEPEST,
    ITEM,
    SHAPES,
    as_often_as,
    counted_sample,
    counts_samples,
    drawn_from,
    element_key,
    for_each_sample,
    generated,
    give,
    is_cut,
    is_indirect,
    iterate,
    literal_elements,
    loaders_in,
    only,
    params_in,
    parts,
    sent_to,
    taken_from,
    written_elements,
    yields,
)
