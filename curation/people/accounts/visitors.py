"""Where a request comes from, also behind proxies, and who can reach the site."""

from ipaddress import IPv4Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest

# One household or one machine has a whole network of IPv6 addresses, and may use another for every request.
IPV6_PREFIX = 64


def visitor_address(request: HttpRequest | None) -> str:
    """The address to count by, "" where none is known. Settings say how many proxies write X-Forwarded-For."""
    if request is None:
        return ""
    peer = request.META.get("REMOTE_ADDR") or ""
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR") or ""
    return address_counted(peer, forwarded, proxies=settings.TRUSTED_PROXIES)


def address_counted(peer: str, forwarded: str, *, proxies: int) -> str:
    """The visitor's address, of IPv6 its /64 network.

    Every proxy adds at the right end the address that called it, so that of `proxies` trusted ones the first wrote the
    entry that many places from the right. Entries further to the left come from the visitor, who may write anything.
    Where that entry is missing or no address, the peer's address counts.
    """
    entries = forwarded.split(",")
    told = _network(entries[-proxies]) if 0 < proxies <= len(entries) else ""
    return told or _network(peer)


def is_of_this_machine(host: str) -> bool:
    """Whether a site is called by a name that only its own machine knows: localhost or a loopback address.

    host: as browsers name it, with or without a port.
    """
    name = urlsplit(f"//{host}").hostname or ""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _network(text: str) -> str:
    try:
        address = ip_address(text.strip())
    except ValueError:
        return ""
    # A socket for both versions shows IPv4 callers as ::ffff:a.b.c.d: one /64 for the whole of IPv4.
    as_ipv4 = address if isinstance(address, IPv4Address) else address.ipv4_mapped
    return str(as_ipv4 or IPv6Network((int(address), IPV6_PREFIX), strict=False))
