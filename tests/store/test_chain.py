"""The chain's MACs are the standard's, so that any tool can check a log."""

import hmac

import pytest

from inglenook.store.chain import KEY_BYTES, link, payload_digest, seal

KEY = bytes(range(KEY_BYTES))


@pytest.mark.parametrize("payload", [b"", b"x", b"x" * 55, b"x" * 64, b"x" * 100_000])
def test_a_payloads_digest_is_hmac_sha256(payload: bytes):
    assert payload_digest(KEY, payload) == hmac.digest(KEY, payload, "sha256")


def test_each_key_has_its_own_macs():
    assert payload_digest(KEY, b"x") != payload_digest(KEY[::-1], b"x")


def test_a_link_covers_the_link_before_the_header_and_the_digest():
    before, digest = bytes(32), payload_digest(KEY, b"x")
    mac = link(KEY, before, "run_1", 7, "2031-02-03T00:00:00.000Z", "tool_started", digest)
    header = b"run_1\n7\n2031-02-03T00:00:00.000Z\ntool_started\n"
    assert mac == hmac.digest(KEY, before + header + digest, "sha256")


def test_a_seal_covers_the_seal_before_and_the_runs_end():
    sealed = seal(KEY, bytes(32), "run_1", 7, b"m" * 32)
    assert sealed == hmac.digest(KEY, bytes(32) + b"run_1\n7\n" + b"m" * 32, "sha256")
