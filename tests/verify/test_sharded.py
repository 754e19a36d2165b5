"""A sharded model, each process with a part of it, beside one plain process."""

from __future__ import annotations

import pytest

from nbddp.export import export
from nbddp.options import Options
from nbddp.verify import verify
from tests.e2e.test_sharded import END, NETS, START
from tests.verify.claims import verification

SHARDED = Options(shard=True)


@pytest.mark.parametrize("net", NETS)
def test_a_sharded_model_has_the_losses_gradients_and_weights_of_one_process(net, request, tmp_path, proved):
    notebook = tmp_path / "sharded.py"
    notebook.write_text(START + NETS[net] + END)

    def judge() -> None:
        report = verify(notebook, options=SHARDED, helper=request.getfixturevalue("helper"))
        assert (report.verdict, report.status, len(report.rows)) == ("same", 0, 20), report

    proved(verification(f"{net}, sharded", notebook, 2, options=SHARDED), judge)


def test_one_that_is_not_synchronised_is_found(request, tmp_path, proved):
    notebook = tmp_path / "sharded.py"
    notebook.write_text(START + NETS["a convolutional net"] + END)
    script = export(notebook, SHARDED).text
    wrong = script.replace("\n    shard(model)", "\n    # shard(model)", 1)
    assert wrong != script

    def judge() -> None:
        report = verify(notebook, options=SHARDED, script=wrong, helper=request.getfixturevalue("helper"))
        assert (report.verdict, report.status) == ("different", 2), report

    proved(verification("a model that is not sharded", notebook, 2, options=SHARDED, script=wrong), judge)
