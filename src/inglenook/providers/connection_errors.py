"""What a failed connection to a model server means, in words that tell the next action.

Never in aiohttp's own: those may hold the request, and with it the key.
"""

import aiohttp

from inglenook.errors import ProviderBusy, ProviderError


def connection_error(
    error: Exception, *, address: str, words: str, idle_timeout_s: float
) -> ProviderError:
    """
    `address` is shown as it is. `words` are the exception's own, without secrets.
    """
    match error:
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
            return ProviderError(
                f"{address!r} is no address of a model server. Correct `base_url`; it begins with "
                "http:// or https://."
            )
        case aiohttp.ClientSSLError():
            return ProviderError(
                f"No safe connection to the model server at {address} ({words}). Correct its "
                "certificate, or `base_url`."
            )
        case aiohttp.ConnectionTimeoutError() | aiohttp.ClientConnectorError():
            return ProviderBusy(
                f"The model server at {address} cannot be reached ({_cause(error)}). Start it, or "
                "correct `base_url`."
            )
        case TimeoutError():
            return ProviderBusy(
                f"The model server at {address} said nothing for too long "
                f"(limit {idle_timeout_s:g} s). See whether it is overloaded."
            )
        case _:
            return ProviderBusy(
                f"The connection to the model server at {address} was lost ({_cause(error)}). Try "
                "again; if it goes on, the server's own log says more."
            )


def _cause(error: Exception) -> str:
    reason = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    text = getattr(reason, "strerror", None)
    return text if isinstance(text, str) and text else type(error).__name__
