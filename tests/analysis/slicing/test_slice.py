"""Which statements the training needs."""

from __future__ import annotations

import pytest

from tests.analysis.cells import BEFORE, TRAINING, plan


def kept(*cells: str) -> list[str]:
    """First lines of what is kept of the cells between the model and the training, and of the training cell."""
    made = plan(*BEFORE, *cells)
    return [made.program.source(s.node).split("\n")[0] for s in made.kept if s.cell.number > len(BEFORE)]


def reasons(*cells: str) -> dict[str, str]:
    made = plan(*BEFORE, *cells)
    statements = made.program.statements
    return {made.program.source(statements[i].node): why for i, why in made.slice.dropped.items()}


LOOP = "for epoch in range(3):"


def test_what_the_training_does_not_need_is_left_out():
    assert kept("a = 1\nb = a + 1", TRAINING) == [LOOP]


@pytest.mark.parametrize(
    "cell",
    [
        "sizes = [len(p) for p in model.parameters()]",
        "def size(p):\n    return p.numel()\nlist(map(size, model.parameters()))",
        "list(map(lambda p: p.numel(), model.parameters()))",
        "texts = [str(p).split() for p in model.parameters()]",
    ],
)
def test_what_a_comprehension_only_looks_at_is_not_changed(cell):
    assert kept(cell, TRAINING) == [LOOP]


@pytest.mark.parametrize(
    ("lines", "call", "needed"),
    [
        ("np.save('rows.npy', rows)", "data.make()", True),
        ("torch.manual_seed(0)", "data.make()", True),
        ("self.more()\n    def more(self):\n        np.save('rows.npy', rows)", "data.make()", True),
        ("return len(rows)", "data.make()", False),
        ("np.save('rows.npy', rows)", "data.look()", False),
    ],
)
def test_what_a_method_writes_is_there(lines, call, needed):
    cls = (
        f"import numpy as np\nclass Data:\n    def look(self):\n        return 1\n    def make(self):\n        {lines}"
    )
    made = kept(f"{cls}\nrows = [1]\ndata = Data()", call, TRAINING)
    assert (call in made) is needed


def test_a_name_that_is_taken_away_goes_with_what_it_stood_for():
    assert kept("looks = DataLoader(train_set, batch_size=4)\nfor x in looks:\n    break\ndel looks", TRAINING) == [
        LOOP
    ]


def test_what_the_training_cell_takes_away_is_there():
    assert kept("spare = 1", f"del spare\n{TRAINING.strip()}") == ["spare = 1", "del spare", LOOP]


