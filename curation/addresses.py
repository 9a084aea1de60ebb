"""Connections to public addresses alone: what a hub leads to must not be a machine inside the worker's network."""

import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

import httpcore2
import httpx2


def is_public(text: str) -> bool:
    """Whether the IP address is one of the open internet.

    Not so are loopback, private, link-local (with it the metadata service of clouds), shared, multicast and reserved
    addresses. An IPv6 address that carries an IPv4 address (mapped, 6to4, Teredo, NAT64) is what it carries.
    """
    address = ip_address(text.partition("%")[0])
    return all(each.is_global and not each.is_multicast for each in _carried(address))


def _carried(address: IPv4Address | IPv6Address) -> list[IPv4Address | IPv6Address]:
    if isinstance(address, IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    found: list[IPv4Address | IPv6Address] = [address]
    if address.sixtofour is not None:
        found.append(address.sixtofour)
    if address.teredo is not None:
        found.extend(address.teredo)
    if address.packed.startswith(bytes.fromhex("0064ff9b")):  # 64:ff9b::/32, of NAT64
        found.append(IPv4Address(address.packed[-4:]))
    return found


class PublicBackend(httpcore2.SyncBackend):
    """Looks the name up, checks what it means, and connects to just that: a second look-up could answer otherwise."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from error
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        inside = next((each for each in addresses if not is_public(each)), None)
        if inside is not None:
            raise httpcore2.ConnectError(
                f"{host} leads to {inside}, an address inside a network, which PRIVATE_ADDRESSES would have to allow"
            )
        return super().connect_tcp(addresses[0], port, timeout, local_address, socket_options)


class PublicTransport(httpx2.HTTPTransport):
    """httpx's own, for a client that follows redirects: each connection is checked, also that of a redirect."""

    def __init__(self) -> None:
        super().__init__()
        self._pool._network_backend = PublicBackend()
