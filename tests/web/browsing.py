"""A small web on loopback and what browsers of ours are tried with."""

from inglenook.web.base import PageText, WebResponse


class PlainReader:
    """Gives back what it is given, so that tests see what came."""

    async def read(self, response: WebResponse, url: str) -> PageText:
        return PageText(title="", text=response.body.decode())
