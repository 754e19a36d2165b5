"""The table of causes: its order decides which of two is named."""

from nbddp.verify import causes
from nbddp.verify.causes import BY_NAME, CONSTRUCTS, Cause

ALL = [value for value in vars(causes).values() if isinstance(value, Cause)]


def test_constructs_can_be_taken_away_and_are_no_defects():
    assert all(cause.removed and not cause.defect for cause in CONSTRUCTS)
    assert len(BY_NAME) == len(CONSTRUCTS)


def test_of_the_defects_only_missing_averages_are_put_to_the_test():
    """The others are seen in the records themselves."""
    defects = [cause for cause in ALL if cause.defect]
    assert len(defects) > 1
    assert [cause.name for cause in defects if cause.removed] == ["gradients"]


def test_no_two_have_one_name():
    names = [cause.name for cause in (*CONSTRUCTS, *ALL)]
    assert len(set(names)) == len(names)
