import asyncio

from inglenook.web.closed_proxy import MAX_KEPT, closed_proxy


async def ask(port: int, text: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(text)
    writer.write_eof()
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def test_whatever_is_asked_for_is_turned_away_and_counted() -> None:
    async with closed_proxy() as proxy:
        for target in (b"CONNECT bank.test:443", b"GET http://127.0.0.1:11434/api/tags"):
            answer = await ask(proxy.port, target + b" HTTP/1.1\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 403 ")
        assert proxy.turned_away == ["CONNECT bank.test:443", "GET http://127.0.0.1:11434/api/tags"]


async def test_what_is_no_request_does_no_harm() -> None:
    async with closed_proxy() as proxy:
        await ask(proxy.port, b"")
        await ask(proxy.port, b"x" * 10_000)
        assert proxy.turned_away == []
        for _ in range(MAX_KEPT + 5):
            await ask(proxy.port, b"GET / HTTP/1.1\r\n")
        assert len(proxy.turned_away) == MAX_KEPT


async def test_it_is_gone_afterwards() -> None:
    async with closed_proxy() as proxy:
        port = proxy.port
    try:
        await asyncio.open_connection("127.0.0.1", port)
    except ConnectionError:
        return
    raise AssertionError(f"port {port} still answers")
