"""What is started once is started once: tests of a group go to one process."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.xdist_group("groups")


def test_a_group_is_in_the_name_by_which_tests_are_dealt_out(request: pytest.FixtureRequest) -> None:
    dealt_out = getattr(request.config.option, "loadgroup", False)
    assert request.node.nodeid.endswith("@groups") is bool(dealt_out)
