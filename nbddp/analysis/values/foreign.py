"""What comes out of modules that are not read, those beside the notebook among them: what it is shows in its use.

A thing that the training iterates is a loader, one whose parameters are asked for is a model. Nothing of it is known
before it has been used, so the abstract run is repeated with what an earlier one has found.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import replace

from nbddp.analysis.library import under
from nbddp.analysis.values.contents import sources
from nbddp.analysis.values.domain import Obj, Value
from nbddp.analysis.values.facts import Facts
from nbddp.analysis.values.machine import Machine

# Libraries whose things are known, or are never what a training loop iterates.
READ = ("torch", "torchvision", "torchaudio", "torchtext", "numpy", "pandas", "sklearn", "scipy", "PIL", "cv2", "tqdm",
        "matplotlib", "seaborn", "plotly", "IPython", "transformers", "tokenizers", "nltk", "spacy",
        "gensim", "tensorflow", "keras", "tensorboard", "tensorboardX", "wandb", "mlflow", "neptune", "visdom",
        "einops", "h5py", "yaml", "requests", "joblib", "psutil", "skimage", "imageio", "networkx", "d2l", "fastai",
        "lightning", "pytorch_lightning", "accelerate", "evaluate", "tiktoken", "sentencepiece", "torchsummary",
        "torchinfo", "torchmetrics", "torchviz", "albumentations", "optuna", "gym", "gymnasium", "google", "easydict",
        "omegaconf", "librosa", "soundfile", "nibabel", "pydicom", "cupy", "jax", "statsmodels", "rich", "tabulate",
        "fastprogress", "dill", "timm", "torch_geometric", "torch_optimizer", "diffusers", "monai", "ray", "opacus",
        "apex", "ignite", "catalyst")  # fmt: skip

# What Hugging Face's library of this name has; a module beside a notebook is often called so as well.
DATASETS = frozenset(
    """
    load_dataset load_dataset_builder load_from_disk load_metric list_datasets list_metrics get_dataset_config_names
    get_dataset_split_names get_dataset_infos inspect_dataset concatenate_datasets interleave_datasets Dataset
    DatasetDict IterableDataset IterableDatasetDict Features Value ClassLabel Sequence Image Audio Translation Array2D
    Array3D Split NamedSplit ReadInstruction DownloadConfig DownloadMode DownloadManager GeneratorBasedBuilder
    DatasetInfo utils arrow_dataset dataset_dict iterable_dataset features distributed builder config load splits
    download formatting fingerprint logging exceptions is_caching_enabled enable_caching disable_caching
    set_caching_enabled enable_progress_bar disable_progress_bar enable_progress_bars disable_progress_bars
    """.split()
)


def is_foreign(name: str) -> bool:
    """Is it of a module about which nothing is known: `utils.make_loaders`, `.data.Cars`?"""
    root, _, rest = name.partition(".")
    if root == "datasets":
        return bool(rest) and rest.partition(".")[0] not in DATASETS
    return bool(rest) and root not in sys.stdlib_module_names and not under(name, READ)


def foreign(m: Machine, node: ast.Call, name: str) -> Value:
    kind = m.assumed.used_as.get(node, "foreign")
    return Value(frozenset({Obj(kind, node, name, None, m.frame.call)}))


def bound(m: Machine, target: ast.expr, value: Value) -> Value:
    """A foreign thing goes by the place where it gets its name: a call may give several at once."""
    things = value.of("foreign")
    if not things:
        return value
    kind = m.assumed.used_as.get(target, "foreign")
    names = {o: Obj(kind, target, PART if o.name == PART else "", o.owner or o, m.frame.call) for o in things}
    named = {names[o] if o.node is not target else o for o in things}
    return replace(value, objs=(value.objs - things) | named)


PART = "part"  # how what is one of several is called


def part_of(value: Value) -> Value:
    """Of several that one call gives: `loader, model = make()`."""
    parts = {replace(o, name=PART, owner=o.owner or o) for o in value.of("foreign")}
    return replace(value, objs=value.objs - value.of("foreign") | parts)


def iterated(m: Machine, value: Value) -> set[Obj]:
    """Foreign things that a loop over the value draws from, through `enumerate` and bars."""
    return {o for v in sources(m.facts, value) for o in v.of("foreign") if o.owner is not None}


def trained_on_foreign(facts: Facts) -> Iterator[Obj]:
    """What the innermost loop over such a thing draws from, where the training draws from no loader that is known."""
    for call in facts.backward:
        around = [facts.loops[n] for n in facts.calls[call].loops]
        if not any(f.loaders or f.next_of for f in around):
            drawing = sorted((f for f in around if f.foreign), key=lambda f: len(f.parents))
            yield from drawing[-1].foreign if drawing else ()


def optimizers_of(m: Machine, value: Value) -> set[Obj]:
    """The optimizers that a foreign thing was made with, such as one that warms up: its steps are theirs."""
    makers = [(o.owner or o).node for o in value.of("foreign")]
    made = [m.facts.calls[node] for node in makers if isinstance(node, ast.Call) and node in m.facts.calls]
    return {o for call in made for given in call.args.values() for o in given.of("optimizer")}


def has_parameters(m: Machine, value: Value) -> None:
    """Its parameters are asked for: what the call has made is a model, where that is all that it has made."""
    for obj in value.of("foreign"):
        made = obj.owner or obj
        if obj.name != PART:
            m.facts.used_as[made.node] = "model"
