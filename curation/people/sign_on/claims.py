"""What a provider says of a person: its signed token, checked, and the person that it describes."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Of keys in two parts alone: what only the provider could sign. None of them is chosen by the token.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
LEEWAY_SECONDS = 60  # that the clocks of the provider and of this machine may differ
REQUIRED = ["iss", "sub", "aud", "exp", "iat"]
SUBJECT_MAX_CHARACTERS = 191


class SignOnError(ValueError):
    """The provider's answer is not one to believe. The text is for the log: people see one sentence for all."""


@dataclass(frozen=True)
class Identity:
    """A person as the provider describes them. email is empty unless the provider says that it was verified."""

    issuer: str
    subject: str
    username: str
    first_name: str
    last_name: str
    email: str
    groups: frozenset[str]


def claims_of(token: str, *, keys: Mapping[str, Any], issuer: str, client: str, nonce: str) -> dict[str, Any]:
    """The claims of an ID token (OpenID Connect Core 1.0, 3.1.3.7).

    keys: the provider's JSON Web Key Set. Raises SignOnError for a signature of no key of the provider's, another
    issuer or client, a token that is too old, and one that was made for another login.
    """
    import jwt  # noqa: PLC0415 - with its cryptography it takes long to load

    try:
        header = jwt.get_unverified_header(token)
        algorithm = header.get("alg")
        if algorithm not in ALGORITHMS:
            raise SignOnError(f"the ID token is signed by {algorithm}")
        # The key that the token names, or the only one there is.
        kid = header.get("kid")
        found = [key for key in keys.get("keys", []) if key.get("use", "sig") == "sig"]
        named = [key for key in found if kid is None or key.get("kid") == kid]
        if len(named) != 1:
            raise SignOnError(f"the provider has no key {kid}")
        claims: dict[str, Any] = jwt.decode(
            token,
            jwt.PyJWK(dict(named[0]), algorithm=algorithm),
            algorithms=[algorithm],
            audience=client,
            issuer=issuer,
            leeway=LEEWAY_SECONDS,
            options={"require": REQUIRED},
        )
    except (jwt.PyJWTError, TypeError, AttributeError) as error:
        raise SignOnError(f"the ID token is not valid: {error}") from error
    if isinstance(claims["aud"], list) and len(claims["aud"]) > 1 and claims.get("azp") != client:
        raise SignOnError("the ID token was made for another client")
    if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise SignOnError("the ID token was made for another login")
    return claims


def identity_of(
    claims: Mapping[str, Any], userinfo: Mapping[str, Any], *, issuer: str, groups_claim: str
) -> Identity:
    """The person of a token's claims, and of what the userinfo adds. Raises SignOnError where they differ."""
    if userinfo and userinfo.get("sub") != claims["sub"]:
        raise SignOnError("the userinfo is of another person")
    subject = claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= SUBJECT_MAX_CHARACTERS:
        raise SignOnError("the person's id (sub) is missing or too long")
    said = {**userinfo, **claims}
    of_email = (
        claims if "email" in claims else userinfo
    )  # an address and whether it was verified: of one source
    # A list, or one group; some providers begin each with a slash, as folders.
    groups = said.get(groups_claim)
    listed = groups if isinstance(groups, list) else [groups]
    verified = of_email.get("email_verified") in (True, "true")
    return Identity(
        issuer=issuer,
        subject=subject,
        username=_text(said.get("preferred_username")),
        first_name=_text(said.get("given_name")),
        last_name=_text(said.get("family_name")),
        email=_text(of_email.get("email")) if verified else "",
        groups=frozenset(each.removeprefix("/") for each in listed if isinstance(each, str)),
    )


def _text(value: object) -> str:
    return value.strip().replace("\0", "") if isinstance(value, str) else ""
