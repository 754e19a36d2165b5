"""Training frameworks: what makes their trainers, and which methods of these train."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nbddp.analysis.syntax import qualified


@dataclass(frozen=True)
class Framework:
    name: str  # for people
    modules: tuple[str, ...]  # that have its trainers
    trainers: frozenset[str]
    methods: frozenset[str]  # of a trainer, that train
    step: str = ""  # of the model that such a method is given: what is called with each batch


LIGHTNING = Framework(
    "Lightning", ("lightning", "pytorch_lightning"), frozenset({"Trainer"}), frozenset({"fit"}), "training_step"
)
ACCELERATE = Framework("Accelerate", ("accelerate",), frozenset({"Accelerator"}), frozenset({"backward"}))
HUGGING_FACE = Framework(
    "the Hugging Face Trainer",
    ("transformers", "trl"),
    frozenset({"Trainer", "Seq2SeqTrainer", "SFTTrainer"}),
    frozenset({"train"}),
)
FASTAI = Framework(
    "fastai",
    ("fastai",),
    frozenset(
        """
        Learner TabularLearner TextLearner cnn_learner collab_learner language_model_learner tabular_learner
        text_classifier_learner unet_learner vision_learner
        """.split()
    ),
    frozenset("fit fit_one_cycle fit_flat_cos fit_sgdr fine_tune".split()),
)
CATALYST = Framework(
    "Catalyst",
    ("catalyst",),
    frozenset({"Runner", "SupervisedRunner", "SelfSupervisedRunner", "ConfigRunner"}),
    frozenset({"train"}),
)
AITOOLBOX = Framework(
    "aitoolbox",
    ("aitoolbox",),
    frozenset(
        """
        TrainLoop TrainLoopCheckpoint TrainLoopEndSave TrainLoopCheckpointEndSave
        """.split()
    ),
    frozenset({"fit"}),
)
FRAMEWORKS = (LIGHTNING, ACCELERATE, HUGGING_FACE, FASTAI, CATALYST, AITOOLBOX)


@dataclass(frozen=True, eq=False)
class Use:
    """One framework, as some code uses it."""

    framework: Framework
    made: tuple[ast.Call, ...]  # calls that make a trainer
    trained: tuple[ast.Call, ...]  # calls that train with one
    names: frozenset[str]  # what the trainers are called


def steps_within(method: str) -> tuple[str, ...]:
    """What trainers call with each batch when they are told to train by this method."""
    return tuple(f.step for f in FRAMEWORKS if f.step and method in f.methods)


def find_uses(nodes: Sequence[ast.AST], imports: Mapping[str, str]) -> tuple[Use, ...]:
    """The frameworks that train in this code, in the order of the table."""
    imported = {name.split(".")[0] for name in imports.values()}
    imported |= {(n.module or "").split(".")[0] for n in nodes if isinstance(n, ast.ImportFrom)}
    found = (_use(framework, nodes, imports) for framework in FRAMEWORKS if not imported.isdisjoint(framework.modules))
    return tuple(use for use in found if use.trained)


def _use(framework: Framework, nodes: Sequence[ast.AST], imports: Mapping[str, str]) -> Use:
    known = set(_own_classes(framework, nodes, imports))
    if any(_brings_all(framework, n) for n in nodes):
        known |= framework.trainers
    calls = [n for n in nodes if isinstance(n, ast.Call)]
    made = [c for c in calls if _is_trainer(framework, c.func, imports) or _name(c.func) in known]
    names = {name for node in nodes for name in _names_of(node, made)} if made else set()
    trained = [
        c
        for c in calls
        if isinstance(c.func, ast.Attribute)
        and c.func.attr in framework.methods
        and (c.func.value in made or ast.unparse(c.func.value) in names)
    ]
    return Use(framework, tuple(made), tuple(trained), frozenset(names))


def _is_trainer(framework: Framework, node: ast.expr, imports: Mapping[str, str]) -> bool:
    module, _, name = (qualified(node, imports) or "").rpartition(".")
    return name in framework.trainers and module.split(".")[0] in framework.modules


def _brings_all(framework: Framework, node: ast.AST) -> bool:
    """`from fastai.vision.all import *`."""
    if not isinstance(node, ast.ImportFrom) or node.names[0].name != "*":
        return False
    return (node.module or "").split(".")[0] in framework.modules


def _own_classes(framework: Framework, nodes: Sequence[ast.AST], imports: Mapping[str, str]) -> Iterator[str]:
    """Classes of the notebook that are trainers as well."""
    for node in nodes:
        if isinstance(node, ast.ClassDef) and any(_is_trainer(framework, b, imports) for b in node.bases):
            yield node.name


def _names_of(node: ast.AST, made: list[ast.Call]) -> Iterator[str]:
    """`trainer = Trainer(…)`, `learn = vision_learner(…).to_fp16()`."""
    if not isinstance(node, ast.Assign):
        return
    value = node.value
    while isinstance(value, ast.Call) and value not in made and isinstance(value.func, ast.Attribute):
        value = value.func.value
    if value in made:
        yield from (ast.unparse(t) for t in node.targets)


def _name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else None
