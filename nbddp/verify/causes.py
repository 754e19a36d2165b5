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
        "each process draws its own random numbers in the loop (noise, coins, masks)",
        "nothing to do: the numbers are different, but their distribution is the same",
        "with one process's random numbers split among the processes",
    ),
    Cause(
        "augmentation",
        "the dataset changes its samples at random, and each process draws its own random numbers",
        "nothing to do: the samples are changed with different random numbers, but in the same way",
        "with fixed random numbers for each sample",
    ),
    Cause(
        "sampler",
        "the sampler draws different samples than in the run of one process",
        "nothing to do: they are drawn from the same data in the same way",
        "with one process using the batches of all processes",
    ),
    Cause(
        "uneven",
        "the last batch does not divide evenly among the processes, and is filled up with samples that are used twice",
        "use drop_last=True in the training loader, a number of samples that the batch size divides, or --exact",
        "without the uneven batch",
    ),
    Cause(
        "weights",
        "a mean loss with class weights or ignored labels divides by the total weight of the process's own share of "
        "the batch",
        'use reduction="sum" and divide by the count of the whole batch, or use larger batches',
        "with the loss divided by the count of the whole batch",
    ),
    Cause(
        "autocast",
        "numbers in half precision are rounded differently in smaller batches",
        "nothing to do: autocast rounds just as much on one process",
        "with autocast turned off",
    ),
    Cause(
        "batchnorm",
        "BatchNorm computes mean and variance over each process's share of the batch, not over the whole batch",
        "use SyncBatchNorm (--sync-batchnorm; torch has it for GPUs only), larger batches, or GroupNorm",
        "with BatchNorm in evaluation mode",
    ),
    Cause(
        "dropout",
        "dropout draws a different mask on each process",
        "nothing to do: it is as random as on one process",
        "with dropout turned off",
    ),
)
MIXING = Cause(
    "mixing",
    "the loss or a layer compares the samples of a batch with each other, and each process has fewer of them",
    "use larger batches, or a loss that gathers what it compares from all processes",
    "with the whole batch on each process",
)
EVALUATION = Cause(
    "evaluation",
    "each process draws its own random numbers in the evaluation",
    "nothing to do: what is printed uses different random numbers, but in the same way",
    evidence="the weights are the same",
)
BY_NAME = {cause.name: cause for cause in CONSTRUCTS}
SYNCHRONISED = "nothing to do on GPUs: the script uses SyncBatchNorm; torch has none for CPUs, so it had no effect here"

GRADIENTS = Cause(
    "gradients",
    "the gradients are not averaged over the processes: the loss bypasses DistributedDataParallel",
    "compute the loss from a call of the wrapped model, model(x)",
    "with the gradients averaged before each step",
    defect=True,
)
SPLIT = Cause(
    "batch",
    "the batch is not split: all processes together use more samples in a step than one process",
    "give each process's loader its share of the batch size, and a DistributedSampler",
    defect=True,
)
SAMPLES = Cause(
    "samples",
    "the samples are not split among the processes",
    "give the training loader a DistributedSampler with the same seed on all processes",
    defect=True,
)
ROUNDED = Cause(
    "rounding",
    "the batch size does not divide among the processes, and each one's share is rounded down",
    "choose a batch size that they divide, or use --exact",
)
ORDER = Cause(
    "epoch",
    "two epochs use the data in the same order",
    "call sampler.set_epoch(epoch) at the start of each epoch",
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
    "the processes create data and weights from different random numbers",
    "give all of them the same seed before anything is created",
    defect=True,
)
METRIC = Cause(
    "metric",
    "the weights are the same, but printed numbers do not cover all processes",
    "combine them over the processes before they are used",
    defect=True,
)
SUM = Cause(
    "sum",
    "the loss is a sum over the batch: the processes average what one process sums",
    "multiply it by the number of processes before backward()",
    defect=True,
)
STEPS = Cause(
    "steps",
    "the processes do not take the same number of steps",
    "let all of them decide in the same way when to continue and when to stop",
    defect=True,
)
