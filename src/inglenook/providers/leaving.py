"""A request to a model server on another machine: on its run's ledger before it leaves."""

from collections.abc import Generator
from contextlib import contextmanager

import aiohttp

from inglenook.egress import Egress, OutgoingRequest

NOT_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
"""No connection came about, so that nothing was sent."""


class Leaving:
    """One request from start to end, whichever that is; one that stays here tells nobody."""

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
        """Counts once."""
        if self._egress is not None:
            self._egress.finished(self._n, status=self.status, bytes_in=self.bytes_in, sent=sent)
            self._egress = None

    def close(self) -> None:
        self.end()

    @contextmanager
    def connecting(self) -> Generator[None, None, None]:
        """A request that fails within has ended."""
        try:
            yield
        except NOT_SENT:
            self.end(sent=False)
            raise
        except BaseException:
            self.end()
            raise
