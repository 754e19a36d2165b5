"""Where kept statements go, and with which lines."""

from __future__ import annotations

import ast

import pytest

from nbddp.script.from_modules import modules_of
from nbddp.script.layout import Layout, lay_out
from nbddp.script.regions import regions
from tests.analysis.cells import BEFORE, TRAINING, plan


def laid_out(*cells: str) -> tuple[Layout, dict[str, str]]:
    """The layout, and for each statement of these cells where it went, by its first line."""
    made = plan(*BEFORE, *cells)
    layout = lay_out(made, modules_of(made, []), set(), set(), set())
    places = {s.index: place for place in ("imports", "environment", "module", "body") for s in getattr(layout, place)}
    kept = [s for s in made.kept if s.cell.number > len(BEFORE)]
    return layout, {made.program.source(s.node).split("\n")[0]: places[s.index] for s in kept}


USES = TRAINING.replace("range(3)", "range(n)")


@pytest.mark.parametrize(
    ("cell", "place"),
    [
        ("n = 3", "module"),
        ("n = 2 + 1", "module"),
        ("n: int = 3", "module"),
        ("k = 2\nn = 2 * k", "module"),
        ("n = len('abc')", "body"),
        ("n = 3\nn += 1", "body"),
        ("def f():\n    return 3\nn = f()", "body"),
        ("if True:\n    n = 3", "body"),
    ],
)
def test_constants_go_to_the_module(cell, place):
    found = laid_out(cell, USES)[1]
    assert found[cell.split("\n")[-1].strip() if "if" not in cell else "if True:"] == place


def test_what_reads_an_imported_name_that_is_set_anew_comes_after_that():
    cell = "from math import pi as n\nk = len(str(n))\nn = 3\nm = 2 * n"
    layout, found = laid_out(cell, USES.replace("range(n)", "range(m + k)"))
    assert (found["n = 3"], found["m = 2 * n"]) == ("body", "body")
    assert "n" in layout.global_names


def test_a_number_stays_a_constant_whoever_is_handed_it():
    found = laid_out("import mystery\nn = 3\nsizes = [n]", "mystery.use(n, sizes)\n" + USES)[1]
    assert (found["n = 3"], found["sizes = [n]"]) == ("module", "body")


def test_definitions_go_to_the_module_unless_their_header_needs_a_value_of_train():
    cell = "n = 3\ndef f(a=n):\n    return a\nlast = len(model.state_dict())\ndef g(a=last):\n    return f(a)"
    found = laid_out(cell, TRAINING.replace("range(3)", "range(g())"))[1]
    assert found["def f(a=n):"] == "module"
    assert found["def g(a=last):"] == "body"


def test_a_class_that_draws_where_it_is_defined_comes_after_the_seed():
    uses = TRAINING.replace("range(3)", "range(len(Drawn.weights) + Plain.count)")
    found = laid_out("class Drawn:\n    weights = torch.rand(2)\nclass Plain:\n    count = 1", uses)[1]
    assert (found["class Drawn:"], found["class Plain:"]) == ("body", "module")


@pytest.mark.parametrize(
    ("cell", "place"),
    [
        ("def build(body=nn.Linear(2, 2)):\n    return body\nn = int(build() is None) + 3", "body"),
        ("def build(*, body=nn.Linear(2, 2)):\n    return body\nn = int(build() is None) + 3", "body"),
        (
            "class Build:\n    def of(self, body=nn.Linear(2, 2)):\n        return body\nn = int(Build() is None) + 3",
            "body",
        ),
        ("def build(body=nn.ReLU):\n    return body()\nn = int(build() is None) + 3", "module"),
        ("def build(size=2):\n    return nn.Linear(size, size)\nn = int(build() is None) + 3", "module"),
    ],
)
def test_defaults_that_draw_are_made_behind_the_seed(cell: str, place: str) -> None:
    assert laid_out(cell, USES)[1][cell.split("\n", maxsplit=1)[0]] == place


