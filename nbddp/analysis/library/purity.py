"""Which calls leave their arguments and the world as they were: names of the libraries that notebooks use.

Lists of the harmless, not of the harmful: what is not known here counts as an effect, so that too much is kept
rather than too little.
"""

from __future__ import annotations

import builtins
import functools

from nbddp.analysis.library.sinks import PICTURES, WRITES

# Libraries whose calls only show something.
DISPLAY_MODULES = (
    "matplotlib",
    "seaborn",
    "plotly",
    "IPython",
    "bokeh",
    "altair",
    "torchsummary",
    "torchinfo",
    "torchviz",
    "pprint",
    "tabulate",
    "mpl_toolkits",
    "graphviz",
    "netron",
    "missingno",
    "wordcloud",
    "google.colab",
)
DISPLAY_BUILTINS = frozenset({"print", "display", "help", "dir", "vars", "pprint"})

# Builtins and whole libraries that compute and leave no trace.
PURE_BUILTINS = frozenset(
    """
    len type isinstance issubclass id hash repr str int float bool list tuple dict set frozenset sorted reversed range
    enumerate zip map filter sum min max abs round any all iter next getattr hasattr callable ord chr divmod pow
    slice super object bytes complex format input print display help dir vars
    """.split()
)
EXCEPTIONS = frozenset(n for n, v in vars(builtins).items() if isinstance(v, type) and issubclass(v, BaseException))
PURE_MODULES = ("torch", "numpy", "pandas", "math", "torchvision", "sklearn", "scipy", "copy", "time", "datetime",
                "collections", "itertools", "functools", "os.path", "pathlib", "re", "string", "glob", "typing",
                "operator", "statistics", "sys.getsizeof", "platform", "json.dumps", "einops", "torchmetrics",
                "os.listdir", "os.cpu_count", "os.getcwd", "os.getenv", "os.environ.get", "psutil", "tqdm",
                "transformers.AutoTokenizer", "dataclasses", "timeit", "inspect", "from_snapshot")  # fmt: skip

# Parts of those libraries that do change something outside their arguments.
AMBIENT = (
    "torch.manual_seed",
    "torch.seed",
    "torch.random",
    "torch.cuda.manual_seed",
    "torch.cuda.manual_seed_all",
    "torch.cuda.set_device",
    "torch.cuda.empty_cache",
    "torch.set_",
    "torch.use_deterministic_algorithms",
    "torch.autograd.set_detect_anomaly",
    "torch.multiprocessing",
    "torch.distributed",
    "torch.hub.set_dir",
    "torch.utils.tensorboard",
    "torch.backends",
    "torchvision.datasets.utils",
    "numpy.random.seed",
    "random.seed",
    "sklearn.set_config",
    "tqdm.pandas",  # which gives tables a progress_apply
    "tqdm.tqdm.pandas",
    "tqdm.tqdm_notebook.pandas",
    "tqdm.auto.tqdm.pandas",
    "tqdm.autonotebook.tqdm.pandas",
    "tqdm.notebook.tqdm.pandas",
    "tqdm.notebook.tqdm_notebook.pandas",
    "torch.hub.download_url_to_file",
)
# Functions of pure libraries whose result holds their arguments; classes do so as well.
VIEWS = frozenset(
    """
    list tuple dict set frozenset sorted reversed enumerate zip map filter getattr super min max
    from_numpy as_tensor asarray squeeze unsqueeze reshape transpose permute random_split partial chain islice cycle
    defaultdict deque compile script trace convert_sync_batchnorm tqdm copy
    """.split()
)
# In-place functions of otherwise pure libraries: their first argument changes.
MUTATING_FUNCTIONS = ("random.shuffle", "numpy.random.shuffle", "torch.nn.utils", "torch.nn.init", "heapq", "bisect",
                      "numpy.copyto", "numpy.put", "numpy.place", "numpy.putmask", "numpy.fill_diagonal",
                      "numpy.put_along_axis")  # fmt: skip


@functools.lru_cache(maxsize=8192)
def under(name: str, roots: tuple[str, ...]) -> bool:
    """Is a dotted name one of the roots or below one? A root ending in `_` is a prefix."""
    return any(
        name == root or name.startswith(root + ".") or (root.endswith("_") and name.startswith(root)) for root in roots
    )


def is_display(name: str) -> bool:
    return name in DISPLAY_BUILTINS or under(name, DISPLAY_MODULES)


def is_ambient(name: str) -> bool:
    return under(name, AMBIENT) or (name in WRITES and name not in PICTURES)


def is_pure(name: str) -> bool:
    """Known to change neither its arguments nor the world."""
    if is_ambient(name) or under(name, MUTATING_FUNCTIONS) or name.endswith("_"):
        return False
    return is_display(name) or name in PURE_BUILTINS or name in EXCEPTIONS or under(name, PURE_MODULES)
