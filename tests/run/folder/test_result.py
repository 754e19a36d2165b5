"""What comes back, and files that do not."""

import numpy as np
import pytest
import torch

from nbddp.run.folder.errors import NoResult
from nbddp.run.folder.result import read_result
from nbddp.run.watching.plain_values import not_plain


def saved(path, **changes):
    content = {
        "format": 1,
        "states": {"model": {"weight": torch.ones(2)}},
        "values": {"losses": [0.5, 0.25], "pair": (1, {"__ndarray__": torch.arange(3)}), "nothing": None, "text": "é"},
        "left_out": {"f": "a function cannot be sent"},
    }
    torch.save({**content, **changes}, path)
    return path


def test_states_values_and_arrays_come_back(tmp_path):
    result = read_result(saved(tmp_path / "r.pt"))
    assert torch.equal(result["model"]["weight"], torch.ones(2))
    assert (result["losses"], result["nothing"], result["text"]) == ([0.5, 0.25], None, "é")
    array = result["pair"][1]
    assert isinstance(array, np.ndarray)
    assert array.tolist() == [0, 1, 2]


def test_a_name_that_did_not_come_back_is_explained(tmp_path):
    result = read_result(saved(tmp_path / "r.pt"))
    with pytest.raises(KeyError, match="f could not be brought back: a function cannot be sent"):
        result["f"]
    with pytest.raises(KeyError, match="'g', only losses, model, nothing, pair, text"):
        result["g"]


def test_files_of_other_kinds_are_refused_in_a_sentence(tmp_path):
    with pytest.raises(NoResult, match="has not written a result"):
        read_result(tmp_path / "none.pt")
    with pytest.raises(NoResult, match="has format 2, but this version of nbddp reads format 1"):
        read_result(saved(tmp_path / "r.pt", format=2))
    torch.save([1, 2], tmp_path / "list.pt")
    with pytest.raises(NoResult, match="is not the result of a run"):
        read_result(tmp_path / "list.pt")
    (tmp_path / "text.pt").write_text("hello")
    with pytest.raises(NoResult, match="could not be read"):
        read_result(tmp_path / "text.pt")


class Evil:
    def __reduce__(self):
        return (print, ("owned",))


def test_nothing_in_a_result_is_executed(tmp_path, capsys):
    with pytest.raises(NoResult, match="could not be read"):
        read_result(saved(tmp_path / "r.pt", values={"x": Evil()}))
    assert "owned" not in capsys.readouterr().out


def test_only_marked_tensors_become_arrays():
    value = {"__ndarray__": torch.ones(1), "other": 1}
    assert not_plain(value) == value
    assert isinstance(not_plain([{"a": {"__ndarray__": torch.ones(1)}}])[0]["a"], np.ndarray)