@pytest.mark.parametrize(
    "cell",
    [
        "model = nn.Linear(8, 2)",
        "for p in model.parameters():\n    p.requires_grad = False",
        "train_set.transform = None",
        "layer = model\nlayer.bias = None",
        "for i, p in enumerate(model.parameters()):\n    p.requires_grad = i > 0",
        "for p, q in zip(model.parameters(), model.parameters()):\n    q.requires_grad = False",
        "parts = [p for p in model.parameters()]\nparts[0].requires_grad = False",
        "def freeze(m):\n    for p in m.parameters():\n        p.requires_grad = False\nfreeze(model)",
        "def freeze(m):\n    m.requires_grad_(False)\nfreeze(model)",
        "def fill(net):\n    for m in net.modules():\n        torch.nn.init.normal_(m.weight.data)\nfill(model)",
        "def fill(net):\n    for m in net.modules():\n        m.weight.data.normal_()\nfill(model)",
        "def fill(net):\n    for m in net.modules():\n        m.weight.data[0] = 0\nfill(model)",
        "def fill(net):\n    for name, p in net.named_parameters():\n        torch.nn.init.zeros_(p)\nfill(model)",
        "def one(m):\n    m.bias.zero_()\ndef fill(net):\n    for m in net.modules():\n        one(m)\nfill(model)",
        "model.double()",
        "def freeze(p):\n    p.requires_grad = False\n[freeze(p) for p in model.parameters()]",
        "def freeze(p):\n    p.requires_grad = False\nlist(map(freeze, model.parameters()))",
        "list(map(lambda p: p.requires_grad_(False), model.parameters()))",
        "_ = [p.zero_() for m in model.modules() for p in m.parameters()]",
        "any(setattr(p, 'requires_grad', False) for _, p in model.named_parameters())",
        "dict(map(lambda kv: (kv[0], nn.init.zeros_(kv[1])), model.named_parameters()))",
        "for m in [model]:\n    m.half()",
        "class A:\n    def split(self, n):\n        self.n = n\na = A()\na.split(model)\nmodel = a.n",
        "torch.manual_seed(3)",
        "with torch.no_grad():\n    model.weight.zero_()",
        "if len(train_set) > 5:\n    train_loader = DataLoader(train_set, batch_size=5)",
        "try:\n    model = model.cuda()\nexcept RuntimeError:\n    pass",
        "globals()['model'] = nn.Linear(8, 2)",
        "def fill(net):\n    def inner(p):\n        net.weight.data.zero_()\n    inner(3)\nfill(model)",
        "def fill(net):\n    net.bias.zero_()\nways = {'zero': fill}\nways['zero'](model)",
        "def fill(net):\n    net.bias.zero_()\nfunctools.partial(fill, model)()",
        "(lambda net: net.bias.zero_())(model)",
        "def make(net):\n    def fill(x):\n        net.bias.zero_()\n    return fill\nfill = make(model)\nfill(3)",
        (
            "class Fill:\n    def __init__(self, net):\n        self.net = net\n    def run(self):\n"
            "        self.net.bias.zero_()\nFill(model).run()"
        ),
        "def fill(x, net=model):\n    net.bias.zero_()\nfill(3)",
    ],
)
def test_what_may_change_the_training_is_kept(cell):
    made = plan(*BEFORE, cell, TRAINING)
    assert [s.node for s in made.program.statements if s.cell.number == 4] == [
        s.node for s in made.kept if s.cell.number == 4
    ]


@pytest.mark.parametrize(
    "cell",
    [
        "globals()['k'] = 4",
        "def more():\n    global k\n    k = 4\nmore()",
        "for k in range(5):\n    pass",
        "exec('k = 4')",
    ],
)
def test_a_number_may_be_bound_anew(cell):
    made = plan(*BEFORE, "k = 3", cell, TRAINING.replace("range(3)", "range(k)"))
    assert 5 in {s.cell.number for s in made.kept}


def test_nothing_changes_a_device_that_is_handed_over():
    first = "class Net(nn.Module):\n    def forward(self, x):\n        return x.to(device).unsqueeze(1).fill_(0.5)"
    training = TRAINING.replace("model(x)", "model(x.to(device))")
    assert kept("device = torch.device('cpu')", first, "other = Net()\nother.eval()", training) == [
        "device = torch.device('cpu')",
        "for epoch in range(3):",
    ]


def test_the_last_binding_before_counts():
    assert kept("k = 3", "k = 4", TRAINING.replace("range(3)", "range(k)")) == ["k = 4", "for epoch in range(k):"]


def test_augmented_assignment_needs_the_one_before():
    assert kept("k = 3", "k += 1", TRAINING.replace("range(3)", "range(k)"))[:2] == ["k = 3", "k += 1"]


def test_functions_bring_the_globals_that_they_read():
    training = TRAINING.replace("F.cross_entropy(model(x), y)", "loss_of(x, y)")
    cells = ("weight = 2.0", "def loss_of(x, y):\n    return weight * F.cross_entropy(model(x), y)", "unused = 1")
    assert kept(*cells, training) == ["weight = 2.0", "def loss_of(x, y):", LOOP]


def test_a_global_of_a_function_that_is_called_later_may_come_after_its_definition():
    training = TRAINING.replace("F.cross_entropy(model(x), y)", "loss_of(x, y)")
    assert "weight = 2.0" in kept("def loss_of(x, y):\n    return weight * model(x).mean()", "weight = 2.0", training)


