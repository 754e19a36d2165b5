"""How what writes is left to rank 0."""

from __future__ import annotations

import pytest

from tests.analysis.cells import BEFORE, batch, plan

NAMES = "import json\nlog = open('log.txt', 'w')\n"


def forms(*lines: str, before: str = "pass") -> list[str]:
    made = plan(*BEFORE, NAMES, before, batch(*lines))
    here = {
        call: form for call, form in made.writing.forms.items() if call.lineno > made.roles.batch_loops[0].node.lineno
    }
    return [form for _, form in sorted(here.items(), key=lambda i: i[0].lineno)]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["torch.save(model.state_dict(), 'm.pt')"], ["guard"]),
        (["with open('a.txt', 'w') as f:", "    f.write('a')"], ["guard"]),
        (["n = torch.save(model.state_dict(), 'm.pt')"], ["silent"]),
        (["f = open('a.txt', 'w')"], ["nowhere"]),
        (["with open('a.txt', 'w') as f:", "    n = 1"], ["nowhere"]),
        (["with open('a.txt', 'w') as f:", "    f.write(str(loss.item()))"], ["nowhere"]),
        (["with open('a.txt', 'w') as f:", "    for a, b in test_loader:", "        f.write('a')"], ["nowhere"]),
    ],
)
def test_the_form(lines, found):
    assert forms(*lines)[: len(found)] == found


@pytest.mark.parametrize("lines", [["with open('a.txt') as f:", "    n = f.read()"], ["n = json.dumps({})"], ["n = 1"]])
def test_what_only_reads_is_left_alone(lines):
    assert forms(*lines) == []


def test_inside_of_what_is_guarded_nothing_is_guarded_again():
    made = plan(*BEFORE, batch("with open('a.txt', 'w') as f:", "    torch.save({}, f)"))
    assert list(made.writing.forms.values()) == ["guard"]
    assert len(made.writing.guarded) == 1


def test_what_is_prepared_before_the_training_is_not_guarded_too():
    made = plan(*BEFORE, "torch.save({}, 'a.pt')", batch("n = 1"))
    assert list(made.writing.forms.values()) == []
    assert len(made.preparation.alone) == 1
