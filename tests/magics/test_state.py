"""The live state goes into whatever loop trains it. The learning rates are zero: what comes out is what went in."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.thorough

SETUP = """\
import copy
def build():
    net = nn.Linear(4, 1, bias=False)
    return net, torch.optim.SGD(net.parameters(), lr=0.0)
def turn(net, opt):
    for x, y in loader:
        loss = (net(x) - y).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
def fit(net, opt, epochs):
    for epoch in range(epochs):
        turn(net, opt)
a, a_opt = build()
b, b_opt = build()
shadow = copy.deepcopy(a)
with torch.no_grad():
    for value, net in enumerate((a, b, shadow), start=1):
        net.weight.fill_(value)"""
WEIGHTS = "[net.weight[0, 0].item() for net in (a, b, shadow)]"
FOLLOWED = """\
for epoch in range(2):
    for x, y in loader:
        loss = (a(x) - y).square().mean()
        a_opt.zero_grad()
        loss.backward()
        a_opt.step()
    with torch.no_grad():
        for p, q in zip(shadow.parameters(), a.parameters()):
            p.lerp_(q, 0.5)"""


@pytest.fixture
def prepared(kernel):
    reply = kernel.run(SETUP.replace("    for value", "    pass\n    for value"), "nets")
    assert reply.status == "ok", reply.error
    kernel.aside("with torch.no_grad():\n    for net in (a, b, shadow): net.weight.mul_(10)")
    yield kernel
    kernel.run("", "nets")
    kernel.run("", "train")
    kernel.run("", "earlier")


@pytest.mark.parametrize(
    ("cell", "after"),
    [
        ("fit(b, b_opt, 1)\nfit(a, a_opt, 2)", "[10.0, 20.0, 30.0]"),
        ("fit(opt=a_opt, net=a, epochs=1)\nfit(b, b_opt, 1)", "[10.0, 20.0, 30.0]"),
        (f"fit(b, b_opt, 1)\n{FOLLOWED}", "[10.0, 20.0, 15.0]"),
        (
            f"epoch = 0\nwhile epoch < 2:\n    turn(b, b_opt)\n    epoch += 1\n{FOLLOWED}",
            "[10.0, 20.0, 15.0]",
        ),
        ("turn(b, b_opt)", "[10.0, 20.0, 30.0]"),
    ],
    ids=["two calls", "by keyword", "a call and a loop with an average", "a while loop", "one pass"],
)
def test_what_the_kernel_has_goes_into_every_loop(prepared, cell, after):
    reply = prepared.run(f"%%ddp_train\n{cell}", "train")
    assert reply.status == "ok", reply.error
    assert "starts as the cells" not in reply.text
    assert prepared.value(WEIGHTS) == after, prepared.value("run.script")


def test_a_second_cell_that_calls_the_same_function(prepared):
    """What the first one has trained is none of its business, and the function means its own models now."""
    assert prepared.run("%%ddp_train\nfit(a, a_opt, 1)", "earlier").status == "ok"
    reply = prepared.run("%%ddp_train\nfit(b, b_opt, 1)", "train")
    assert reply.status == "ok", reply.error
    assert prepared.value(WEIGHTS) == "[10.0, 20.0, 30.0]"


def test_a_while_loop_in_an_earlier_cell_cannot_be_skipped(prepared):
    loop = "%%ddp_train\nepoch = 0\nwhile epoch < 1:\n    turn(b, b_opt)\n    epoch += 1"
    assert prepared.run(loop, "earlier").status == "ok"
    reply = prepared.run("%%ddp_train\nfit(a, a_opt, 1)\nprint(epoch)", "train")
    assert reply.status == "error"
    assert "trains in a `while` loop, which cannot be skipped: add --fresh" in reply.error