def test_reasons():
    found = reasons("model", "unused = 1", "%matplotlib inline", "import json", TRAINING, "print(loss)")
    assert found["model"] == "only displays something"
    assert found["unused = 1"] == "not needed for the training"
    assert found["pass"] == "only a magic or a shell command, or nothing"
    assert found["import json"] == "imported only for code that is left out"
    assert found["print(loss)"] == "after the training"


@pytest.mark.parametrize("mark", ["setup", "rank0"])
def test_marked_cells_are_kept_whole(mark):
    assert "unused = 1" in kept(f"#| ddp: {mark}\nunused = 1", TRAINING)


def test_marked_cells_are_left_out():
    assert "torch.manual_seed(3)" not in kept("#| ddp: skip\ntorch.manual_seed(3)", TRAINING)


@pytest.mark.parametrize(
    "cell",
    [
        "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.imshow(train_set[0][0])\nax.set_title('first')",
        "xb, yb = next(iter(train_loader))\nshow(xb)",
        "for xb, yb in train_loader:\n    xb.flatten_()\n    break",
        "weights = model.weight.clone()\nweights[0] = 1",
        "count = len(train_set)\ncount += 1",
        "size = 3\nheights = [size]\nheights.append(4)",
    ],
)
def test_what_shares_nothing_with_the_training_is_left_out(cell):
    made = plan(*BEFORE, cell, TRAINING)
    assert not [s for s in made.kept if s.cell.number == 4]


def test_a_default_that_another_takes_the_place_of_is_not_changed():
    fill = "def fill(x, net=model):\n    net.bias.zero_()\nother = nn.Linear(8, 2)\nfill(3, other)\nfill(3, net=other)"
    assert not [s for s in plan(*BEFORE, fill, TRAINING).kept if s.cell.number == 4]


def test_a_picture_drawn_by_a_function_that_may_object_is_left_out():
    draw = "def draw(xs):\n    if not len(xs):\n        raise ValueError('empty')\n    plt.plot(xs)"
    assert kept("import matplotlib.pyplot as plt", draw, "draw(range(3))", TRAINING) == [LOOP]


def test_a_function_does_what_it_does_by_then():
    """A later cell defines another under its name, one that changes the world."""
    look, later = "def look(m):\n    return m.weight.shape", "def look(m):\n    torch.manual_seed(3)"
    made = plan(*BEFORE, look, "look(nn.Linear(8, 2))", later, TRAINING)
    assert {s.cell.number for s in made.kept} == {1, 2, 3, 6, 7}
    made = plan(*BEFORE, later, "def see(m):\n    look(m)", "see(nn.Linear(8, 2))", look, TRAINING)
    assert 6 in {s.cell.number for s in made.kept}


FULL_BATCH = """def train_bgd(net, X, y, loss_of=nn.MSELoss()):
    for step in range(9):
        out = net(X)
        loss = loss_of(out, y)
        loss.backward()
    return loss"""


def test_an_earlier_training_of_another_model_is_left_out_though_it_has_seen_the_same_data():
    other = "other = nn.Linear(8, 2)\nlosses = train_bgd(other, train_set.tensors[0], train_set.tensors[1])"
    assert kept(FULL_BATCH, other, TRAINING) == [LOOP]


def test_an_earlier_training_of_the_same_model_is_kept():
    same = "first = model\nlosses = train_bgd(first, train_set.tensors[0], train_set.tensors[1])"
    assert kept(FULL_BATCH, same, TRAINING) == [FULL_BATCH.split("\n", maxsplit=1)[0], *same.split("\n"), LOOP]


def test_what_computes_no_gradient_may_change_what_it_is_given():
    assert kept("def fill(put, X):\n    put(X)", "fill(print, train_set)", TRAINING)[1:] == [
        "fill(print, train_set)",
        LOOP,
    ]


