import pytest

from nbddp.fingerprint import BLANK, edited_since_export, fingerprint, sealed

SCRIPT = f'"""Train.\n\nExported from digits.ipynb by nbddp 0.1.0 ({BLANK}); it needs torch alone.\n"""\n\nlr = 0.1\n'


def test_a_sealed_script_counts_as_untouched():
    script = sealed(SCRIPT)
    assert fingerprint(SCRIPT) in script
    assert BLANK not in script
    assert not edited_since_export(script)


def test_sealing_twice_changes_nothing():
    assert sealed(sealed(SCRIPT)) == sealed(SCRIPT)


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("0.1\n", "0.2\n"),
        lambda text: text + "\n",
        lambda text: text.replace("Train.", "Train it."),
        lambda text: text.replace("0.1.0", "0.1.1"),
        lambda text: text.replace(fingerprint(SCRIPT), BLANK),
    ],
    ids=["code", "blank line", "docstring", "version", "fingerprint"],
)
def test_an_edit_shows(edit):
    assert edited_since_export(edit(sealed(SCRIPT)))


def test_a_file_that_no_export_wrote_counts_as_edited():
    assert edited_since_export("print('mine')\n")
    assert edited_since_export("")


def test_line_endings_changed_by_git_are_no_edit():
    assert not edited_since_export(sealed(SCRIPT).replace("\n", "\r\n"))


def test_a_second_mark_further_down_is_ordinary_text():
    text = SCRIPT + f"# Exported from old.ipynb by nbddp 0.0.9 ({BLANK})\n"
    script = sealed(text)
    assert script.endswith(f"({BLANK})\n")
    assert not edited_since_export(script)
    assert edited_since_export(script.replace("old.ipynb", "older.ipynb"))


def test_text_that_no_encoding_takes_is_hashed_all_the_same():
    assert not edited_since_export(sealed(SCRIPT + "# \ud800\n"))
