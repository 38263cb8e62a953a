"""A network of two machines, made by the test itself, and a watcher on the wire between them.

Whoever uses it runs in a network namespace of its own (`unshare -rn`), which is the outside world:

    async with sealed_network() as network:
        server = await asyncio.start_server(..., network.outside, 0)
        out = await network.run_inside([sys.executable, "-m", "inglenook.cli.main", ...], env)
    assert network.seen == {"tcp 10.77.0.2:3128"}

What runs inside has this one cable and a default route into it, so that nothing leaves unseen.
"""

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address

INSIDE, OUTSIDE = "10.77.0.1", "10.77.0.2"
ENTER = ["unshare", "--user", "--map-root-user", "--net"]
_ALL_PROTOCOLS = 3
_IPV4, _IPV6, _ARP = 0x0800, 0x86DD, 0x0806


def cannot_be_made() -> str | None:
    """Why this machine makes no such network; None: it does."""
    try:
        done = subprocess.run(
            [*ENTER, sys.executable, "-m", __name__], capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"network namespaces cannot be made here: {error}"
    if done.returncode == 0:
        return None
    return f"network namespaces cannot be made here: {done.stderr.strip()[-300:]}"


@dataclass(frozen=True, kw_only=True)
class SealedNetwork:
    outside: str
    """The address of the world, where servers listen."""
    seen: set[str] = field(default_factory=set[str])
    """Connections and datagrams that came out: protocol, address and port."""
    _inside_pid: int

    async def run_inside(self, command: Sequence[str], env: dict[str, str]) -> tuple[int, str, str]:
        """Exit code, output and errors of a program inside."""
        process = await asyncio.create_subprocess_exec(
            *("nsenter", "--target", str(self._inside_pid), "--net", "--", *command),
            env=env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(120):
            out, errors = await process.communicate()
        assert process.returncode is not None
        return process.returncode, out.decode(), errors.decode()


@asynccontextmanager
async def sealed_network() -> AsyncGenerator[SealedNetwork]:
    # A process holds the inner namespace open; it ends when its input does.
    holder = await asyncio.create_subprocess_exec(
        *("unshare", "--net", "sh", "-c", "echo ready; exec cat"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    await holder.stdout.readline()
    inside = f"nsenter --target {holder.pid} --net -- "
    for command in (
        "ip link set lo up",
        f"ip link add world type veth peer name cable netns {holder.pid}",
        f"ip address add {OUTSIDE}/24 dev world",
        "ip link set world up",
        f"{inside}ip address add {INSIDE}/24 dev cable",
        f"{inside}ip link set lo up",
        f"{inside}ip link set cable up",
        f"{inside}ip route add default via {OUTSIDE}",
    ):
        await _run(command)
    network = SealedNetwork(outside=OUTSIDE, _inside_pid=holder.pid)
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PROTOCOLS))
    wire.bind(("world", 0))
    wire.setblocking(False)
    asyncio.get_running_loop().add_reader(wire, _watch, wire, network.seen)
    try:
        yield network
    finally:
        asyncio.get_running_loop().remove_reader(wire)
        _watch(wire, network.seen)
        wire.close()
        holder.stdin.close()
        await holder.wait()


async def _run(command: str) -> None:
    process = await asyncio.create_subprocess_exec(*command.split(), stderr=asyncio.subprocess.PIPE)
    _, errors = await process.communicate()
    if process.returncode != 0:
        raise OSError(f"{command}: {errors.decode().strip()}")


def _watch(wire: socket.socket, seen: set[str]) -> None:
    while True:
        try:
            frame, (_, _, direction, *_) = wire.recvfrom(65536)
        except BlockingIOError:
            return
        if direction != socket.PACKET_OUTGOING and (packet := _left(frame)):
            seen.add(packet)


def _left(frame: bytes) -> str | None:
    """What a frame from inside asks for; None for the housekeeping of the cable and for the rest
    of connections that were seen to begin.

    Source: RFC 791, RFC 8200, RFC 9293
    """
    kind, packet = int.from_bytes(frame[12:14], "big"), frame[14:]
    if kind == _IPV4:
        protocol, target = packet[9], packet[16:20]
        payload = packet[(packet[0] & 0x0F) * 4 :]
    elif kind == _IPV6:
        protocol, target, payload = packet[6], packet[24:40], packet[40:]
    else:
        return None if kind == _ARP else f"ethertype {kind:#06x}"
    address = ip_address(target)
    port = int.from_bytes(payload[2:4], "big")
    if protocol == socket.IPPROTO_TCP:
        begins = payload[13] & 0x12 == 0x02  # SYN without ACK
        return f"tcp {address}:{port}" if begins else None
    if protocol == socket.IPPROTO_UDP:
        return f"udp {address}:{port}"
    # An interface that comes up looks for neighbours and routers, over IPv6 multicast alone.
    return None if address.is_multicast else f"protocol {protocol} {address}"


async def _try() -> None:
    async with sealed_network() as network:
        probe = (
            "import socket\n"
            "with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as cable:\n"
            "    cable.sendto(b'x', ('192.0.2.1', 9))\n"
        )
        await network.run_inside([sys.executable, "-c", probe], {})
    if network.seen != {"udp 192.0.2.1:9"}:
        raise OSError(f"the watcher saw {network.seen or 'nothing'} of a datagram that left")


if __name__ == "__main__":
    asyncio.run(_try())
