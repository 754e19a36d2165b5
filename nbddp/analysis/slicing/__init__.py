"""Which statements the training needs.

Takes a Program.
Gives the Flow (what each statement reads, binds, changes) and the Slice that is kept, with reasons for the rest.
"""

from nbddp.analysis.slicing.effects import Changes, Walk, effects
from nbddp.analysis.slicing.gradients import is_made_in_step, moves_data_alone
from nbddp.analysis.slicing.kept_prints import with_prints
from nbddp.analysis.slicing.loop_effects import (
    carried_reads,
    changed_names,
    fills_items,
    forms,
    fresh_names,
    fresh_start,
    inside,
    is_outer,
    may_skip_end,
    read_after,
    read_names,
)
from nbddp.analysis.slicing.names import Effects
from nbddp.analysis.slicing.scopes import Function, all_arguments, bound_names, defaults, local_names, root_name
from nbddp.analysis.slicing.slice import Flow, Slice, backward_slice, build_flow, runs_when_imported
from nbddp.analysis.slicing.snapshot import definitions_of, given, making, refuse_kinds, still_made, with_loads
from nbddp.analysis.slicing.starts import (
    block_of,
    is_empty,
    is_nothing,
    sets,
    starts_at_zero,
    zeros_behind,
    zeros_of,
)
