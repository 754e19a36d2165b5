"""How models, optimizers and devices become those of several processes.

Takes a Reading.
Gives the Wrapping: which models DDP takes over and where, which gradients are averaged by hand, which device.
"""

from nbddp.analysis.models.buffers import kept_of_shares, synchronises
from nbddp.analysis.models.ddp_names import behind_ddp, ddp_name, module_of_ddp
from nbddp.analysis.models.devices import chosen, device_name, indexed_name, numbers, uses_gpu
from nbddp.analysis.models.sharded import (
    calls_sharded,
    gathers,
    is_behind,
    is_of_state,
    is_part,
    is_sharded_at,
    loaded_states,
    trained,
)
from nbddp.analysis.models.trial_passes import passes_left_out
from nbddp.analysis.models.unfreezing import set_in_each_turn, thaws_later
from nbddp.analysis.models.unused import unread_parts, unused_parameters
from nbddp.analysis.models.wrap_points import Home, find_home, is_move, of_data_parallel, only_moves
from nbddp.analysis.models.wrapping import Wrapping, find_wrapping, holds_statistics
