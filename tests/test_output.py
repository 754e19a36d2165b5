import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from nbddp.fingerprint import BLANK, sealed
from nbddp.output import CannotWrite, write_script

SCRIPT = sealed(f'"""Exported from x.ipynb by nbddp 0.1.0 ({BLANK})."""\n\nlr = 0.1\n')
LATER = sealed(f'"""Exported from x.ipynb by nbddp 0.1.0 ({BLANK})."""\n\nlr = 0.2\n')


@pytest.fixture
def locked_folder():
    """Permission says nothing to root, who often runs tests in a container: then this test is nobody's."""
    folder = Path(tempfile.mkdtemp())  # pytest's own folders are closed to others
    folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield folder
    finally:
        os.seteuid(user)
        folder.rmdir()


def refusal(path: Path, text: str = SCRIPT) -> str:
    with pytest.raises(CannotWrite) as caught:
        write_script(path, text)
    assert caught.value.path == path
    return caught.value.sentence


def test_a_new_file_gets_the_bytes_and_the_usual_mode(tmp_path):
    assert write_script(tmp_path / "x.py", SCRIPT + "# é\n")
    assert (tmp_path / "x.py").read_bytes() == (SCRIPT + "# é\n").encode()
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / "x.py").stat().st_mode) == 0o666 & ~umask
    assert os.listdir(tmp_path) == ["x.py"]


def test_the_same_bytes_leave_the_file_untouched(tmp_path):
    write_script(tmp_path / "x.py", SCRIPT)
    before = (tmp_path / "x.py").stat()
    assert not write_script(tmp_path / "x.py", SCRIPT)
    assert (tmp_path / "x.py").stat().st_ino == before.st_ino


def test_an_untouched_export_is_replaced_and_keeps_its_mode(tmp_path):
    path = tmp_path / "x.py"
    write_script(path, SCRIPT)
    path.chmod(0o750)
    assert write_script(path, LATER)
    assert path.read_text() == LATER
    assert stat.S_IMODE(path.stat().st_mode) == 0o750


@pytest.mark.parametrize("theirs", [SCRIPT.replace("0.1\n", "0.3\n"), "print('mine')\n", "", b"\xff\xfe binary"])
def test_what_a_person_wrote_is_kept_unless_forced(tmp_path, theirs):
    path = tmp_path / "x.py"
    data = theirs if isinstance(theirs, bytes) else theirs.encode()
    path.write_bytes(data)
    assert refusal(path) == f"{path} was edited since its export and is kept; --force overwrites it"
    assert path.read_bytes() == data
    assert write_script(path, SCRIPT, force=True)
    assert path.read_text() == SCRIPT


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.py").write_text(SCRIPT)
    (tmp_path / "link.py").symlink_to("real.py")
    write_script(tmp_path / "link.py", LATER)
    assert (tmp_path / "link.py").is_symlink()
    assert (tmp_path / "real.py").read_text() == LATER


def test_a_folder_is_no_place_for_the_text(tmp_path):
    assert refusal(tmp_path) == f"{tmp_path} is a folder; name the file to write"


def test_a_missing_folder_is_named(tmp_path):
    assert refusal(tmp_path / "no" / "x.py") == (
        f"cannot write {tmp_path / 'no' / 'x.py'}: there is no folder {tmp_path / 'no'}"
    )


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").touch()
    assert refusal(tmp_path / "file" / "x.py").endswith("not a directory")


def test_a_folder_without_permission(locked_folder):
    assert refusal(locked_folder / "x.py") == f"cannot write {locked_folder / 'x.py'}: permission denied"
    assert os.listdir(locked_folder) == []


def test_a_full_disk_leaves_the_old_file_whole(tmp_path):
    """A limit on file size fails in the same call as a full disk does."""
    path = tmp_path / "x.py"
    path.write_text(SCRIPT)
    code = (
        "import resource, sys; from pathlib import Path; from nbddp.output import *\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try: write_script(Path(sys.argv[1]), 'x' * 100_000, force=True)\n"
        "except CannotWrite as error: print(error.sentence)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    assert done.stdout == f"cannot write {path}: file too large\n"
    assert path.read_text() == SCRIPT
    assert os.listdir(tmp_path) == ["x.py"]


def test_text_that_utf8_cannot_write(tmp_path):
    assert refusal(tmp_path / "x.py", "# \ud800") == "the script holds '\\ud800', which UTF-8 cannot write"
    assert os.listdir(tmp_path) == []
