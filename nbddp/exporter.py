"""`jupyter nbconvert --to ddp x.ipynb`, and JupyterLab's "Save and Export Notebook As": the bytes of `nbddp export`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from nbconvert.exporters import Exporter
from nbconvert.utils.exceptions import ConversionException
from nbformat import NotebookNode
from traitlets import Bool, Int, default

from nbddp.diagnostics import CannotExport, rendered
from nbddp.export import export
from nbddp.notebook import CannotRead, notebook_from_json
from nbddp.options import Options


class DDPScriptExporter(Exporter):
    """A script that trains the notebook with DistributedDataParallel; needs torch alone."""

    export_from_notebook = "DDP script"
    output_mimetype = "text/x-python"

    train = Int(None, allow_none=True, help="Number of the training cell, if none is marked.").tag(config=True)
    nproc = Int(None, allow_none=True, help="Processes that the script starts by default.").tag(config=True)
    batch_per_rank = Bool(None, allow_none=True, help="The batch size is each process's.").tag(config=True)
    sync_batchnorm = Bool(None, allow_none=True, help="BatchNorm over the batches of all processes.").tag(config=True)

    exact = Bool(None, allow_none=True, help="The numbers of one process; whole batches are loaded.").tag(config=True)
    shard = Bool(None, allow_none=True, help="The model is split among the processes (FSDP2).").tag(config=True)

    @default("file_extension")
    def _file_extension(self) -> str:
        return ".py"

    def from_notebook_node(  # type: ignore[override]  # text, as all of nbconvert's own exporters give
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        cells, resources = super().from_notebook_node(nb, resources, **kw)
        options = Options(
            self.train, self.nproc, self.batch_per_rank, self.sync_batchnorm, self.exact, shard=self.shard
        )
        try:
            notebook = notebook_from_json(cells, f"{resources['metadata']['name']}.ipynb")
            script = export(replace(notebook, folder=_folder(resources)), options)
        except (CannotRead, CannotExport) as refusal:
            _refuse(refusal)
        for text in rendered(script.diagnostics):
            self.log.warning("%s", text)
        return script.text, _named(resources)


def _folder(resources: dict[str, Any]) -> Path | None:
    """Where the notebook's file is: modules beside it are read. The server tells of the folder, too."""
    path = resources["metadata"].get("path")
    return Path(path) if path is not None else None


def _named(resources: dict[str, Any]) -> dict[str, Any]:
    """The name that `nbddp export` gives: digits_ddp.py, since digits.py may well be the user's own.

    nbconvert's command line has a suffix for this, and drops it where the user says --output; the server, which gives
    no `unique_key`, knows an extension only.
    """
    if "unique_key" in resources:
        resources["output_suffix"] = "_ddp"
    else:
        resources["output_extension"] = "_ddp.py"
    return resources


def _refuse(refusal: ValueError) -> NoReturn:
    """nbconvert's command line answers a ConversionException with a traceback, of which a user can make nothing."""
    from nbconvert.nbconvertapp import NbConvertApp  # which itself imports all exporters, this one among them

    if isinstance(getattr(NbConvertApp, "_instance", None), NbConvertApp):
        print(refusal, file=sys.stderr)
        raise SystemExit(2) from refusal
    raise ConversionException(str(refusal)) from refusal
