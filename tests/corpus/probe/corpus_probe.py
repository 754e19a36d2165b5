"""What makes three runs of a notebook comparable, put into torch before the notebook sees it.

Samplers draw one fixed order; loaders draw no seed; dropout is off; BatchNorm looks at each sample by itself, so
that it does not matter with which others a sample shares a process. Each `backward` is recorded with its loss, some
steps of optimizers with the size of the weights; after CORPUS_STEPS of the former the run ends. What each rank prints
and leaves is kept, also where one speaks for all: it should be the same on all of them.
"""

import builtins
import hashlib
import importlib.util
import inspect
import json
import multiprocessing
import os
import random
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.utils import data
from torch.utils.data import dataloader

run = SimpleNamespace(on=True, total=0, backwards=0, aside=0, steps=0, randomness=None, ended=None)
WEIGHED = {1, 2, 3, 5, 8, 12, 16, 24, 32, 48, 64, 96, 128}  # steps after which the weights are measured


class Cut(BaseException):
    """Ends a statement that trains aside from what is compared."""


def limit():
    return int(os.environ.get("CORPUS_STEPS", "16"))


def rank_now():
    """Processes that the script has spawned are known by their group, before that by the number of their name."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return str(torch.distributed.get_rank())
    number = multiprocessing.current_process().name.rpartition("-")[2]
    return os.environ.get("RANK", str(int(number) - 1) if number.isdigit() else "0")


def put(**fields):
    with Path(os.environ["CORPUS_RECORD"], f"rank{rank_now()}.jsonl").open("a") as file:
        file.write(json.dumps({"time": time.time(), **fields}) + "\n")


def state_of_randomness():
    found = hashlib.sha1(torch.get_rng_state().numpy().tobytes())
    found.update(repr(random.getstate()).encode())
    if "numpy" in sys.modules:
        found.update(sys.modules["numpy"].random.get_state()[1].tobytes())
    return found.hexdigest()


def end():
    """All ranks come here after the same backward; one that does not is what the run is there to find."""
    put(event="cut")
    sys.stdout.flush()
    if dist.is_available() and dist.is_initialized():
        dist.barrier()
    if run.ended:
        run.ended()
    os._exit(0)


def record_backward():
    plain = torch.autograd.backward

    def backward(tensors, *arguments, **options):
        run.total += 1
        if not run.on:
            run.aside += 1
            if run.aside > limit():
                raise Cut
            return plain(tensors, *arguments, **options)
        if run.backwards >= limit():
            end()
        run.backwards += 1
        drew = state_of_randomness()
        one = tensors if torch.is_tensor(tensors) else tensors[0]
        put(event="backward", loss=one.detach().double().sum().item(), drew=run.randomness not in (None, drew))
        run.randomness = drew
        return plain(tensors, *arguments, **options)

    torch.autograd.backward = backward


def record_steps():
    def hook(optimizer, *_):
        if run.on:
            run.steps += 1
            if run.steps in WEIGHED:
                sizes = [p.detach().double().norm().item() for g in optimizer.param_groups for p in g["params"]]
                put(event="step", number=run.steps, size=sum(sizes))

    register_optimizer_step_post_hook(hook)


def record_prints():
    """Of each rank: nobody hears those that do not speak."""
    plain = builtins.print

    def shown(*values, sep=" ", file=None, **options):
        if file in (None, sys.stdout) and os.environ["CORPUS_RECORD"] != os.devnull:
            put(event="print", text=(" " if sep is None else sep).join(map(str, values)))
        return plain(*values, sep=sep, file=file, **options)

    builtins.print = shown


def keep_what_each_rank_leaves():
    """Rank 0 leaves it for the notebook; the others leave theirs beside it."""
    from nbddp.run.watching import result, watcher

    plain = watcher.Watcher.deliver

    def deliver(watching, states, names, means, scope):
        plain(watching, states, names, means, scope)
        if watching.settings.result is not None and watching.reports.rank:
            alike = [name for name in names if name not in means]
            result.deliver(f"{watching.settings.result}.{watching.reports.rank}", states, alike, scope)

    watcher.Watcher.deliver = deliver


def count_in_double():
    """Numbers of twice the digits, where a run asks for them: what rounding has made of the training goes away."""
    floating = torch.Tensor.float
    fetch = data._utils.fetch._MapDatasetFetcher.fetch

    def widened(value):
        if torch.is_tensor(value):
            return value.double() if value.dtype == torch.float32 else value
        if isinstance(value, dict):
            return {key: widened(part) for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            parts = [widened(part) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        return value

    def doubled():
        return os.environ.get("CORPUS_DOUBLE") == "1"

    def fetched(fetcher, wanted):
        return widened(fetch(fetcher, wanted)) if doubled() else fetch(fetcher, wanted)

    torch.Tensor.float = lambda tensor, *a, **k: tensor.double() if doubled() else floating(tensor, *a, **k)
    data._utils.fetch._MapDatasetFetcher.fetch = fetched


def fix_order():
    """The same permutation in each epoch, whoever draws it: epochs count differently in a loop by hand."""
    one_rank = data.RandomSampler.__iter__
    share = data.DistributedSampler.__iter__

    def order(sampler):
        if run.on and torch.is_grad_enabled():
            put(event="order", samples=len(sampler.data_source))
        if sampler.replacement or sampler.num_samples != len(sampler.data_source):
            sampler.generator = torch.Generator().manual_seed(0)
            return one_rank(sampler)
        return iter(torch.randperm(len(sampler.data_source), generator=torch.Generator().manual_seed(0)).tolist())

    def order_of_share(sampler):
        kept = sampler.seed, sampler.epoch
        sampler.seed = sampler.epoch = 0
        drawn = list(share(sampler))
        sampler.seed, sampler.epoch = kept
        return iter(drawn)

    data.RandomSampler.__iter__ = order
    data.DistributedSampler.__iter__ = order_of_share
    for kind in (data.SubsetRandomSampler, data.WeightedRandomSampler):
        kind.__iter__ = seeded(kind.__iter__)


def seeded(iterate):
    def iterate_seeded(sampler):
        if run.on and torch.is_grad_enabled():
            put(event="order", samples=len(sampler))
        sampler.generator = torch.Generator().manual_seed(0)
        return iterate(sampler)

    return iterate_seeded


def draw_no_seeds():
    begin = dataloader._BaseDataLoaderIter.__init__

    def quietly(iterator, loader, *arguments, **options):
        before = torch.get_rng_state()
        begin(iterator, loader, *arguments, **options)
        if loader.generator is None:
            torch.set_rng_state(before)

    dataloader._BaseDataLoaderIter.__init__ = quietly


def load_samples_alike():
    """What a data set draws for a sample, for its augmentation say, is drawn by the number of the sample."""

    def fetch(fetcher, wanted):
        before = random.getstate(), torch.get_rng_state()
        array = sys.modules["numpy"].random.get_state() if "numpy" in sys.modules else None
        batch = [one(fetcher.dataset, i) for i in wanted] if fetcher.auto_collation else one(fetcher.dataset, wanted)
        random.setstate(before[0])
        torch.set_rng_state(before[1])
        if array is not None:
            sys.modules["numpy"].random.set_state(array)
        return fetcher.collate_fn(batch)

    def one(dataset, index):
        number = int(hashlib.sha1(repr(index).encode()).hexdigest()[:8], 16)
        random.seed(number)
        torch.manual_seed(number)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(number)
        return dataset[index]

    data._utils.fetch._MapDatasetFetcher.fetch = fetch


def treat_samples_alone():
    def as_it_is(x, *arguments, **options):
        return x

    def by_sample(x, mean, variance, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
        flat = F.group_norm(x, 1, None, None, eps) if x[0].numel() > 1 else x
        shape = (1, -1, *[1] * (x.dim() - 2))
        flat = flat * weight.reshape(shape) if weight is not None else flat
        return flat + bias.reshape(shape) if bias is not None else flat

    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"):
        setattr(F, name, as_it_is)
    F.batch_norm = by_sample
    for kind in (torch.nn.RNNBase, torch.nn.MultiheadAttention):
        kind.__init__ = without_dropout(kind.__init__)


def without_dropout(build):
    def built(module, *arguments, **options):
        build(module, *arguments, **options)
        module.dropout = 0.0

    return built


def show_signature():
    """A stand-in may have wrapped what builds a loader; frameworks read its signature to build the loader anew."""
    spec = importlib.util.spec_from_file_location("torch.utils.data.as_written", dataloader.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    data.DataLoader.__init__.__signature__ = inspect.signature(module.DataLoader.__init__)


def start_by_fork():
    """Ranks that have imported torch already: no start method changes what they compute."""

    def spawn(function, args=(), nprocs=1, **options):
        return torch.multiprocessing.start_processes(function, args, nprocs, start_method="fork")

    torch.multiprocessing.spawn = spawn


def install():
    torch.set_num_threads(1)
    show_signature()
    start_by_fork()
    record_backward()
    record_steps()
    record_prints()
    keep_what_each_rank_leaves()
    fix_order()
    draw_no_seeds()
    if os.environ.get("CORPUS_AS_IT_IS") != "1":
        load_samples_alike()
        if os.environ.get("CORPUS_EXACT") != "1":  # whose scripts take the whole batch for both
            treat_samples_alone()
    count_in_double()
