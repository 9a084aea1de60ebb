"""What the settings say of single sign-on, or why they cannot mean that."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from curation.people.sign_on.groups import GroupRule, rules_from

LOOPBACK = {"127.0.0.1", "::1", "localhost"}


def issuer_check(address: str) -> None:
    """Raise ImproperlyConfigured where this is not an address of a provider, or one without encryption."""
    parts = urlsplit(address)
    encrypted = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    if not parts.hostname or not encrypted or parts.query or parts.fragment:
        raise ImproperlyConfigured(
            f"OIDC_ISSUER is {address}; give the address that the provider calls itself, with https, such as "
            f"https://login.example.org/realms/lab."
        )


def rules_of_groups(texts: Sequence[str]) -> list[GroupRule]:
    try:
        return rules_from(texts)
    except ValueError as error:
        raise ImproperlyConfigured(f"OIDC_ROLES: {error}") from error
