"""`nbddp export x.ipynb`: the script, or all that stands in its way."""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nbddp.cli.arguments import add_json, add_notebook, options_of
from nbddp.cli.colour import coloured, paint
from nbddp.cli.diff import rows
from nbddp.cli.jobs import OF_A_JOB, OF_PODS, add_job, add_pods, batch_text, manifest_text, write_beside
from nbddp.cli.parse import Parser, Refusal
from nbddp.cli.show import count, show
from nbddp.export import export
from nbddp.notebook import Notebook, read_notebook
from nbddp.output import write_script

if TYPE_CHECKING:
    from nbddp.export import Script


def add_arguments(parser: Parser) -> None:
    add_notebook(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="PATH", help="default: NOTEBOOK's name with _ddp.py")
    parser.add_argument("--force", action="store_true", help="overwrite a script that was edited since its export")
    parser.add_argument("--stdout", action="store_true", help="print the script and write no file")
    diff = partial(parser.add_argument, dest="diff", action="store_const")
    diff("--diff", const="short", help="show what becomes of the cells' lines, and write no file")
    diff("--diff=full", const="full", help="the same with every line of imports and helpers")  # an option to argparse
    parser.add_argument(
        "--sbatch", action="store_true", help="also write what SLURM's sbatch takes, beside the script; needs --nproc"
    )
    parser.add_argument(
        "--k8s", action="store_true", help="also write a TrainJob for Kubernetes, beside the script; needs --nproc"
    )
    add_job(parser)
    add_pods(parser)
    parser.rest = "with --sbatch, more words for it"
    add_json(parser)


def execute(arguments: argparse.Namespace) -> int:
    _refuse_contradictions(arguments)
    if arguments.sbatch:
        arguments.slurm, arguments.checkpoints = True, arguments.checkpoints is not False
    notebook = read_notebook(arguments.notebook)
    script = export(notebook, options_of(arguments))
    if arguments.stdout or arguments.diff:
        show(script.diagnostics, sys.stderr)
        sys.stdout.write(script.text if arguments.stdout else _diff(notebook, script, full=arguments.diff == "full"))
        return 0
    path = arguments.output or default_output(arguments.notebook)
    nproc = script.plan.options.nproc
    batch = batch_text(arguments, path, nproc) if arguments.sbatch else ""
    manifest = manifest_text(arguments, path, script.text, nproc) if arguments.k8s else ""
    written = _write(arguments, script, path)
    if batch:
        write_beside(path.with_suffix(".sbatch"), batch, force=arguments.force, command="sbatch")
    if manifest:
        write_beside(path.with_suffix(".yaml"), manifest, force=arguments.force, command="kubectl create -f")
    _say_written(arguments, script, path, written=written)
    return 0


def default_output(notebook: Path) -> Path:
    return notebook.with_name(f"{notebook.stem}_ddp.py")


def _refuse_contradictions(arguments: argparse.Namespace) -> None:
    pods = next((name for name in OF_PODS if getattr(arguments, name) is not None), "")
    if pods and not arguments.k8s:
        raise Refusal(f"export: --{pods} is for Kubernetes: add --k8s")
    asked = any(getattr(arguments, name) is not None for name in OF_A_JOB)
    if not arguments.sbatch and (arguments.rest or (asked and not arguments.k8s)):
        raise Refusal("export: what a job is asked for is written into its file: add --sbatch")
    answers = [name for name in ("stdout", "diff", "json") if getattr(arguments, name)]
    if len(answers) > 1:
        raise Refusal(f"export: --{answers[0]} and --{answers[1]} exclude each other; choose one")
    file = "sbatch" if arguments.sbatch else "k8s" if arguments.k8s else ""
    if file and (arguments.stdout or arguments.diff):
        raise Refusal(f"export: --{file} writes a file; leave out --stdout and --diff")
    writes_nothing = next((name for name in ("stdout", "diff") if name in answers), None)
    if writes_nothing and arguments.output:
        raise Refusal(f"export: --{writes_nothing} writes no file; leave out --output")


def _write(arguments: argparse.Namespace, script: Script, path: Path) -> bool:
    if path.exists() and path.samefile(arguments.notebook):
        raise Refusal(f"export: {path} is the notebook itself")
    return write_script(path, script.text, force=arguments.force)


def _say_written(arguments: argparse.Namespace, script: Script, path: Path, *, written: bool) -> None:
    if arguments.json:
        found = [diagnostic.as_dict() for diagnostic in script.diagnostics]
        print(json.dumps({"output": str(path), "written": written, "diagnostics": found}, indent=2))
        return
    show(script.diagnostics, sys.stderr)
    findings = f" ({count(script.diagnostics)})" if script.diagnostics else ""
    print(f"{path} {'written' if written else 'is up to date'}{findings}")


def _diff(notebook: Notebook, script: Script, *, full: bool) -> str:
    on = coloured(sys.stdout)
    cells = {cell.number: cell.source for cell in notebook.cells if cell.kind == "code"}
    heads = [paint(f"--- {notebook.name}", "bold", on), paint(f"+++ {default_output(Path(notebook.name))}", "bold", on)]
    shown = rows(script.text, script.line_map, cells, full=full)
    return "\n".join([*heads, *(row.render(on) for row in shown)]) + "\n"
