"""Which addresses are of the open internet: what a hub leads to must not be a machine inside the worker's network."""

import re
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

# Of the open internet by `is_global`, and yet answered inside a network: protocol assignments, relays of 6to4, Teredo.
_INSIDE_4 = [ip_network(each) for each in ("192.0.0.0/24", "192.88.99.0/24")]
_INSIDE_6 = [ip_network(each) for each in ("2001::/23", "2001:db8::/32", "3fff::/20")]
_GLOBAL_UNICAST = ip_network(
    "2000::/3"
)  # all that was ever given out (RFC 4291); others are reserved or local
_NAT64 = ip_network("64:ff9b::/96")
_ISATAP = (bytes.fromhex("00005efe"), bytes.fromhex("02005efe"))


def is_public(text: str) -> bool:
    """Whether the IP address is one of the open internet.

    Not so are loopback, private, link-local (with it the metadata service of clouds), site-local, shared, multicast and
    reserved addresses. An IPv6 address that carries an IPv4 address (mapped, 6to4, NAT64, ISATAP) must also lead to a
    public one; other ways to carry one (compatible, translated, Teredo, NAT64 of one's own) are never public.
    """
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv4Address):
        return _is_public_4(address)
    if address.ipv4_mapped is not None:
        return _is_public_4(address.ipv4_mapped)
    if address in _NAT64:
        return _is_public_4(_last_four(address))
    if address not in _GLOBAL_UNICAST or any(address in each for each in _INSIDE_6):
        return False
    carried = [address.sixtofour] if address.sixtofour else []
    if address.packed[8:12] in _ISATAP:
        carried.append(_last_four(address))
    return address.is_global and all(map(_is_public_4, carried))


def is_inside(host: str) -> bool:
    """Whether the host of an address is, without a look-up, known to be inside: a literal address, or localhost."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return not is_public(name)
    except ValueError:
        pass
    try:  # 127.1, 0x7f000001 and 2130706433 are addresses too
        return not is_public(socket.inet_ntoa(socket.inet_aton(name)))
    except (OSError, ValueError):
        return False


def site_of(url: str) -> str:
    """Scheme, host and port of an address. Path, query and password may be secrets, which no log must keep."""
    scheme, _colon, rest = url.partition("://")
    machine = re.split(r"[/?#\\]", rest)[0].rpartition("@")[2]
    return f"{scheme}://{machine}"


def _is_public_4(address: IPv4Address) -> bool:
    return address.is_global and not address.is_multicast and not any(address in each for each in _INSIDE_4)


def _last_four(address: IPv6Address) -> IPv4Address:
    return IPv4Address(address.packed[-4:])
