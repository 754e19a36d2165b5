"""Where all ranks must have one and the same value.

Takes a Reading.
Gives the decisions that the ranks make together, and the outlets: places where a rank's own number gets out.
"""

from nbddp.analysis.agreement.by_sample import loaders_by_sample, loops_by_sample
from nbddp.analysis.agreement.counters import counting
from nbddp.analysis.agreement.decisions import Decision, find_decisions, protected
from nbddp.analysis.agreement.filled_up import collating, padded_inputs, padded_losses, turns_by_length
from nbddp.analysis.agreement.loss_scaling import losses_scaled
from nbddp.analysis.agreement.outlets import always_displayed, outlets, returned
from nbddp.analysis.agreement.over_ranks import KINDS, Text, kind_of, name_over_ranks, over_ranks
from nbddp.analysis.agreement.pairs import among_samples, is_paired, perhaps_paired
from nbddp.analysis.agreement.sample_means import SampleMean, sample_means
from nbddp.analysis.agreement.sync_points import called, is_meeting, meets, reached
from nbddp.analysis.agreement.weighted_losses import weighted_losses
