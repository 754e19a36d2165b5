import pytest

from nbddp.cli.diff import rows


def shown(script: str, line_map, cells, *, full: bool = True) -> list[str]:
    return [row.render(on=False) for row in rows(script, line_map, cells, full=full)]


def test_a_line_that_moved_or_was_indented_is_unchanged():
    cells = {1: "import torch", 2: "x = 1\ny = 2"}
    script = "import torch\ndef train():\n    x = 1\n    y = 2\n"
    assert shown(script, [(1, 1), None, (2, 1), (2, 2)], cells) == [
        "@@ cell 1 @@",
        " import torch",
        "+def train():",
        "@@ cell 2 @@",
        "     x = 1",
        "     y = 2",
    ]


def test_a_rewritten_line_shows_both_at_the_depth_of_the_script():
    cells = {2: "model = Net()"}
    assert shown("    model = DDP(Net())\n", [(2, 1)], cells) == [
        "@@ cell 2 @@",
        "-    model = Net()",
        "+    model = DDP(Net())",
    ]


def test_lines_that_a_rule_adds_beside_an_unchanged_one_are_additions_alone():
    cells = {2: "loader = f(x)"}
    script = "sampler = g(x)\nloader = f(x)\nprint(1)\n"
    assert shown(script, [(2, 1), (2, 1), None], cells) == [
        "@@ cell 2 @@",
        "+sampler = g(x)",
        " loader = f(x)",
        "+print(1)",
    ]


def test_one_line_that_became_two_is_removed_once():
    cells = {2: "loader = f(x)"}
    assert shown("s = g(x)\nloader = f(s)\n", [(2, 1), (2, 1)], cells) == [
        "@@ cell 2 @@",
        "-loader = f(x)",
        "+s = g(x)",
        "+loader = f(s)",
    ]


def test_dropped_lines_show_where_they_stood_and_dropped_cells_at_the_end():
    cells = {1: "%matplotlib inline\nx = 1\nx.shape\ny = 2\nplot(y)", 3: "show()\nshow(2)"}
    assert shown("x = 1\ny = 2\n", [(1, 2), (1, 4)], cells) == [
        "@@ cell 1 @@",
        "-%matplotlib inline",
        " x = 1",
        "-x.shape",
        " y = 2",
        "-plot(y)",
        "@@ cell 3, left out @@",
        "-show()",
        "-show(2)",
    ]


def test_a_cell_whose_lines_lie_apart_loses_each_dropped_line_once():
    cells = {1: "a\nb\nc", 2: "d"}
    script = "c\nd\na\n"
    assert shown(script, [(1, 3), (2, 1), (1, 1)], cells) == [
        "@@ cell 1 @@",
        "-b",
        " c",
        "@@ cell 2 @@",
        " d",
        "@@ cell 1 @@",
        " a",
    ]


def test_an_import_that_only_moved_is_no_change():
    cells = {1: "import torch\nimport os.path", 2: "import sys"}
    assert shown("import os\nimport sys\nimport torch\n", [None] * 3, cells) == [
        "+import os",
        "@@ cell 2 @@",
        " import sys",
        "@@ cell 1 @@",
        " import torch",
        "-import os.path",
    ]


def test_long_unchanged_stretches_are_counted():
    source = "\n".join(f"x{i} = {i}" for i in range(20))
    script = source + "\nnew\n"
    line_map = [(1, i + 1) for i in range(20)] + [None]
    assert shown(script, line_map, {1: source}) == [
        "@@ cell 1 @@",
        "… 17 unchanged lines",
        " x17 = 17",
        " x18 = 18",
        " x19 = 19",
        "+new",
    ]


