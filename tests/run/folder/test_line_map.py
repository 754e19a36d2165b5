"""Lines of a script and the cells that they came from."""

from __future__ import annotations

import json

import pytest

from nbddp.run.folder.line_map import line_map, read_line_map
from tests.analysis.cells import notebook


def test_each_line_with_the_cells_own_text(tmp_path):
    rows = list(line_map(notebook("a = 1\nb = 2", "c = 3"), [None, (1, 2), None, (2, 1)]))
    assert rows == [
        {"script": 2, "cell": 1, "line": 2, "source": "b = 2"},
        {"script": 4, "cell": 2, "line": 1, "source": "c = 3"},
    ]
    path = tmp_path / "map.json"
    path.write_text(json.dumps(rows))
    assert read_line_map(path) == {2: rows[0], 4: rows[1]}


@pytest.mark.parametrize("text", ["", "{", "[1]", "[{}]", "3", '[{"script": "x"}]'])
def test_a_damaged_one_is_nothing(tmp_path, text):
    path = tmp_path / "map.json"
    path.write_text(text)
    assert read_line_map(path) == {}
    assert read_line_map(tmp_path / "nowhere") == {}
