"""A log as a page reads on in it while it is written."""

from __future__ import annotations

from nbddp.server import logs
from nbddp.server.logs import Piece, read_on


def test_it_goes_on_where_it_has_stopped(tmp_path):
    log = tmp_path / "rank0.log"
    log.write_bytes(b"epoch 0\n")
    first = read_on(log, None)
    assert first == Piece("epoch 0\n", 0, 8)
    assert read_on(log, first.end) == Piece("", 8, 8)
    log.write_bytes(b"epoch 0\nepoch 1\n")
    assert read_on(log, first.end) == Piece("epoch 1\n", 8, 16)


def test_half_a_character_waits_for_its_other_half(tmp_path):
    log = tmp_path / "rank0.log"
    whole = "ε ↓\n".encode()
    text, at = "", 0
    for many in range(len(whole) + 1):
        log.write_bytes(whole[:many])
        piece = read_on(log, at)
        text, at = text + piece.text, piece.end
    assert (text, at) == ("ε ↓\n", len(whole))


def test_a_line_that_is_drawn_again_begins_anew(tmp_path):
    log = tmp_path / "rank0.log"
    log.write_bytes(b"10%\r")
    first = read_on(log, None)
    log.write_bytes(b"10%\r\n20%\r30%")
    assert first.text + read_on(log, first.end).text == "10%\n20%\n30%"


def test_of_a_long_one_the_end_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "MOST", 6)
    log = tmp_path / "rank0.log"
    log.write_bytes("aä\nbcdef".encode())
    assert read_on(log, None) == Piece("\nbcdef", 3, 9)
    log.write_bytes("aaä\nbcde".encode())
    assert read_on(log, 1) == Piece("\nbcde", 3, 9)  # begins within a character


def test_one_that_has_become_shorter_is_read_anew(tmp_path):
    log = tmp_path / "rank0.log"
    log.write_bytes(b"again\n")
    assert read_on(log, 4000) == Piece("again\n", 0, 6)
