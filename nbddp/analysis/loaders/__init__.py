"""How the data is split among the ranks.

Takes a Reading.
Gives the Sharding of its loaders, the Epochs that samplers are told, and what the batch size means wherever it is read.
"""

from nbddp.analysis.loaders.batch_shares import Binds, around, known_at_start, sizes_at_start
from nbddp.analysis.loaders.batch_size_uses import is_rest, places, use_of
from nbddp.analysis.loaders.batch_sizes import Size, goes_into_shapes, of_loader, sizes, sizes_shared
from nbddp.analysis.loaders.epochs import Epochs, SetEpoch, find_epochs, sampler_name
from nbddp.analysis.loaders.handed_on import handed_on
from nbddp.analysis.loaders.joint_loaders import shuffles
from nbddp.analysis.loaders.loader_calls import LoaderCall, dataset_name, dataset_value, is_endless, loader_call
from nbddp.analysis.loaders.sharding import ShardedReading, Share, can_be_named, stands_twice, wants_a_name
from nbddp.analysis.loaders.shared_builder import can_be_asked, end_of_parameters
from nbddp.analysis.loaders.streams import is_stream
from nbddp.analysis.loaders.while_counters import while_counter