ANOTHER = """other = Net(8, 2)
others = torch.optim.SGD(other.parameters(), lr=0.1)
for step in range(len(train_set)):
    loss = criterion(other(train_set.tensors[0].expand(len(train_set), 8)), train_set.tensors[1])
    loss.backward()
    others.step()"""
SHARED = "criterion = nn.CrossEntropyLoss().to('cpu')\nclass Net(nn.Linear):\n    pass"
WITH_BOTH = (
    "%%ddp_train\nmodel = Net(8, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
    + TRAINING.replace("F.cross_entropy", "criterion")
)
OTHER_LOOP = "for step in range(len(train_set)):"


def test_two_trainings_may_share_a_loss_a_class_and_what_python_brings():
    lines = kept(SHARED, ANOTHER, f"{WITH_BOTH}print(len(train_set))")
    assert OTHER_LOOP not in lines
    assert LOOP in lines


def test_a_gradient_reaches_what_a_loss_of_the_notebooks_own_holds():
    own = "class Own(nn.Module):\n    def forward(self, x, y):\n        return (x - y).mean()\ncriterion = Own()"
    assert OTHER_LOOP in kept(f"{SHARED}\n{own}", ANOTHER, WITH_BOTH)


STEP_BY_HAND = ("out = F.cross_entropy(model(train_set.tensors[0]), train_set.tensors[1])", "out.backward()")


@pytest.mark.parametrize(
    "step",
    [
        "optimizer.step()",
        "for p in model.parameters():\n    p.data -= 0.1 * p.grad",
        "model.bias.data -= model.bias.grad",
    ],
)
def test_what_a_step_has_its_gradients_from_is_kept(step):
    assert kept(*STEP_BY_HAND, step, TRAINING) == [*STEP_BY_HAND, step.split("\n")[0], LOOP]


@pytest.mark.parametrize("later", ["optimizer.zero_grad()", "model.bias.grad = None", "print(model)"])
def test_a_look_at_gradients_is_left_out(later):
    assert "out.backward()" not in kept("x = torch.ones(1, 8)\nout = model(x).sum()", STEP_BY_HAND[1], later, TRAINING)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("from helpers import *\nseed_everything(0)", ["from helpers import *", "seed_everything(0)", LOOP]),
        (
            "from helpers import *\nsetup(torch.device('cpu'))",
            ["from helpers import *", "setup(torch.device('cpu'))", LOOP],
        ),
        ("from helpers import *\nsize = len(train_set)", ["from helpers import *", LOOP]),
        ("def size(x):\n    return len(x)\nsize(torch.zeros(3))", [LOOP]),
    ],
)
def test_what_a_module_with_a_star_gives_may_do_anything(cell, expected):
    assert kept(cell, TRAINING) == expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("seed = torch.manual_seed\nseed(7)", ["seed = torch.manual_seed", "seed(7)"]),
        ("for seed in (np.random.seed, torch.manual_seed):\n    seed(7)",
         ["for seed in (np.random.seed, torch.manual_seed):"]),
        ("def fix(n, how=torch.manual_seed):\n    how(n)\nfix(7)", ["def fix(n, how=torch.manual_seed):", "fix(7)"]),
        ("def fix(n):\n    list(map(torch.manual_seed, [n]))\nfix(7)", ["def fix(n):", "fix(7)"]),
        ("seeds = {'torch': torch.manual_seed}\nseeds['torch'](7)",
         ["seeds = {'torch': torch.manual_seed}", "seeds['torch'](7)"]),
        ("seeds = [torch.manual_seed]\ndef fix(n):\n    for one in seeds:\n        one(n)\nfix(7)",
         ["seeds = [torch.manual_seed]", "def fix(n):", "fix(7)"]),
        ("class Seeder:\n    def __call__(self):\n        torch.manual_seed(7)\nSeeder()()",
         ["class Seeder:", "Seeder()()"]),
        ("class Seeder:\n    def __call__(self):\n        torch.manual_seed(7)\nseed = Seeder()\nseed()",
         ["class Seeder:", "seed = Seeder()", "seed()"]),
        ("class Seeder:\n    def __call__(self):\n        torch.manual_seed(7)\nshow = print\nshow(3)",
         ["class Seeder:"]),
        ("square = torch.square\nsquare(torch.ones(3))", []),
    ],
)  # fmt: skip
def test_what_changes_the_world_by_another_name_is_kept(cell, expected):
    kept_lines = kept("import numpy as np\nimport torch", cell, TRAINING)
    assert [line for line in kept_lines if not line.startswith("import")] == [*expected, LOOP]


