"""Calls that leave things alone, or change them, as an argument says."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.slicing.effects import effects

IMPORTS = {"np": "numpy", "ndimage": "scipy.ndimage", "F": "torch.nn.functional", "nn": "torch.nn"}


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("df.fillna(0, inplace=True)", {"df"}),
        ("df['age'].fillna(mean, inplace=True)", {"df"}),
        ("df.sort_values('day', inplace=flag)", {"df"}),
        ("df.reset_index(drop=True, inplace=False)", set()),
        ("clean = df.dropna()", set()),
        ("F.relu(x, inplace=True)", {"x"}),
        ("layer = nn.Dropout(rate, inplace=True)", set()),
        ("np.add(a, b, out=c)", {"c"}),
        ("c = np.add(a, b, out=None)", set()),
        ("ndimage.gaussian_filter(a, 1.0, output=a)", {"a"}),
        ("np.nan_to_num(a, copy=False)", {"a"}),
        ("b = np.nan_to_num(a, copy=True)", set()),
        ("np.copyto(a, b)", {"a", "b"}),
        ("next(reader)", {"reader"}),
        ("x = next(iter(loader))", set()),
    ],
)
def test_what_changes(source, changed):
    assert effects(ast.parse(source).body, IMPORTS, None).mutates == changed
