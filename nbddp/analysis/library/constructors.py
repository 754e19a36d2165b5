"""What the libraries' names make and do: one table each, by qualified name."""

from __future__ import annotations

from nbddp.analysis.library.purity import under

# Wrap an iterable and yield what it yields, perhaps with an index beside.
PASSES_ITERABLE = frozenset(
    """
    tqdm.tqdm tqdm.trange enumerate iter reversed itertools.islice itertools.cycle rich.progress.track
    fastprogress.progress_bar fastprogress.master_bar list tuple alive_progress.alive_it
    tqdm.rich.tqdm tqdm.asyncio.tqdm
    """.split()
)
ZIPS = frozenset({"zip", "itertools.zip_longest", "itertools.chain"})
# Return their first argument, or a thing that stands for it.
SAME = frozenset(
    """
    torch.compile torch.jit.script torch.jit.trace torch.nn.DataParallel torch._dynamo.optimize
    torch.nn.SyncBatchNorm.convert_sync_batchnorm filter list tuple sorted set iter itertools.chain reversed
    torch.nn.parallel.DistributedDataParallel opacus.grad_sample.GradSampleModule
    """.split()
)
KEEPS_EXTENT = frozenset(
    """
    float int round abs str torch.tensor torch.as_tensor torch.from_numpy numpy.array numpy.asarray torch.FloatTensor
    torch.autograd.Variable numpy.round torch.round torch.squeeze torch.unsqueeze torch.detach torch.Tensor
    numpy.float32 numpy.float64 torch.real numpy.squeeze torch.nan_to_num copy.copy copy.deepcopy torch.abs
    torch.utils.checkpoint.checkpoint
    """.split()
)
MEAN_LOSSES = frozenset(
    """
    cross_entropy mse_loss l1_loss smooth_l1_loss huber_loss nll_loss binary_cross_entropy kl_div
    binary_cross_entropy_with_logits cosine_embedding_loss hinge_embedding_loss margin_ranking_loss multi_margin_loss
    multilabel_margin_loss multilabel_soft_margin_loss poisson_nll_loss gaussian_nll_loss soft_margin_loss
    triplet_margin_loss triplet_margin_with_distance_loss ctc_loss
    """.split()
)
SKLEARN_MEANS = frozenset(
    "accuracy_score mean_squared_error mean_absolute_error log_loss zero_one_loss hamming_loss".split()
)
MEAN_NAMES = frozenset({"torch.mean", "numpy.mean", "numpy.average", "statistics.mean", "statistics.fmean"})
RANDOM = (
    "torch.rand", "torch.randn", "torch.randint", "torch.randperm", "torch.rand_like", "torch.randn_like",
    "torch.randint_like", "torch.normal", "torch.bernoulli", "torch.multinomial", "torch.empty", "torch.Tensor",
    "torch.FloatTensor", "torch.distributions",
)  # fmt: skip
OPTIMIZERS = ("torch.optim", "torch_optimizer", "transformers.AdamW", "transformers.Adafactor", "lion_pytorch",
              "bitsandbytes.optim", "timm.optim", "adabelief_pytorch", "apex.optimizers")  # fmt: skip
SCHEDULER_ROOTS = ("torch.optim.lr_scheduler", "timm.scheduler", "transformers.optimization")
MODEL_ROOTS = ("torchvision.models", "timm.create_model", "timm.models", "torch.hub.load",
               "segmentation_models_pytorch",
               "efficientnet_pytorch", "torch_geometric.nn", "torchvision.ops", "pretrainedmodels",
               "monai.networks", "diffusers.UNet2DModel", "ultralytics", "kan", "facenet_pytorch")  # fmt: skip
DATASET_ROOTS = ("torchvision.datasets", "torch.utils.data", "torchaudio.datasets", "torchtext.datasets",
                 "datasets.load_dataset", "datasets.Dataset", "datasets.DatasetDict", "datasets.IterableDataset",
                 "datasets.arrow_dataset", "datasets.dataset_dict", "datasets.iterable_dataset")  # fmt: skip
