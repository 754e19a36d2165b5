"""What `from module import *` brings, of the modules that matter here."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from nbddp.analysis.library.lookup import ENTRIES

EXPORTS = {
    "torch.utils.data": frozenset(
        """
        DataLoader Dataset IterableDataset TensorDataset Subset ConcatDataset random_split Sampler RandomSampler
        SequentialSampler SubsetRandomSampler WeightedRandomSampler BatchSampler DistributedSampler
        """.split()
    ),
    "torch.optim": frozenset("Adam AdamW SGD RMSprop Adagrad Adadelta Adamax LBFGS NAdam RAdam lr_scheduler".split()),
    "torch.optim.lr_scheduler": frozenset(
        "StepLR MultiStepLR ExponentialLR CosineAnnealingLR ReduceLROnPlateau OneCycleLR LambdaLR LinearLR".split()
    ),
    "math": frozenset("sqrt exp log pi cos sin tan ceil floor inf isnan isfinite pow e log2 log10 tanh fabs".split()),
    "random": frozenset(
        """
        Random SystemRandom betavariate binomialvariate choice choices expovariate gammavariate gauss getrandbits
        getstate lognormvariate normalvariate paretovariate randbytes randint random randrange sample seed setstate
        shuffle triangular uniform vonmisesvariate weibullvariate
        """.split()
    ),
    "torchvision.models": frozenset(
        """
        alexnet resnet18 resnet34 resnet50 resnet101 resnet152 resnext50_32x4d resnext101_32x8d wide_resnet50_2
        wide_resnet101_2 vgg11 vgg11_bn vgg13 vgg13_bn vgg16 vgg16_bn vgg19 vgg19_bn densenet121 densenet161 densenet169
        densenet201 googlenet inception_v3 mobilenet_v2 mobilenet_v3_small mobilenet_v3_large squeezenet1_0
        squeezenet1_1 shufflenet_v2_x0_5 shufflenet_v2_x1_0 mnasnet0_5 mnasnet1_0 efficientnet_b0 efficientnet_b1
        efficientnet_b2 efficientnet_b3 efficientnet_v2_s convnext_tiny convnext_small vit_b_16 vit_b_32 swin_t
        """.split()
    ),
    "torchvision.datasets": frozenset(
        "MNIST FashionMNIST KMNIST EMNIST CIFAR10 CIFAR100 SVHN STL10 ImageFolder DatasetFolder CelebA".split()
    ),
    "torchvision.transforms": frozenset(
        """
        Compose ToTensor Normalize Resize CenterCrop RandomCrop RandomResizedCrop RandomHorizontalFlip RandomRotation
        ColorJitter Grayscale ToPILImage Lambda Pad RandomApply RandomGrayscale RandomAffine RandomErasing
        """.split()
    ),
    "torch.nn.functional": frozenset(
        "cross_entropy mse_loss nll_loss relu softmax log_softmax dropout binary_cross_entropy max_pool2d".split()
    ),
}

# What such a name stands for wherever people write it: modules that are not read, made to be imported with a star,
# hand on what they have imported themselves.
USUAL = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "optim": "torch.optim",
    "np": "numpy",
    "pd": "pandas",
    "plt": "matplotlib.pyplot",
    "os": "os",
    "torchvision": "torchvision",
    "transforms": "torchvision.transforms",
    "models": "torchvision.models",
    "tqdm": "tqdm.tqdm",
    **{name: f"torch.utils.data.{name}" for name in ("DataLoader", "Dataset", "TensorDataset", "random_split")},
}

_OF_ARRAYS = frozenset("abs all any bool divmod max min pow round sum".split())
_MODULES = frozenset({"copy", "fft", "linalg", "random"})
HIDES = {  # names of Python itself, of its modules, and of scripts, that such an import gives another meaning
    **dict.fromkeys(("numpy", "pylab", "matplotlib.pylab"), _OF_ARRAYS | _MODULES),
    "scipy": frozenset({"fft", "io", "linalg", "signal"}),
    "torch": _OF_ARRAYS - {"divmod"} | {"compile", "complex", "dist", "float", "int", "range"},
}


def exports(module: str, name: str) -> bool:
    """Does the module give this name? `torch.nn` gives every class that the notebook does not define."""
    if module == "torch.nn":
        return name[:1].isupper() or name in ("functional", "init", "utils")
    return name in EXPORTS.get(module, ()) or f"{module}.{name}" in ENTRIES


def starred_names(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """What `shuffle` stands for behind `from random import *`, where the notebook gives that name to nothing else."""
    nodes = list(nodes)
    modules = [n.module for n in nodes if isinstance(n, ast.ImportFrom) and n.module and n.names[0].name == "*"]
    names = [n for n in nodes if isinstance(n, ast.Name)] if modules else []
    own = {n.id for n in names if not isinstance(n.ctx, ast.Load)} | {n.arg for n in nodes if isinstance(n, ast.arg)}
    own |= {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    read = {n.id for n in names} - own
    return {name: f"{module}.{name}" for module in modules for name in sorted(read) if exports(module, name)}
