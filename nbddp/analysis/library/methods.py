"""Methods, one entry for each name: of tensors, arrays, tables, lists, texts, models and files.

Functions of torch and numpy of the same name do the same to samples: `x.std(0)`, `torch.std(x, 0)`, `np.std(x, 0)`.
"""

from __future__ import annotations

from nbddp.analysis.library.ops import Effect, Op, Samples, Shape, Stream, Table

READS, UNKNOWN = Effect.READS, Effect.UNKNOWN

METHODS: Table = {
    # Numbers of samples.
    "sum nansum count_nonzero": Op(READS, Samples.SUM, fresh=True),
    "mean": Op(READS, Samples.MEAN, fresh=True),
    "numel nelement": Op(READS, Samples.COUNT, fresh=True),
    "max min norm std var median argmax argmin prod any all quantile amax amin aminmax nanmax nanmin "
    "nanmean nanmedian nanstd nanvar nanquantile nanargmax nanargmin ptp percentile "
    "vector_norm frobenius_norm nanprod nanpercentile hash_tensor histogram_bin_edges": Op(
        READS, Samples.STATISTIC, fresh=True
    ),
    "std_mean var_mean": Op(READS, Samples.STATISTIC, fresh=True),
    "mode": Op(UNKNOWN, Samples.STATISTIC, fresh=True),
    "cov corrcoef dot vdot dist histc histogram bincount": Op(READS, Samples.MIXES, fresh=True),
    "diag diagonal trace tril triu flip fliplr flipud roll rot90 cumsum": Op(linear=True),
    "bincount": Op(within=("minlength", 1)),
    "histc": Op(within=("max", 2)),
    "unique": Op(READS, Samples.MIXES, fresh=True),
    "block_diag cartesian_prod combinations diagflat vander rot90 lexsort array_equiv setdiff1d union1d setxor1d "
    "unique_values": Op(READS, Samples.MIXES, fresh=True),
    "diag diagonal": Op(READS, Samples.MIXES),
    "ger outer inner kron tensordot linear": Op(READS, Samples.PAIRS, fresh=True),
    "trace": Op(READS, Samples.MIXES, fresh=True),
    "svd qr lstsq svd_lowrank pca_lowrank renorm meshgrid": Op(samples=Samples.MIXES),
    # Samples by samples.
    "topk argsort kthvalue msort": Op(READS, Samples.ORDERS, fresh=True),
    "sort": Op(Effect.REORDERS, Samples.ORDERS, fresh=True),
    "cumsum cumprod cummax cummin logcumsumexp logsumexp diff nancumsum nancumprod cumulative_sum cumulative_prod "
    "trapezoid trapz cumulative_trapezoid ediff1d convolve correlate unwrap tril triu pinv pinverse cond matrix_rank "
    "matrix_norm nuclear_norm svdvals fftshift ifftshift fft ifft rfft irfft hfft ihfft glu": Op(
        READS, Samples.ALONG, fresh=True
    ),
    "unfold index_fill index_copy index_add index_reduce scatter scatter_add scatter_reduce select_scatter "
    "slice_scatter take put": Op(samples=Samples.ALONG),
    "fill_diagonal": Op(samples=Samples.MIXES),
    "flipud gradient": Op(READS, Samples.ALONG),
    "normalize cosine_similarity pairwise_distance": Op(UNKNOWN, Samples.ALONG, fresh=True),
    "masked_select nonzero argwhere flatnonzero": Op(READS, Samples.PICKS, fresh=True),
    "abs clone copy tolist": Op(READS, Samples.KEEPS, fresh=True),
    "numpy detach long int bool astype round get": Op(READS, Samples.KEEPS),
    "view reshape squeeze unsqueeze flatten ravel expand permute transpose t": Op(READS, Samples.KEEPS),
    "float double half cpu": Op(Effect.CONVERTS, Samples.KEEPS),
    "to cuda requires_grad_ contiguous data type_as byte bfloat16": Op(UNKNOWN, Samples.KEEPS),
    "sqrt exp log pow item eq ne gt lt ge le matmul mm softmax sigmoid relu tanh repeat": Op(READS, fresh=True),
    "flip roll gather index_select take_along_dim": Op(READS, Samples.MOVES, fresh=True),
    "repeat_interleave acos acosh addbmm addcdiv addcmul addmm addmv addr angle arccos arccosh "
    "arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh baddbmm bitwise_and bitwise_left_shift "
    "bitwise_not bitwise_or bitwise_right_shift bitwise_xor bmm ceil cholesky cholesky_inverse cholesky_solve "
    "clamp clamp_max clamp_min clip copysign cos cosh cross deg2rad det diag_embed digamma div "
    "divide erf erfc erfinv exp2 expm1 fix fliplr float_power floor floor_divide fmax fmin fmod frac frexp gcd "
    "greater greater_equal hardshrink heaviside hypot i0 igamma igammac index_add index_copy index_fill index_put "
    "index_reduce inverse isclose isfinite isinf isnan isneginf isposinf isreal istft lcm ldexp lerp less "
    "less_equal lgamma log10 log1p log2 log_softmax logaddexp logaddexp2 logdet logical_and logical_not "
    "logical_or logical_xor logit lstsq masked_fill masked_scatter matrix_exp matrix_power maximum minimum mul "
    "multiply mv mvlgamma nan_to_num neg negative nextafter not_equal polygamma prelu qr rad2deg reciprocal "
    "remainder renorm rsqrt scatter scatter_add scatter_reduce select_scatter sgn sign signbit sin sinc sinh "
    "slice_scatter slogdet square stft sub subtract svd tan true_divide trunc where xlogy": Op(READS, fresh=True),
    "as_strided broadcast_to conj dsplit expand_as hsplit mH moveaxis movedim positive reshape_as select "
    "split_with_sizes swapaxes swapdims tensor_split unbind unflatten unfold view_as vsplit": Op(READS),
    "softmax log_softmax softmin": Op(samples=Samples.WEIGHS, last=True),
    "layer_norm": Op(last=True),
    "normalize cosine_similarity pairwise_distance logsumexp glu fft ifft rfft irfft hfft ihfft": Op(last=True),
    "split chunk tensor_split array_split": Op(dim=1),
    "narrow": Op(READS, shape=Shape.APART),
    "pairwise_distance put": Op(dim=9),  # none: along the last one
    "take take_along_dim": Op(dim=1),
    "topk kthvalue norm vector_norm quantile nanquantile percentile nanpercentile normalize cosine_similarity diff "
    "roll tril triu pinv pinverse cond matrix_rank matrix_norm svdvals trapezoid trapz cumulative_trapezoid ediff1d "
    "convolve correlate gradient unwrap": Op(dim=1),
    "chunk": Op(READS),
    "new_zeros new_ones new_full new_tensor": Op(READS, fresh=True),
    "type": Op(Effect.CONVERTS),
    "stack cat concat concatenate vstack hstack": Op(samples=Samples.JOINS),
    "mm matmul spmm dot": Op(product=True),
    "matmul": Op(stacked=True),
    "cdist": Op(READS, Samples.PAIRS, fresh=True, distances=True),
    "pdist": Op(READS, Samples.MIXES, fresh=True, distances=True),
    "bmm einsum scaled_dot_product_attention": Op(sequence=True),
    "detach detach_ item tolist numpy data grad argmax argmin eq ne gt lt ge le zeros_like ones_like full_like "
    "empty_like rand_like randn_like new_zeros new_ones new_full new_empty new_tensor": Op(cuts=True),
    "bool logical_and logical_or logical_not isnan isinf isfinite isin eq ne gt lt ge le": Op(truth=True),
    "clone detach contiguous to type_as float double half bfloat16 cuda cpu neg abs relu mm matmul bmm mv mul multiply "
    "div divide true_divide sum mean gather index_select repeat fold unfold einsum split chunk cat stack expand_as "
    "conv1d_input conv1d_weight conv2d_input conv2d_weight": Op(proportional=True),
    # Shapes.
    "to long float double half int bool byte bfloat16 cuda cpu contiguous detach clone copy type type_as astype "
    "requires_grad_": Op(shape=Shape.SAME),
    "squeeze unsqueeze select": Op(shape=Shape.ONES),
    "view reshape view_as reshape_as expand": Op(shape=Shape.ANEW),
    "flatten ravel": Op(shape=Shape.FLAT),
    "t T mT transpose swapaxes swapdims permute movedim moveaxis rearrange einsum": Op(shape=Shape.TURNED),
    "split chunk tensor_split array_split unbind": Op(shape=Shape.APART),
    "new new_zeros new_ones new_full new_empty resize resize_": Op(size=0),
    "shape size numel nelement": Op(about="size"),
    "dim ndim ndimension dtype device layout requires_grad is_cuda is_leaf is_complex "
    "is_floating_point element_size": Op(about="kind"),
    "add sub subtract mul multiply div divide true_divide floor_divide remainder fmod pow where maximum minimum fmax "
    "fmin atan2 arctan2 hypot lerp addcmul addcdiv logical_and logical_or logical_xor eq ne gt lt ge le mse_loss "
    "l1_loss smooth_l1_loss huber_loss": Op(aligned=True),
    "gather take_along_dim scatter scatter_ scatter_add scatter_add_ masked_fill masked_fill_": Op(beside=True),
    # Sizes, texts, tables and files.
    "size dim shape": Op(READS, fresh=True),
    "index count lower upper strip format join replace startswith endswith keys": Op(READS, fresh=True),
    "split lstrip rstrip encode decode find rfind values items": Op(READS),
    "describe info isin nunique value_counts plot hist imshow corr score idxmax idxmin skew kurt kurtosis sem": Op(
        READS, fresh=True
    ),
    "head tail groupby isnull isna notnull notna dropna fillna sample sort_values set_index reset_index merge iloc loc "
    "nlargest nsmallest pct_change duplicated drop_duplicates to_numpy to_list to_dict transform inverse_transform "
    "predict predict_proba add_noise log_prob cdf icdf entropy": Op(READS),
    "is_available device_count get_last_lr": Op(READS, fresh=True),
    "exists is_file is_dir iterdir": Op(READS, fresh=True, looks=True),
    "get_device_name joinpath with_suffix resolve absolute as_posix getsize isfile isdir": Op(READS),
    "parameters named_parameters state_dict children named_children modules named_modules buffers named_buffers": Op(
        READS
    ),
    # What changes something.
    "append extend appendleft insert add update setdefault add_module register_module register_buffer "
    "register_parameter add_param_group put": Op(Effect.STORES),
    "pop popitem popleft clear remove discard reverse fill resize": Op(Effect.REORDERS),
    "apply eval train zero_grad load_state_dict reset_parameters fit_transform fit_predict partial_fit "
    "register_hook register_forward_hook register_forward_pre_hook register_full_backward_hook "
    "register_backward_hook": Op(Effect.CHANGES),
    "to_csv to_parquet to_pickle to_json to_excel to_hdf to_feather to_sql to_stata tofile": Op(Effect.WRITES),
    "read_text read_bytes": Op(opens=True),
    "save_pretrained write_text write_bytes unlink rmdir touch symlink_to": Op(Effect.WRITES),
    "savefig write_image write_html": Op(Effect.PICTURE),
    "save write writelines dump mkdir makedirs extractall extract download urlretrieve rename rmtree": Op(Effect.WORLD),
    "seed manual_seed manual_seed_all": Op(Effect.WORLD),
    "set_postfix set_description set_postfix_str set_description_str update comment write_table": Op(bar=True),
    "extractall unpack_archive extract_all": Op(unpacks=True),
    "urlretrieve download_url from_pretrained": Op(fetches=True),
    # Random numbers.
    "uniform_ normal_ random_ bernoulli_ exponential_ geometric_ cauchy_ log_normal_ reset_parameters": Op(
        draws=Stream.TORCH
    ),
    "sample rsample": Op(draws=Stream.TORCH),  # of a distribution
    "shuffle": Op(draws=Stream.ANY),
    "normal uniform integers choice random standard_normal permutation randint randn rand binomial poisson "
    "exponential": Op(draws=Stream.OWN),
}
