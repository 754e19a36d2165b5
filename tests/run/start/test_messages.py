"""Messages over a socket."""

from __future__ import annotations

import socket

import pytest

from nbddp.run.start.messages import LENGTH, Channel


@pytest.fixture
def ends():
    one, other = socket.socketpair()
    channels = Channel(one), Channel(other)
    yield channels
    for channel in channels:
        channel.close()


@pytest.mark.parametrize("message", [{"a": 1}, {"text": "é" * 1000}, {}])
def test_what_is_sent_comes(ends, message):
    ends[0].send(message)
    ends[0].send({"next": 2})
    assert ends[1].receive() == message
    assert ends[1].receive() == {"next": 2}


def test_where_the_other_end_has_gone_there_is_none(ends):
    ends[0].close()
    assert ends[1].receive() is None


def test_half_a_message_is_none(ends):
    ends[0].socket.sendall(LENGTH.pack(100) + b"{")
    ends[0].close()
    assert ends[1].receive() is None


def test_what_is_no_message_is_none(ends):
    data = b"[1, 2]"
    ends[0].socket.sendall(LENGTH.pack(len(data)) + data)
    assert ends[1].receive() is None


def test_a_limit_is_kept(ends):
    ends[1].socket.settimeout(0.01)
    with pytest.raises(TimeoutError):
        ends[1].receive()