def test_every_line_of_the_script_and_every_line_of_the_cells_is_accounted_for():
    cells = {1: "a\n\nb = 1", 2: "", 4: "for i in x:\n    f(i)\n    g(i)"}
    script = "# head\n\na\n\ndef t():\n    for i in y:\n        g(i)\n"
    found = rows(script, [None, None, (1, 1), None, None, (4, 1), (4, 3)], cells, full=True)
    ours = [row.text for row in found if row.sign in "+ " and row.text.strip()]
    theirs = [row.text.strip() for row in found if row.sign in "- " and row.text.strip()]
    assert ours == [line for line in script.splitlines() if line.strip()]
    assert theirs == ["a", "b = 1", "for i in x:", "f(i)", "g(i)"]


def test_colour_follows_the_sign():
    found = rows("b\n", [(1, 1)], {1: "a"})
    assert [row.render(on=True) for row in found] == [
        "\x1b[36m@@ cell 1 @@\x1b[0m",
        "\x1b[31m-a\x1b[0m",
        "\x1b[32m+b\x1b[0m",
    ]


SCRIPT = """\
\"\"\"Train it.

Exported.
\"\"\"

import os
import torch
from torch import nn
from torch.utils.data import DataLoader

# ── cell 2 ──────
lr = 0.1


def train(rank):
    # ── cell 3 ──────
    step(lr * 2)


# ── helpers of a kind ──────
def one():
    pass


def two():
    pass


# ── the rest ──────
main()
"""
OWN = {12: (2, 1), 17: (3, 1)}
CELLS = {1: "import torch\nfrom torch import (\n    nn,\n)\nimport pylab", 2: "lr = 0.1", 3: "step(lr)", 4: "show()"}
SUMS = {
    "+ 3 lines: what it is and how to start it",
    "+ 3 lines of imports",
    "+ 5 lines: helpers of a kind",
    "+ 2 lines: the rest",
}


def line_map(script: str) -> list:
    return [OWN.get(number) for number, _ in enumerate(script.split("\n"), start=1)]


def test_what_no_cell_has_written_is_one_line_each():
    assert [line for line in shown(SCRIPT, line_map(SCRIPT), CELLS, full=False) if line] == [
        "+ 3 lines: what it is and how to start it",
        "+ 3 lines of imports",
        "+# ── cell 2 ──────",
        "@@ cell 2 @@",
        " lr = 0.1",
        "+def train(rank):",
        "+    # ── cell 3 ──────",
        "@@ cell 3 @@",
        "-    step(lr)",
        "+    step(lr * 2)",
        "+ 5 lines: helpers of a kind",
        "+ 2 lines: the rest",
        "@@ cell 4, left out @@",
        "-show()",
        "… --diff=full shows every line",
    ]


def test_the_user_code_reads_the_same_as_in_the_full_diff():
    short, full = (shown(SCRIPT, line_map(SCRIPT), CELLS, full=full) for full in (False, True))
    ours = [line for line in short[:-1] if line and line not in SUMS]
    assert ours == [line for line in full if line in ours]
    assert "+def one():" in full
    assert len(full) > len(short)


def test_a_cell_whose_import_was_summed_up_still_heads_its_own_lines():
    cells = {1: "import torch\nx = torch.ones(1)"}
    assert shown("import torch\nx = torch.zeros(1)\n", [None, (1, 2)], cells, full=False)[:3] == [
        "@@ cell 1 @@",
        "-x = torch.ones(1)",
        "+x = torch.zeros(1)",
    ]


def test_a_sum_is_green_and_the_hint_is_dim():
    found = rows("import os\nx = 1\n", [None, (1, 1)], {1: "x = 1"})
    painted = [row.render(on=True) for row in found]
    assert painted[0] == "\x1b[32m+ 1 line of imports\x1b[0m"
    assert painted[-1] == "\x1b[2m… --diff=full shows every line\x1b[0m"


@pytest.mark.parametrize("script", ["x = 1\n", "x = 1\n\n\ny = 2\n"])
def test_where_nothing_is_summed_up_there_is_no_hint(script):
    assert shown(script, [(1, 1)] * script.count("\n"), {1: "x = 1"}, full=False)[-1][:1] != "…"
