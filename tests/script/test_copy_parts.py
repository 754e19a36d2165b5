"""Parts as source: complete, no more than needed, and under other names where the notebook has taken theirs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from nbddp.script.copy_parts import imports_for, parts_for
from nbddp.script.names import names_in
from nbddp.script.part_library import FOLDER, SECTIONS, library

ALL = list(library().parts)
REQUESTS = [name.replace("__", ":") for name in ALL]


def bound_by(source: str) -> list[str]:
    return [name for node in ast.parse(source).body for name in [getattr(node, "name", None)] if name]


def script(request: str) -> str:
    parts = parts_for([request])
    return ("\n".join(parts.imports) + "\n\n\n").lstrip() + parts.source + "\n"


def test_every_file_is_listed():
    assert sorted(file for files in SECTIONS.values() for file in files) == sorted(
        path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"
    )


@pytest.mark.parametrize("request_", REQUESTS)
def test_a_part_brings_all_that_it_names(request_):
    """Whatever is not bound in the text is a builtin."""
    source = script(request_)
    tree = ast.parse(source)
    used = names_in(source)
    imported = {
        a.asname or a.name for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names
    }
    assert imported <= used, "no import that nothing uses"
    known = set(library().imports) | {name.partition("__")[0] for name in ALL}
    defined = imported | set(parts_for([request_]).names)
    assert used & known <= defined
    compile(source, "parts", "exec")


def test_the_copied_text_is_formatted_and_passes_the_default_checks(tmp_path):
    pytest.importorskip("ruff")
    for request in REQUESTS:
        (tmp_path / f"{request.replace(':', '__')}.py").write_text(script(request))
    ruff = [sys.executable, "-m", "ruff"]
    options = ["--isolated", "--line-length", "120"]
    for command in (["format", "--diff"], ["check", "--ignore", "I001"]):
        done = subprocess.run([*ruff, *command, *options, str(tmp_path)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ALL)
def test_no_local_name_hides_a_part_or_an_import(name):
    """So renaming needs to look at names alone."""
    taken = set(library().imports) | set(ALL)
    for node in ast.walk(ast.parse(library().parts[name])):
        assert not (isinstance(node, ast.arg) and node.arg in taken)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            assert node.id == name or node.id not in taken


@pytest.mark.parametrize("name", ALL)
def test_a_part_is_short_and_plain(name):
    source = library().parts[name]
    assert source.isascii()
    (node,) = ast.parse(source).body
    for function in ast.walk(node):
        if isinstance(function, ast.FunctionDef):
            assert (function.end_lineno or 0) - function.lineno < 25
            assert function.returns is None
    assert "noqa" not in source
    assert "type:" not in source


def test_parts_need_torch_and_the_standard_library_alone():
    roots = {line.split()[1].partition(".")[0] for line in library().imports.values()}
    assert roots - set(sys.stdlib_module_names) == {"torch"}


def test_the_order_is_that_of_the_files_whatever_is_asked_first():
    first = parts_for(["sum_over_ranks", "DDP", "per_rank"])
    again = parts_for(["per_rank", "DDP", "sum_over_ranks", "per_rank"])
    assert first == again
    assert bound_by(first.source)[:3] == ["of_the_model", "DDP", "per_rank"]


def test_nothing_is_copied_for_nothing():
    parts = parts_for(["per_rank"])
    assert parts.imports == ("import torch.distributed as dist",)
    assert parts.names == {"per_rank", "dist"}
    assert parts_for([]) == type(parts)((), (), frozenset(), frozenset())


def test_a_constant_and_decorators_come_along():
    assert "snapshot_file = None" in parts_for(["from_snapshot"]).source
    assert "@contextlib.contextmanager\ndef first_on_rank_0():" in parts_for(["first_on_rank_0"]).source


def test_a_variant_is_copied_under_the_plain_name():
    parts = parts_for(["mean_over_ranks:lists", "DDP:plain"])
    assert bound_by(parts.source) == ["DDP", "mean_over_ranks"]
    assert "__lists" not in parts.source
    assert {"DDP", "mean_over_ranks"} <= parts.names


def test_a_variant_gives_way_to_the_whole():
    parts = parts_for(["sum_over_shares", "sum_over_ranks:floats"])
    assert bound_by(parts.source).count("sum_over_ranks") == 1
    assert "combined" in parts.names
    assert "return sum_over_ranks(value) if is_share(loader) else value" in parts.source


def test_rare_methods_are_copied_on_request():
    assert "__getitem__" not in parts_for(["DDP"]).source
    source = parts_for(["DDP.__getitem__"]).source
    assert '__getitem__ = of_the_model("__getitem__")' in source
    assert "__len__" not in source
    plain = parts_for(["DDP:plain.state_dict"]).source
    assert "def state_dict" in plain
    assert "load_state_dict" not in plain


def test_names_that_are_taken_are_replaced_wherever_they_are_names():
    renames = {"sending_device": "device_to_send", "os": "os_module", "dist": "distributed"}
    parts = parts_for(["first_on_rank_0", "any_rank"], renames=renames)
    assert "import os as os_module" in parts.imports
    assert "import torch.distributed as distributed" in parts.imports
    assert {"device_to_send", "os_module", "distributed", "any_rank"} <= parts.names
    assert not {"sending_device", "os", "dist"} & parts.names
    names = {node.id for node in ast.walk(ast.parse(parts.source)) if isinstance(node, ast.Name)}
    assert not {"sending_device", "os", "dist"} & names
    assert "def device_to_send():" in parts.source
    assert "distributed.all_reduce(flags, distributed.ReduceOp.MAX)" in parts.source
    compile(parts.source, "parts", "exec")


def test_a_variant_and_what_names_it_can_be_renamed():
    source = parts_for(["sum_over_shares:plain", "sum_over_ranks:floats"], renames={"sum_over_ranks": "whole"}).source
    assert "def whole(value):" in source
    assert "return whole(value) if isinstance(loader.sampler, DistributedSampler) else value" in source


def test_imports_for_a_text():
    assert imports_for({"os", "mp", "unknown"}) == {"os": "import os", "mp": "import torch.multiprocessing as mp"}


def test_an_unknown_part_is_an_error():
    with pytest.raises(KeyError):
        parts_for(["absent"])


def test_reading_the_parts_imports_none_of_them():
    code = (
        "import sys; from nbddp.script.copy_parts import parts_for; parts_for(['DDP']); print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
    )
    assert done.stdout == "False\n"


def test_a_script_with_numpy_has_it_by_its_name():
    def source(*names, numpy=None):
        return parts_for(names, numpy=numpy).source

    assert '    if "numpy" in sys.modules:\n        sys.modules["numpy"].random' in source("seed_everything")
    assert "    torch.manual_seed(seed)\n    np.random.seed(seed % 2**32)" in source("seed_everything", numpy="np")
    assert "    return numpy.concatenate(pieces)" in source("joined", numpy="numpy")
    assert '    state["numpy"] = np.random.get_state()\n    if torch' in source("random_numbers_now", numpy="np")
    assert '    if "numpy" in state:\n        np.random' in source("set_random_numbers", numpy="np")
    assert "import sys" not in parts_for(["joined"], numpy="np").imports