WRITERS = ("torch.utils.tensorboard.SummaryWriter", "tensorboardX.SummaryWriter", "torch.utils.tensorboard.writer",
           "visdom.Visdom", "csv.writer", "csv.DictWriter", "neptune.init_run", "aim.Run",
           "comet_ml.Experiment")  # fmt: skip
# What each rank finds for itself: the same but for chance, the clock and the disk.
CHANCES = ("random", "numpy.random", "time", "datetime.datetime.now", "datetime.datetime.today", "timeit.default_timer",
           "os.path.exists", "os.path.isfile", "os.path.isdir", "os.path.getsize", "os.path.getmtime", "os.listdir",
           "glob.glob", "psutil", "torch.cuda.memory_allocated", "torch.cuda.max_memory_allocated",
           "torch.cuda.memory_reserved", "torch.cuda.mem_get_info", "uuid")  # fmt: skip
# Modules that compute and learn nothing.
PLAIN = ("ReLU", "GELU", "SiLU", "ELU", "Dropout", "Pool", "Softmax", "Softplus", "Sigmoid", "Tanh", "Flatten", "Loss",
         "Identity", "Upsample", "Unfold", "Fold", "Pad", "Distance", "Similarity", "Shuffle")  # fmt: skip
NO_GRAD = frozenset({"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"})


def _last(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def is_class(name: str) -> bool:
    return _last(name)[:1].isupper()


def makes_scheduler(name: str) -> bool:
    last = _last(name)
    return (under(name, SCHEDULER_ROOTS) and is_class(name)) or (last.startswith("get_") and "schedule" in last)


def makes_optimizer(name: str) -> bool:
    return under(name, OPTIMIZERS) and is_class(name) and not makes_scheduler(name)


def makes_loss(name: str) -> bool:
    return name.startswith("torch.nn.") and _last(name).removesuffix("2d").endswith("Loss")


def makes_model(name: str) -> bool:
    if name.startswith(("torch.nn.", "torchvision.models.", "torchvision.ops.")) and not name.startswith(
        ("torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.nn.Parameter")
    ):
        last = name.rsplit(".", 1)[-1]
        weights = "Weights" in name or last in ("get_weight", "list_models", "DEFAULT")
        return not weights and (is_class(name) or name.startswith("torchvision.models."))
    if name.startswith("transformers.") and name.endswith(".from_pretrained"):
        return any(t in name for t in ("Model", "For", "LMHead")) and "Tokenizer" not in name
    if name.startswith("transformers."):
        return any(name.endswith(t) for t in ("Model", "LMHeadModel")) or "For" in _last(name)
    return under(name, MODEL_ROOTS)


def learns(name: str) -> bool:
    """May a module of a library have parameters?"""
    plain = any(word in _last(name) for word in PLAIN) and _last(name) not in ("PReLU", "AdaptiveLogSoftmaxWithLoss")
    return not (name.startswith("torch.nn.") and plain)


def makes_sampler(name: str) -> bool:
    return name.startswith("torch.utils.data.") and name.endswith("Sampler")


def makes_dataset(name: str) -> bool:
    return under(name, DATASET_ROOTS) and (is_class(name) or _last(name) in ("random_split", "load_dataset"))


def is_mean_loss(name: str) -> bool:
    return name.startswith("torch.nn.functional.") and _last(name) in MEAN_LOSSES


def is_chance(name: str) -> bool:
    return under(name, CHANCES) or is_random(name)


def is_factory(name: str) -> bool:
    """Does it make a tensor or an array of a size that it is given?"""
    made = ("zeros", "ones", "full", "empty", "FloatTensor", "LongTensor", "Tensor")
    return (
        is_random(name)
        or name.startswith("numpy.random.")
        or (_last(name) in made and name.startswith(("torch", "numpy")))
    )


def is_random(name: str) -> bool:
    return name in RANDOM or under(name, RANDOM)
