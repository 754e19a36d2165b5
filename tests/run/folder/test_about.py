"""What a person says of a run: kept whole, harmless when damaged, and written nowhere else."""

from __future__ import annotations

import pytest

from nbddp.run.folder.about import About, describe, read_about
from nbddp.run.folder.errors import NoSuchRun
from nbddp.run.folder.folders import create
from nbddp.run.folder.lookup import find


def test_a_title_and_a_note_are_kept_each_by_itself(tmp_path):
    folder = create(tmp_path, "digits")
    assert read_about(folder) == About()
    assert describe(folder, title="  larger\nbatches ") == About("larger batches", "")
    assert describe(folder, note="line 1\nline 2\n") == About("larger batches", "line 1\nline 2")
    assert read_about(folder) == About("larger batches", "line 1\nline 2")
    assert describe(folder, title="").title == ""


@pytest.mark.parametrize("text", ["", "{", "3", '{"title": 3, "note": [1]}', "[" * 100_000])
def test_a_damaged_file_says_nothing(tmp_path, text):
    folder = create(tmp_path, "digits")
    folder.about.write_text(text)
    assert read_about(folder) == About()


def test_nothing_is_written_where_a_link_leads(tmp_path):
    folder, other = create(tmp_path, "digits"), tmp_path / "precious"
    other.write_text("mine")
    folder.about.symlink_to(other)
    assert read_about(folder) == About()
    describe(folder, title="new")
    assert (other.read_text(), read_about(folder).title) == ("mine", "new")


def test_a_run_is_found_by_its_title(tmp_path):
    first, second = (create(tmp_path, "digits", now=1_700_000_000.0 + n) for n in range(2))
    describe(first, title="baseline")
    describe(second, title="baseline with dropout")
    assert find(tmp_path, "baseline") == first  # all of it counts before a part
    assert find(tmp_path, "dropout") == second
    assert find(tmp_path, second.name) == second
    with pytest.raises(NoSuchRun, match="fits several runs"):
        find(tmp_path, "base")
