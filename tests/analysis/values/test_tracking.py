"""Changes: each is noticed where something becomes another thing, and only there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from nbddp.analysis.values import Value, last_change
from nbddp.analysis.values.tracking import Tracked, TrackedDict, TrackedSet, TrackedSets


@dataclass(eq=False)
class Record(Tracked):
    flag: bool = False
    members: set[int] = field(default_factory=TrackedSet)


def changes(step: Callable[[], object]) -> bool:
    before = last_change()
    step()
    return last_change() is not before


def test_a_record_that_is_made_is_no_change_and_another_field_is_one():
    record = Record()
    assert not changes(Record)
    assert not changes(lambda: setattr(record, "flag", False))
    assert changes(lambda: setattr(record, "flag", True))
    assert changes(lambda: record.members.add(1))
    assert not changes(lambda: record.members.add(1))


@pytest.mark.parametrize("step", ["d['a'] = 2", "d['b'] = 1", "del d['a']", "d.pop('a')", "d.setdefault('b', 1)",
                                  "d |= {'a': 2}", "d.update(b=1)"])  # fmt: skip
def test_a_dictionary_notices_each_way_to_change_it(step):
    assert changes(lambda: exec(step, {"d": TrackedDict({"a": 1})}))


@pytest.mark.parametrize("step", ["d['a'] = 1", "d.pop('b', None)", "d.setdefault('a', 2)", "d |= {'a': 1}"])
def test_a_dictionary_that_stays_as_it_is_has_not_changed(step):
    assert not changes(lambda: exec(step, {"d": TrackedDict({"a": 1})}))


@pytest.mark.parametrize(("step", "changed"), [("s.update({1}, {2})", True), ("s |= {2}", True), ("s.add(2)", True),
                                               ("s.update({1})", False), ("s |= {1}", False)])  # fmt: skip
def test_a_set_notices_what_is_new_in_it(step, changed):
    assert changes(lambda: exec(step, {"s": TrackedSet({1})})) is changed


def test_sets_by_their_keys_are_made_by_what_is_put_in():
    sets: TrackedSets[str, int] = TrackedSets()
    sets["a"].add(1)
    assert sets == {"a": {1}}
    assert changes(lambda: sets["a"].add(2))
    assert not changes(lambda: sets["a"].add(2))


def test_true_and_one_are_two_values():
    fields = TrackedDict({"x": Value(const=1.0)})
    assert changes(lambda: fields.update(x=Value(const=True)))
    assert Value(const=True) != Value(const=1.0)
