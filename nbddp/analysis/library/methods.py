"""What methods do, one entry for each: of tensors, arrays, tables, lists, texts, models and files, by name.

Functions of torch and numpy of the same name do the same to samples: `x.std(0)`, `torch.std(x, 0)`, `np.std(x, 0)`.
What an entry says of samples is run on real tensors in tests/analysis/library/test_methods.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Effect(Enum):
    """What a method changes. One that has no entry may change anything."""

    READS = "nothing: what it is called on, and the world, stay as they were"
    CONVERTS = "a model's parameters; of a tensor it gives another one"
    STORES = "what it is called on, which keeps what it is given"
    REORDERS = "what it is called on, which holds less then, or in another order"
    CHANGES = "what it is called on, whatever that is"
    WRITES = "a file"
    DRAWS = "a picture: a file that no program reads again"
    WORLD = "what no name shows: seeds, folders, files"
    UNKNOWN = "perhaps what it is called on"


class Samples(Enum):
    """What comes of the samples of a batch, where no dimension is given or it is theirs."""

    EACH = "each is taken for itself"
    KEEPS = "they stay as they are"
    SUM = "their sum"
    MEAN = "their mean"
    COUNT = "their number"
    STATISTIC = "one number of them all"
    ORDERS = "they are put in an order"
    ALONG = "each depends on those before it"
    PICKS = "some of them"
    MIXES = "they are set against each other in every dimension"


@dataclass(frozen=True)
class Op:
    effect: Effect = Effect.READS
    samples: Samples = Samples.EACH
    fresh: bool = False  # the result is a number, a text or a copy: it shares nothing with what it is called on


def _rows(words: str, effect: Effect = Effect.READS, samples: Samples = Samples.EACH, fresh: bool = False) -> None:
    for word in words.split():
        assert word not in METHODS, f"{word} has an entry"
        METHODS[word] = Op(effect, samples, fresh)


METHODS: dict[str, Op] = {}

# Numbers of samples.
_rows("sum nansum count_nonzero", samples=Samples.SUM, fresh=True)
_rows("mean", samples=Samples.MEAN, fresh=True)
_rows("numel nelement", samples=Samples.COUNT, fresh=True)
_rows(
    "max min norm std var median argmax argmin prod any all quantile cov corrcoef",
    samples=Samples.STATISTIC,
    fresh=True,
)
_rows("amax amin aminmax nanmax nanmin nanmean nanmedian nanstd nanvar nanquantile nanargmax nanargmin ptp percentile",
      samples=Samples.STATISTIC, fresh=True)  # fmt: skip
_rows("std_mean var_mean", samples=Samples.STATISTIC)
_rows("mode", Effect.UNKNOWN, Samples.STATISTIC)
_rows("dot vdot dist histc histogram bincount", samples=Samples.MIXES, fresh=True)
_rows("diag unique", samples=Samples.MIXES)
_rows("trace", Effect.UNKNOWN, Samples.MIXES)

# Samples by samples.
_rows("topk argsort kthvalue msort", samples=Samples.ORDERS)
_rows("sort", Effect.REORDERS, Samples.ORDERS)
_rows("cumsum cumprod cummax cummin logcumsumexp logsumexp diff", samples=Samples.ALONG, fresh=True)
_rows("normalize cosine_similarity", Effect.UNKNOWN, Samples.ALONG)
_rows("masked_select nonzero argwhere flatnonzero", samples=Samples.PICKS, fresh=True)
_rows("abs clone copy tolist", samples=Samples.KEEPS, fresh=True)
_rows("numpy detach long int bool astype round get", samples=Samples.KEEPS)
_rows("view reshape squeeze unsqueeze flatten expand permute transpose t", samples=Samples.KEEPS)
_rows("float double half cpu", Effect.CONVERTS, Samples.KEEPS)
_rows("to cuda requires_grad_ contiguous data type_as byte bfloat16", Effect.UNKNOWN, Samples.KEEPS)
_rows("sqrt exp log pow item eq ne gt lt ge le", fresh=True)
_rows("matmul mm softmax sigmoid relu tanh repeat chunk")
_rows("type", Effect.CONVERTS)

# Shapes, texts, tables and files.
_rows("size dim shape", fresh=True)
_rows("index count lower upper split strip format join replace startswith endswith keys", fresh=True)
_rows("lstrip rstrip encode decode find rfind values items")
_rows("describe info isin nunique value_counts plot hist imshow corr score idxmax idxmin skew kurt kurtosis sem",
      fresh=True)  # fmt: skip
_rows(
    "head tail groupby isnull isna notnull notna dropna fillna sample sort_values set_index reset_index merge iloc loc"
)
_rows("nlargest nsmallest pct_change duplicated drop_duplicates to_numpy to_list to_dict transform inverse_transform")
_rows("predict predict_proba add_noise log_prob cdf icdf entropy")
_rows("is_available device_count get_last_lr exists is_file is_dir", fresh=True)
_rows("get_device_name joinpath with_suffix resolve absolute as_posix getsize isfile isdir")
_rows("parameters named_parameters state_dict children named_children modules named_modules buffers named_buffers")

# What changes something.
_rows("append extend appendleft insert add update setdefault add_module register_module", Effect.STORES)
_rows("register_buffer register_parameter add_param_group put", Effect.STORES)
_rows("pop popitem popleft clear remove discard reverse fill resize", Effect.REORDERS)
_rows("apply eval train zero_grad load_state_dict reset_parameters", Effect.CHANGES)
_rows("to_csv to_parquet to_pickle to_json to_excel to_hdf to_feather to_sql to_stata tofile", Effect.WRITES)
_rows("save_pretrained write_text write_bytes unlink rmdir touch symlink_to", Effect.WRITES)
_rows("savefig write_image write_html", Effect.DRAWS)
_rows("save write writelines dump mkdir makedirs extractall extract download urlretrieve rename rmtree", Effect.WORLD)
_rows("seed manual_seed manual_seed_all", Effect.WORLD)


def _methods(*effects: Effect) -> frozenset[str]:
    return frozenset(word for word, op in METHODS.items() if op.effect in effects)


READING_METHODS = _methods(Effect.READS, Effect.CONVERTS)
CONVERSIONS = _methods(Effect.CONVERTS)
STORING_METHODS = _methods(Effect.STORES)
SURELY_CHANGING = _methods(Effect.STORES, Effect.CHANGES)
CHANGING_CONTENT = _methods(Effect.STORES, Effect.REORDERS) | {"write"}
WRITING_METHODS = _methods(Effect.WRITES, Effect.DRAWS)
AMBIENT_METHODS = _methods(Effect.WRITES, Effect.WORLD)
FRESH_METHODS = frozenset(word for word, op in METHODS.items() if op.fresh)


def done_to_samples(word: str) -> Samples:
    """By a method or a function with this last name."""
    return METHODS[word].samples if word in METHODS else Samples.EACH