@pytest.mark.parametrize(
    ("before", "star_first"),
    [("random.seed(0)\n", True), ("", False)],
)
def test_a_star_does_not_hide_what_was_read_before_it(before: str, star_first: bool) -> None:
    cells = [f"import random\n{before}", "from numpy import *\nn = 3 + int(random.rand() > 2)"]
    layout, _ = laid_out(*cells, USES)
    names = [ast.unparse(s.node) for s in layout.imports[-2:]]
    assert names == (
        ["from numpy import *", "import random"] if star_first else ["import random", "from numpy import *"]
    )


@pytest.mark.parametrize(("before", "place"), [("random.seed(0)\n", "body"), ("", "imports")])
def test_an_import_that_gives_a_name_another_meaning_stays_behind_what_has_read_it(before: str, place: str) -> None:
    cells = [f"import random\n{before}", "from random import random\nn = 3 + int(random() > 2)"]
    found = laid_out(*cells, USES)[1]
    assert found["from random import random"] == place


def test_names_that_functions_of_the_module_read_are_global():
    layout, _ = laid_out("def loss_of(x, y):\n    return F.cross_entropy(model(x), y)",
                         TRAINING.replace("F.cross_entropy(model(x), y)", "loss_of(x, y)"))  # fmt: skip
    assert layout.global_names == ("model",)


def test_nothing_is_global_without_need():
    assert laid_out(TRAINING)[0].global_names == ()


def test_names_that_functions_set_are_global():
    cell = "count = len(train_set)\ndef step():\n    global count\n    count += 1"
    assert laid_out(cell, TRAINING.rstrip("\n") + "\n        step()\n")[0].global_names == ("count",)


@pytest.mark.parametrize(
    "line",
    [
        "import os\nos.environ['A'] = 'b'\nimport zlib",
        "import sys\nsys.path.append('x')\nimport mine",
        "import os, sys; root = os.path.abspath('..')\nsys.path.append(root)\nimport mine",
        "import pathlib, sys; here = pathlib.Path.cwd(); root = here.parent\nsys.path.append(str(root))\nimport mine",
    ],
)
def test_what_an_import_needs_stands_before_it(line):
    name = line.rsplit(" ", 1)[-1]
    found = laid_out(line, TRAINING.rstrip("\n") + f"\n        {name}.crc32(b'')\n")[1]
    assert found[line.split("\n")[1]] == "environment"


def test_parameters_are_the_constants_of_their_cell():
    layout, _ = laid_out(
        '# %% tags=["parameters"]\nn = 3\nlr: float = 0.5\nname = "x"\nother = n', USES + "    print(lr, name, other)\n"
    )
    assert dict(layout.parameters) == {"n": 3, "lr": 0.5, "name": "x"}


def test_comments_belong_to_the_statement_below_and_at_the_end_to_the_last():
    made = plan(*BEFORE, "# first\n\n# of a\na = 1  # one\n# of b\nb = 2\n# the end", TRAINING)
    spans = regions(made)
    texts = {
        made.program.source(s.node): made.program.text[spans[s.index].lead : spans[s.index].end]
        for s in made.program.statements
    }
    assert texts["a = 1"] == "# first\n\n# of a\na = 1  # one\n"
    assert texts["b = 2"].strip() == "# of b\nb = 2\n# the end"


def test_statements_on_one_line_are_taken_apart():
    made = plan(*BEFORE, "a = 1; b = 2  # both\nc = 3", TRAINING)
    spans = regions(made)
    texts = [
        made.program.text[spans[s.index].lead : spans[s.index].end]
        for s in made.program.statements
        if s.cell.number == 4
    ]
    assert "".join(texts) == "a = 1; b = 2  # both\nc = 3\n" or [t.strip(" ;\n") for t in texts] == [
        "a = 1",
        "b = 2  # both",
        "c = 3",
    ]


def test_what_is_registered_where_it_is_defined_stays_behind_the_register():
    cell = "made = {}\ndef register(f):\n    made[f.__name__] = f\n    return f\n@register\ndef rate():\n    return 3"
    found = laid_out(cell, TRAINING.replace("range(3)", "range(made['rate']())"))[1]
    assert (found["made = {}"], found["def register(f):"], found["def rate():"]) == ("body", "module", "body")
