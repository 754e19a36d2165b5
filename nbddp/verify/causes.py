"""What can make N processes train otherwise than one: what it is called, what it does, what to do about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """`removed` says what an experiment does to it; a construct without that is seen in the records themselves."""

    name: str
    what: str
    advice: str
    removed: str = ""
    defect: bool = False  # else it is chance or rounding, or a share that is treated as the whole: no script is wrong
    evidence: str = ""


# In the order in which they are given back one by one, once all together have made a difference vanish: of two that
# would both do, the later is named.
CONSTRUCTS = (
    Cause(
        "draws",
        "random numbers that the loop draws (noise, coins, masks) are drawn by each process for itself",
        "nothing: the numbers are others, what they are drawn from is the same",
        "the loop's random numbers dealt out among the processes",
    ),
    Cause(
        "augmentation",
        "the data set changes its samples at random, and each process draws for itself",
        "nothing: the samples are changed otherwise, in the same way",
        "each sample's random numbers fixed",
    ),
    Cause(
        "sampler",
        "the sampler draws other samples than in the run of one process",
        "nothing: they are drawn from the same data in the same way",
        "one process given the batches of all of them",
    ),
    Cause(
        "uneven",
        "a last batch that does not divide is filled up with samples that are taken twice",
        "drop_last=True in the training loader, or a number of samples that the batch size divides",
        "the uneven batch taken away",
    ),
    Cause(
        "weights",
        "a mean loss that weighs classes or ignores labels divides by what its own share of the batch counts",
        'reduction="sum" and a division by the count of the whole batch, or larger batches',
        "the loss divided by the count of the whole batch",
    ),
    Cause(
        "autocast",
        "numbers of half the precision are rounded otherwise in smaller batches",
        "nothing: the rounding of autocast is as large on one process",
        "autocast turned off",
    ),
    Cause(
        "batchnorm",
        "BatchNorm takes mean and variance of each process's share of the batch, not of all of it",
        "SyncBatchNorm, which torch has for GPUs only (--sync-batchnorm), or larger batches, or GroupNorm",
        "BatchNorm put in evaluation",
    ),
    Cause(
        "dropout",
        "dropout draws another mask on each process",
        "nothing: that is as random as it was on one process",
        "dropout turned off",
    ),
)
MIXING = Cause(
    "mixing",
    "the loss or a layer sets the samples of a batch in relation to each other, and a share has fewer of them",
    "larger batches, or a loss that gathers what it compares from all processes",
    "each process given the whole batch",
)
EVALUATION = Cause(
    "evaluation",
    "the evaluation draws random numbers, each process for itself",
    "nothing: what is printed is drawn otherwise, in the same way",
    evidence="the weights are the same",
)
BY_NAME = {cause.name: cause for cause in CONSTRUCTS}
SYNCHRONISED = "nothing on GPUs: SyncBatchNorm is in the script; torch has none for processors, so it took no part here"

GRADIENTS = Cause(
    "gradients",
    "the gradients are not averaged over the processes: the loss goes past DistributedDataParallel",
    "compute the loss from the wrapped model's own call, model(x)",
    "the gradients averaged before each step",
    defect=True,
)
SPLIT = Cause(
    "batch",
    "the batch is not split: all processes together take more samples in a step than one process",
    "give each process's loader its share of the batch size, and a DistributedSampler",
    defect=True,
)
SAMPLES = Cause(
    "samples",
    "the processes do not share the samples out among them",
    "give the training loader a DistributedSampler of one seed",
    defect=True,
)
ORDER = Cause(
    "epoch",
    "two epochs go through the data in the same order",
    "call sampler.set_epoch(epoch) at the head of each epoch",
    defect=True,
)
RATES = Cause(
    "scheduler",
    "the processes step with different learning rates",
    "step the scheduler on every process, with a value that is the same on all",
    defect=True,
)
SEED = Cause(
    "seed",
    "the processes build data and weights from different random numbers",
    "seed all of them alike before anything is built",
    defect=True,
)
METRIC = Cause(
    "metric",
    "the weights are the same, but numbers are printed that are not those of all processes",
    "reduce them over the processes before they are read",
    defect=True,
)
SUM = Cause(
    "sum",
    "the loss is a sum over the batch: the processes average what one process adds up",
    "multiply it by the number of processes before backward()",
    defect=True,
)
STEPS = Cause(
    "steps",
    "the processes do not take the same number of steps",
    "have all of them decide alike when to go on and when to stop",
    defect=True,
)
