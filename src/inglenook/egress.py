"""What leaves this machine: one request as it will be sent, and who is told before it is.

Whoever sends anything makes an `OutgoingRequest` first, shows it to the run's `Egress`, and sends
exactly that: what was approved, what is in the ledger and what leaves are one object.
"""

import hashlib
import ipaddress
import json
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol
from urllib.parse import urlsplit

from inglenook.messages import Label


@dataclass(frozen=True, kw_only=True)
class OutgoingRequest:
    """One request without its headers, which hold nothing of the conversation."""

    method: str
    url: str
    """Whole, encoded as it is sent; without a fragment."""
    body: bytes = b""

    @cached_property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @cached_property
    def path(self) -> str:
        """Path and query, as they stand in the request line."""
        parts = urlsplit(self.url)
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    @property
    def size_bytes(self) -> int:
        """What the request tells its receiver: path, query and body."""
        return len(self.path.encode()) + len(self.body)

    @cached_property
    def sha256(self) -> str:
        """Over method, URL and body: an approval holds for these bytes and no others."""
        parts = [self.method, self.url, self.body.hex()]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class Egress(Protocol):
    """Told of every request that leaves this machine, before it does."""

    @property
    def labels(self) -> AbstractSet[Label]:
        """What the run has read whose requests these are; what is kept of the answers carries it,
        as a request may tell what its run has read."""
        ...

    async def started(self, request: OutgoingRequest) -> int:
        """Return, once the record is durable, the number to end it with.

        Raises:
            NotApproved: The call was approved for other requests than this; it must not be sent.
            LeaseLost, StoreError: The request must not be made.
        """
        ...

    def finished(self, n: int, *, status: int | None, bytes_in: int, sent: bool) -> None:
        """`status` is None where no response came; `sent` is False where the request cannot have
        left this machine, as no connection came about."""
        ...


class Departure:
    """One request's entry in the ledger from its start to its end, whichever that is.

    One that was never begun stays on this machine and tells nobody.
    """

    def __init__(self) -> None:
        self._egress: Egress | None = None
        self._n = 0
        self.status: int | None = None
        self.bytes_in = 0

    async def begin(self, egress: Egress, request: OutgoingRequest) -> None:
        """
        Raises:
            NotApproved, LeaseLost, StoreError: The request must not be made.
        """
        self._n = await egress.started(request)
        self._egress = egress

    def end(self, *, sent: bool = True) -> None:
        """Counts once: the first end is the true one."""
        if self._egress is not None:
            self._egress.finished(self._n, status=self.status, bytes_in=self.bytes_in, sent=sent)
            self._egress = None


def leaves_machine(url: str) -> bool:
    """Whether a request there leaves this machine, by the address as it is written: a name that
    only happens to lead back here is taken to leave."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return True
