"""Messages over a socket."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tunebook.execution.channel import Channel


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, Channel]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, Channel(theirs)


def test_messages_arrive_whole(ends: tuple[socket.socket, Channel]) -> None:
    other, channel = ends
    other.sendall(b'{"a": 1}\n"two"\n[3')
    assert channel.receive() == [{"a": 1}, "two"]
    other.sendall(b", 4]")
    assert channel.receive() == []
    other.sendall(b"\n")
    assert channel.receive() == [[3, 4]]


def test_one_message_is_waited_for(ends: tuple[socket.socket, Channel]) -> None:
    other, channel = ends
    other.sendall(b'"a long')
    other.sendall(b' one"\n')
    assert channel.receive_one() == "a long one"
    other.close()
    assert channel.receive_one() is None


def test_a_message_is_sent_as_a_line(ends: tuple[socket.socket, Channel]) -> None:
    other, channel = ends
    assert channel.send({"folder": "é\n"})
    assert other.recv(100) == b'{"folder": "\\u00e9\\n"}\n'


def test_the_other_side_is_gone(ends: tuple[socket.socket, Channel]) -> None:
    other, channel = ends
    other.sendall(b'"last words"\n"torn')
    other.close()
    assert channel.receive() == ["last words"]
    assert channel.receive() is None
    assert not channel.send("anybody there?")


def test_a_broken_connection_is_an_end(ends: tuple[socket.socket, Channel]) -> None:
    other, channel = ends
    channel.send("unread")
    other.close()
    assert channel.receive() is None
    channel.close()
    assert channel.fileno() == -1
