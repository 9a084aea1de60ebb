"""The mail server that the settings name."""

from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

# By scheme, the port that such servers have.
PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


class MailServer(NamedTuple):
    """starts_tls: whether the connection is encrypted once it is there (STARTTLS); tls: from its beginning."""

    host: str
    port: int
    user: str
    password: str
    starts_tls: bool
    tls: bool


def mail_server_of(address: str) -> MailServer:
    """The server of EMAIL_URL. Raises ImproperlyConfigured, without the password, where that is not such an address."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme not in PORTS or not host:
        raise ImproperlyConfigured(
            "EMAIL_URL is not an address of a mail server; give one such as smtp+tls://USER:PASSWORD@mail.example.org:587"
            " (STARTTLS), smtps://… (TLS) or smtp://… (neither). Write special characters of the password as %40."
        )
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    starts_tls, tls = parts.scheme == "smtp+tls", parts.scheme == "smtps"
    return MailServer(host, port or PORTS[parts.scheme], user, password, starts_tls, tls)
