"""What the entries say of samples, on real tensors that are split as the data of several ranks are."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest
import torch

from nbddp.analysis.library import Effect, Samples, effect_of
from nbddp.analysis.library.lookup import METHODS
from nbddp.analysis.values import Value
from tests.analysis.cells import BEFORE, TRAINING, plan
from tests.analysis.library.shares import NAMES, NO_SUCH_THING, SHARES, claims, false

pytestmark = pytest.mark.xdist_group("methods")  # which are read in one notebook, once
ARGUMENTS = ("", "0", "1", "dim=0", "[0]", "0.5, 0", "2, 1", "y", "y.mean(0)")
OTHERS = ("index", "apply")  # methods of lists and models, which a tensor has for something else
UNSAID = (
    "detach_",
    "resize_",
    "new",
    "new_empty",
)  # changes the batch; no two times the same
WORDS = [w for w in METHODS if effect_of(f".{w}").samples is not Samples.EACH or hasattr(torch.Tensor, w)]
WORDS = [w for w in WORDS if w not in (*OTHERS, *UNSAID) and not effect_of(f".{w}").draws]
MODULES = ("torch", "torch.linalg", "torch.fft", "F", "np", "np.linalg", "np.fft")
MOVED = {"unsqueeze": "0", "repeat": "2"}  # with these the samples are elsewhere, where nothing is said of them
TABLES = "median() quantile(0.5) prod() cumsum(0) describe() mean() std() nlargest(3) idxmax() value_counts()".split()


def forms(word: str) -> list[str]:
    given = [a for a in ARGUMENTS if word not in MOVED or MOVED[word] not in a]
    methods = [f"x.{word}({arguments})" for arguments in given if hasattr(torch.Tensor, word)]
    plain = [f"{arguments and ', '}{arguments}" for arguments in given if arguments in ("", "0", "y")]
    of_torch = [f"{m}.{word}" for m in MODULES if hasattr(eval(m, NAMES), word) and not m.startswith("np")]
    of_numpy = [f"{m}.{word}" for m in MODULES if hasattr(eval(m, NAMES), word) and m.startswith("np")]
    over_all = effect_of(f".{word}").samples not in (Samples.EACH, Samples.KEEPS) and not effect_of(f".{word}").last
    batches = ("x", "x[:, 0]") if over_all else ("x",)
    functions = [f"{name}({x}{given})" for name in of_torch for given in plain for x in batches]
    plain = [given.replace("y", "y.numpy()") for given in plain]
    functions += [f"{name}({x}.numpy(){given})" for name in of_numpy for given in plain for x in batches]
    if word not in MOVED:
        functions += [f"{name}(x, dim=0)" for name in of_torch] + [f"{name}(x.numpy(), axis=0)" for name in of_numpy]
    of_means = [
        f"x.mean(0).{word}()",
        f"torch.{word}(x.sum(0))",
        f"np.{word}((x > 0).sum(0).numpy())",
        f"(x > 0).{word}()",
    ]
    return [*methods, *functions, *of_means]


@cache
def said() -> dict[str, Value]:
    return claims(form for word in WORDS for form in forms(word))


@pytest.mark.parametrize("shares", SHARES, ids=str)
@pytest.mark.parametrize("word", WORDS)
def test_what_is_said_of_samples_is_so(word, shares):
    assert false(said(), forms(word), shares) == []


@pytest.mark.parametrize("word", [w for w in METHODS if effect_of(f".{w}").fresh and w not in OTHERS])
def test_what_is_fresh_shares_nothing_with_what_it_is_called_on(word):
    for x in (torch.randn(4, 4), torch.randn(4, 4).numpy()):
        shared = [f"{type(x).__name__}.{word}({a})" for a in ("", "0", "2", "0, 1") if shares_memory(x, word, a)]
        assert not shared


def shares_memory(x: torch.Tensor | np.ndarray, word: str, arguments: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = eval(f"x.{word}({arguments})", {"x": x})
    except NO_SUCH_THING:
        return False
    parts = result if isinstance(result, tuple | list) else [result]
    return any(
        np.shares_memory(np.asarray(x), np.asarray(p)) for p in parts if isinstance(p, torch.Tensor | np.ndarray)
    )


@pytest.mark.parametrize("call", TABLES)
def test_a_look_at_the_data_alone_in_a_cell_is_left_out(call):
    made = plan(*BEFORE, f"train_set.tensors[0].{call}", TRAINING)
    assert [s for s in made.kept if s.cell.number == len(BEFORE) + 1] == []


def test_what_has_no_entry_may_change_anything_and_takes_each_sample_for_itself():
    assert effect_of(".prepare").effect is Effect.UNKNOWN
    assert effect_of(".prepare").samples is Samples.EACH


def test_what_changes_something_gives_nothing_that_is_fresh():
    changing = (Effect.STORES, Effect.WRITES, Effect.WORLD, Effect.PICTURE)
    assert not [w for w in METHODS if effect_of(f".{w}").effect in changing and effect_of(f".{w}").fresh]