@pytest.mark.parametrize(
    "cell",
    [
        "add = rows.append\nfor k in range(4):\n    add(k)",
        "list(map(rows.append, range(4)))",
        "def fill(into):\n    add = into.append\n    for k in range(4):\n        add(k)\nfill(rows)",
    ],
)
def test_what_fills_something_by_another_name_is_kept(cell):
    lines = kept("rows = []", cell, TRAINING.replace("range(3)", "range(len(rows))"))
    assert lines == [
        "rows = []",
        *(line for line in cell.split("\n") if line[0] != " "),
        "for epoch in range(len(rows)):",
    ]


def test_a_method_by_another_name_of_what_nothing_needs():
    assert kept("shown = []", "add = shown.append\nadd(3)", TRAINING) == [LOOP]


def test_a_file_that_is_written_is_closed():
    cell = 'file = open("rows.txt", "w")\nfile.write("a")\nfile.close()\nrows = open("rows.txt").read()'
    table = 'import csv\nout = open("t.csv", "w")\nw = csv.writer(out)\nfor r in [[1]]:\n    w.writerow(r)\nout.close()'
    assert kept(cell, TRAINING)[:3] == cell.split("\n")[:3]
    assert {"for r in [[1]]:", "out.close()"} <= {*kept(table, TRAINING)}


def test_what_a_lambda_reads_of_its_own_statement_is_bound_by_then():
    words = "import collections\nwords = collections.defaultdict(lambda: len(words))\nids = [words[w] for w in 'abca']"
    assert kept(words, TRAINING.replace("range(3)", "range(len(words))"))[:3] == words.split("\n")
    order = "words = ['b', 'a']\nwords = sorted(words, key=lambda w: words.index(w))"
    assert kept(order, TRAINING.replace("range(3)", "range(len(words))"))[:2] == order.split("\n")


@pytest.mark.parametrize(
    ("hook", "call", "kept_too"),
    [
        ("model.register_forward_hook(keep)", "model(torch.zeros(2, 8))", True),
        ("for m in model.modules(): m.register_forward_hook(keep)", "with torch.no_grad():\n    model(x)", True),
        ("model.register_forward_hook(lambda m, i, o: seen.append(o))", "model(torch.zeros(2, 8))", True),
        ("pass", "model(torch.zeros(2, 8))", False),
        ("model.register_forward_hook(keep)", "other(torch.zeros(2, 8))", False),
    ],
)
def test_a_call_runs_the_hooks_of_what_it_calls(hook, call, kept_too):
    first = "seen, x = [], torch.zeros(2, 8)\nother = nn.Linear(8, 2)\ndef keep(module, given, made): seen.append(made)"
    lines = kept(f"{first}\n{hook}\n{call}\nshift = torch.cat(seen).mean()", TRAINING.replace("(x)", "(x + shift)"))
    assert (call.split("\n")[0] in lines) is kept_too


@pytest.mark.parametrize("change", ["mask[:9] = True", "mask.fill_(True)", "mask |= x[:, 1] > 0"])
def test_a_mask_that_is_changed_behind_the_comparison(change):
    first = f"x = torch.randn(9, 8)\nmask = x[:, 0] > 0\n{change}"
    assert change in kept(first, TRAINING.replace("loss.backward()", "(loss + mask.sum()).backward()"))
