"""Calls that write files, fetch them, or read them back."""

from __future__ import annotations

import ast

from nbddp.analysis.imports import qualified
from nbddp.analysis.plan import Plan
from nbddp.analysis.purity import under
from nbddp.analysis.sinks import WRITES, WRITING_METHODS

TRACKERS = ("mlflow",)
FETCHES = ("urllib.request.urlretrieve", "urllib.request.urlopen", "requests.get", "gdown", "nltk.download",
           "torch.hub", "datasets.load_dataset", "huggingface_hub", "wget.download", "kagglehub", "torchtext.vocab",
           "timm.create_model", "sklearn.datasets.fetch_openml", "sklearn.datasets.fetch_california_housing",
           "sklearn.datasets.fetch_20newsgroups", "sklearn.datasets.fetch_olivetti_faces",
           "spacy.load", "gensim.downloader", "torchvision.datasets.utils")  # fmt: skip
LOADS = ("torch.load", "numpy.load", "pickle.load", "json.load", "joblib.load")


def library_name(plan: Plan, node: ast.Call) -> str:
    return qualified(node.func, plan.flow.imports) or ""


def opens_to_write(plan: Plan, node: ast.AST) -> bool:
    """`open(path, "w")` and its like."""
    if not isinstance(node, ast.Call) or library_name(plan, node) not in ("open", "io.open", "gzip.open"):
        return False
    mode = node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords if k.arg == "mode"), None)
    return isinstance(mode, ast.Constant) and isinstance(mode.value, str) and bool(set(mode.value) & set("wax"))


def writes(plan: Plan, node: ast.AST) -> bool:
    """One call that writes a file (or tells a tracker), by what is called."""
    if not isinstance(node, ast.Call):
        return False
    name = library_name(plan, node)
    if name in WRITES or under(name, TRACKERS):
        return True
    return not name and isinstance(node.func, ast.Attribute) and node.func.attr in WRITING_METHODS


def fetches(plan: Plan, node: ast.AST) -> bool:
    """A call that may download something or unpack it on the disk."""
    if not isinstance(node, ast.Call):
        return False
    name = library_name(plan, node)
    if under(name, FETCHES) or name.endswith(".from_pretrained"):
        return True
    for keyword in node.keywords:
        value = keyword.value
        off = isinstance(value, ast.Constant) and value.value in (False, None)
        if keyword.arg == "download" and not off:
            return True
        if keyword.arg in ("pretrained", "weights") and not off and name.startswith(("torchvision.", "timm.")):
            return True
    attr = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return attr in ("extractall", "urlretrieve", "download_url", "from_pretrained", "unpack_archive")


def makes_folders(plan: Plan, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    attr = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return library_name(plan, node) in ("os.mkdir", "os.makedirs") or attr == "mkdir"


def loads(plan: Plan, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and library_name(plan, node) in LOADS
