"""Fields that the text of a `format` call reads of what it is given."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.syntax.text_fields import text_fields


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("'{m.val:.4f} ({m.avg:.4f}) {0}'.format(1, m=meter)", {"m_val": "meter.val", "m_avg": "meter.avg"}),
        ("'{m.val} {m.val}'.format(m=self.meter)", {"m_val": "self.meter.val"}),
        ("'{m.val} {other.val}'.format(m=a, other=b)", {"m_val": "a.val", "other_val": "b.val"}),
        ("'{m.val} {m}'.format(m=meter)", {}),
        ("'{m.val.real}'.format(m=meter)", {}),
        ("'{m[0]}'.format(m=meter)", {}),
        ("'{m.val}'.format(m=made())", {}),
        ("'{m.val} {m_val}'.format(m=meter, m_val=1)", {}),
        ("'{m.val'.format(m=meter)", {}),
        ("'{0.val}'.format(meter)", {}),
        ("text.format(m=meter)", {}),
        ("'{m.val}'.join(m=meter)", {}),
    ],
)
def test_fields(call, found):
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    assert {field.name: ast.unparse(field.read) for field in text_fields(node)} == found
