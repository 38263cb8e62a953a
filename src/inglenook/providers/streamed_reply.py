"""StreamedReply: the body of a model server's answer as it comes, bounded in size."""

import asyncio
from collections.abc import Callable

import aiohttp

from inglenook.egress import Departure
from inglenook.errors import ProviderError

TAIL_TIMEOUT_S = 5.0
"""For what follows the end of a reply: usage, and the end of the HTTP body."""
MAX_REPLY_BYTES = 256 * 1024 * 1024
"""A token takes some 250 bytes on the wire: a million tokens, and then the server is not sane."""


class StreamedReply:
    """The body of one response as it comes. Whoever gets one closes it."""

    def __init__(
        self,
        response: aiohttp.ClientResponse,
        *,
        address: str,
        lost: Callable[[Exception], ProviderError],
        departure: Departure,
    ) -> None:
        """`address` and `lost` are the server's, for errors."""
        self._response = response
        self._content = response.content
        self._address = address
        self._lost = lost
        self._departure = departure
        self._size_bytes = 0

    @property
    def is_json(self) -> bool:
        """The server ignored the wish for a stream and answers with one document."""
        return self._response.content_type == "application/json"

    async def read(self) -> bytes:
        """The next bytes, as soon as there are any; empty at the end.

        Raises:
            ProviderBusy: The connection was lost, or silent for too long.
            ProviderError: The reply is larger than `MAX_REPLY_BYTES`.
        """
        try:
            chunk = await self._content.readany()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self._lost(error) from error
        self._size_bytes += len(chunk)
        if self._size_bytes > MAX_REPLY_BYTES:
            raise ProviderError(
                f"The model server at {self._address} sent more than {MAX_REPLY_BYTES} "
                "bytes in one reply and was stopped. Set `limits.output_tokens`."
            )
        return chunk

    async def read_tail(self) -> bytes:
        """As `read`, once the reply is known to be complete: what fails or lags then is no loss."""
        try:
            async with asyncio.timeout(TAIL_TIMEOUT_S):
                return await self._content.readany()
        except (aiohttp.ClientError, TimeoutError):
            return b""

    async def finish(self) -> None:
        """Let the connection be used again, if the body ends now; else it is closed."""
        if not self._content.at_eof():
            while await self.read_tail():
                pass
        self.close()

    def close(self) -> None:
        """Drop the connection, so that the server stops working; after `finish` it does nothing."""
        self._response.close()
        self._departure.bytes_in = self._size_bytes
        self._departure.end()
