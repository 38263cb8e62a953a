"""A29: tests need no network, and one that tries to leave the machine fails.

Dispatch on and off, strict booleans, isolation of runs and scope have tests of their own by number
(A8, A17 to A22, A26). This one tests the guard that stands around all of them.
"""

import socket

import pytest

from tests import conftest


@pytest.mark.parametrize("host", ["203.0.113.7", "10.0.0.1", "example.org", "::ffff:203.0.113.7"])
def test_the_guard_refuses_what_is_not_loopback(host: str):
    with pytest.raises(conftest.LeftTheMachine):
        conftest._audit("socket.connect", (None, (host, 80)))  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("host", ["example.org", b"example.org", "203.0.113.7"])
def test_the_guard_refuses_to_look_up_names(host: str | bytes):
    with pytest.raises(conftest.LeftTheMachine):
        socket.getaddrinfo(host, 80)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_the_guard_lets_loopback_through(host: str):
    conftest._audit("socket.connect", (None, (host, 80)))  # pyright: ignore[reportPrivateUsage]
    assert socket.getaddrinfo(host, 80)


def test_the_guard_is_armed_in_every_test():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with socket.create_connection(listener.getsockname(), timeout=5):
            assert conftest._state["armed"]  # pyright: ignore[reportPrivateUsage]
